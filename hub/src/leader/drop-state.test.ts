/**
 * In-memory state may be dropped at any time without changing a decision: random histories of a fleet are run twice,
 * once with leaders that lose everything but their informers between any two steps, and both runs must decide the same.
 */
import assert from "node:assert/strict";
import {
  type BundleDeploymentStatus,
  bundleDeployments,
  bundles,
  clusterGroups,
  clusters,
  type HelmOp,
  helmOps,
  policies,
} from "@flotilla/shared/api";
import {
  clusterNamespaceName,
  pollRequestAnnotation,
  reconcileRequestAnnotation,
} from "@flotilla/shared/api/names";
import { AppError } from "@flotilla/shared/errors";
import { type KubeObject, keyOf, type Resource } from "@flotilla/shared/kube/objects";
import { chartErrors } from "@flotilla/shared/source";
import type { Resolver } from "@flotilla/shared/source/client";
import fc from "fast-check";
import { test } from "vitest";
import { chartNotFetched } from "../summary/index.ts";
import {
  aBundle,
  aCluster,
  aHelmOp,
  aPolicy,
  createTestLeader,
  httpPin,
  type TestLeader,
  workspace,
} from "../testing/index.ts";

const names = ["web", "db"] as const;
const clusterNames = ["paris", "rome"] as const;
const repo = "https://charts.example.com";

type Step =
  | { readonly kind: "helmOp"; readonly name: string; readonly spec: HelmOp["spec"] }
  | { readonly kind: "bundle"; readonly version: string }
  | { readonly kind: "deleteHelmOp" | "deleteBundle" | "tamper"; readonly name: string }
  | {
      readonly kind: "request";
      readonly name: string;
      readonly value: string;
      readonly isPush: boolean;
    }
  | { readonly kind: "publish"; readonly version: string }
  | { readonly kind: "repository"; readonly isUp: boolean }
  | { readonly kind: "secret"; readonly password: string | undefined }
  | { readonly kind: "policy"; readonly allows: boolean | undefined }
  | {
      readonly kind: "cluster";
      readonly name: string;
      readonly presence: "join" | "offline" | "leave";
    }
  | { readonly kind: "group"; readonly exists: boolean }
  | { readonly kind: "agents"; readonly report: "ready" | "failed" | "notFetched" | "uninstalled" }
  | { readonly kind: "wait"; readonly ms: number };

const name = fc.constantFrom(...names);
const version = fc.constantFrom("~1.2", "~1.3", "1.2.3");

const spec: fc.Arbitrary<HelmOp["spec"]> = fc.record(
  {
    helm: fc.record({ repo: fc.constant(repo), chart: fc.constant("web"), version }),
    pollingInterval: fc.constantFrom("0s", "15s", "1m"),
    suspend: fc.boolean(),
    helmSecretName: fc.constantFrom("", "login"),
    targets: fc.constantFrom(
      [{ clusterSelector: {} }],
      [{ clusterName: "paris" }],
      [{ clusterGroup: "all" }],
      [{ clusterSelector: {}, helm: { chart: "other" } }],
    ),
  },
  { requiredKeys: ["helm", "targets"] },
);

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("helmOp" as const), name, spec }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("bundle" as const), version }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constantFrom("deleteHelmOp" as const, "deleteBundle" as const, "tamper" as const),
      name,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("request" as const),
      name,
      value: fc.constantFrom("one", "two"),
      isPush: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("publish" as const),
      version: fc.constantFrom("1.2.3", "1.2.4", "1.3.0"),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant("repository" as const), isUp: fc.boolean() }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("secret" as const),
      password: fc.constantFrom("a", "b", undefined),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("policy" as const),
      allows: fc.constantFrom(true, false, undefined),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("cluster" as const),
      name: fc.constantFrom(...clusterNames),
      presence: fc.constantFrom("join" as const, "offline" as const, "leave" as const),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant("group" as const), exists: fc.boolean() }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("agents" as const),
      report: fc.constantFrom(
        "ready" as const,
        "failed" as const,
        "notFetched" as const,
        "uninstalled" as const,
      ),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("wait" as const),
      ms: fc.constantFrom(1_000, 10_000, 61_000),
    }),
  },
);

/** Longer than the delay of a status write. */
const quietMs = 1_119;

/**
 * A step takes a multiple of this time, so that both histories are at the same time whatever a rate limiter delays. No
 * step ends at a whole second after another: retries do, and one may be some milliseconds late after a conflict.
 */
const stepMs = 5_037;

/** Steps after which a fleet has settled in any history. */
const mostSteps = 40;

interface Repository {
  version: string;
  isUp: boolean;
  requests: number;
}

function resolverOf(repository: Repository): Resolver {
  return {
    resolve(_source, constraint) {
      repository.requests += 1;
      if (!repository.isUp)
        return Promise.reject(
          new AppError(chartErrors.INDEX_FETCH, "GET index.yaml: connection refused"),
        );
      if (constraint === "~1.3" && !repository.version.startsWith("1.3"))
        return Promise.reject(
          new AppError(chartErrors.CHART_VERSION_NOT_FOUND, "no version matches"),
        );
      return Promise.resolve({ pin: httpPin(repository.version), problems: [] });
    },
  };
}

/** Runs a history; returns what was decided after each step. */
async function runHistory(
  steps: readonly Step[],
  drops: readonly boolean[],
): Promise<readonly unknown[]> {
  const repository: Repository = { version: "1.2.3", isUp: true, requests: 0 };
  const leader = createTestLeader(resolverOf(repository));
  const decisions: unknown[] = [];
  try {
    for (const [index, each] of steps.entries()) {
      if (drops[index] === true) await leader.drop();
      apply(leader, repository, each);
      if (each.kind === "wait") await leader.pass(each.ms);
      await untilSettled(leader, repository);
      decisions.push({ step: each, requests: repository.requests, objects: snapshot(leader) });
    }
  } finally {
    await leader.stop();
  }
  return decisions;
}

/** Advances the clock until a step makes no request and no write, so that each status is written. */
async function untilSettled(leader: TestLeader, repository: Repository): Promise<void> {
  for (let steps = 0; steps < mostSteps; steps += 1) {
    await leader.pass(stepMs - quietMs);
    const before = [leader.rest.writes.length, repository.requests];
    await leader.pass(quietMs);
    const after = [leader.rest.writes.length, repository.requests];
    if (after.every((count, index) => count === before[index])) return;
  }
  assert.fail(`it never settles: ${leader.rest.writes.slice(-10).join(", ")}`);
}

function apply(leader: TestLeader, repository: Repository, each: Step): void {
  const { rest } = leader;
  switch (each.kind) {
    case "helmOp": {
      const before = rest.peek(helmOps, { namespace: workspace, name: each.name });
      if (before?.metadata.deletionTimestamp !== undefined) return;
      const fresh = aHelmOp({}, { name: each.name, uid: `uid-${each.name}` });
      rest.put(helmOps, { ...(before ?? fresh), spec: each.spec });
      return;
    }
    case "bundle": {
      const ref = { namespace: workspace, name: "applied" };
      const before = rest.peek(bundles, ref);
      if (before?.metadata.deletionTimestamp !== undefined) return;
      const helm = { repo, chart: "web", version: each.version };
      const fresh = aBundle({}, { ...ref, uid: "uid-applied", labels: {} });
      const targets = [{ clusterSelector: {} }];
      rest.put(bundles, { ...(before ?? fresh), spec: { helm, targets } });
      return;
    }
    case "deleteHelmOp":
      void rest.delete(helmOps, { namespace: workspace, name: each.name });
      return;
    case "deleteBundle":
      void rest.delete(bundles, { namespace: workspace, name: each.name });
      return;
    case "tamper": {
      const bundle = rest.peek(bundles, { namespace: workspace, name: each.name });
      if (bundle === undefined || bundle.metadata.deletionTimestamp !== undefined) return;
      const forged = (bundle.spec.helmOpOptions?.pins ?? []).map((pin) => ({
        ...pin,
        pin: httpPin("6.6.6"),
      }));
      const helmOpOptions = { ...bundle.spec.helmOpOptions, pins: forged };
      rest.put(bundles, { ...bundle, spec: { ...bundle.spec, helmOpOptions } });
      return;
    }
    case "request": {
      const helmOp = rest.peek(helmOps, { namespace: workspace, name: each.name });
      if (helmOp === undefined) return;
      const annotation = each.isPush ? pollRequestAnnotation : reconcileRequestAnnotation;
      const annotations = { ...helmOp.metadata.annotations, [annotation]: each.value };
      rest.put(helmOps, { ...helmOp, metadata: { ...helmOp.metadata, annotations } });
      return;
    }
    case "publish":
      repository.version = each.version;
      return;
    case "repository":
      repository.isUp = each.isUp;
      return;
    case "secret": {
      const { password } = each;
      const data = password === undefined ? undefined : { username: "me", password };
      leader.putSecret(workspace, "login", data);
      return;
    }
    case "policy": {
      const policy = aPolicy("guard", {
        helmOp: { allowedHelmRepoPatterns: [each.allows === true ? "https://.*" : "none"] },
      });
      if (each.allows === undefined) void rest.delete(policies, policy.metadata);
      else rest.put(policies, policy);
      return;
    }
    case "cluster":
      setCluster(leader, each.name, each.presence);
      return;
    case "group": {
      const metadata = { namespace: workspace, name: "all", uid: "uid-all" };
      if (each.exists) rest.put(clusterGroups, { metadata, spec: { selector: {} } });
      else void rest.delete(clusterGroups, metadata);
      return;
    }
    case "agents":
      report(leader, each.report);
      return;
    case "wait":
      return;
  }
}

function setCluster(
  { rest }: TestLeader,
  clusterName: string,
  presence: "join" | "offline" | "leave",
): void {
  const fresh = aCluster(clusterName, { metadata: { uid: `uid-${clusterName}` }, status: {} });
  if (presence === "leave") {
    void rest.delete(clusters, fresh.metadata);
    return;
  }
  const before = rest.peek(clusters, fresh.metadata) ?? fresh;
  const connected = presence === "join";
  const agent = { connected, epoch: 1, lastSeen: "2025-12-24T18:00:00Z" };
  rest.put(clusters, { ...before, status: { ...before.status, agent } });
}

function report(
  { rest }: TestLeader,
  what: "ready" | "failed" | "notFetched" | "uninstalled",
): void {
  for (const deployment of rest.all(bundleDeployments)) {
    const { metadata, spec: desired } = deployment;
    if (metadata.deletionTimestamp !== undefined) {
      if (what === "uninstalled")
        rest.put(bundleDeployments, { ...deployment, metadata: { ...metadata, finalizers: [] } });
      continue;
    }
    const observedGeneration = metadata.generation ?? 0;
    const failed = {
      type: "Deployed",
      status: "False",
      reason: what === "notFetched" ? chartNotFetched : "Error",
      message: what,
      observedGeneration,
    } as const;
    const status: BundleDeploymentStatus =
      what === "ready"
        ? { appliedDeploymentID: desired.deploymentID, ready: true, version: "1.2.3" }
        : { conditions: [failed] };
    rest.put(bundleDeployments, { ...deployment, status });
  }
}

/** Without contents: how long an unreferenced one stays is counted in memory, and a new leader starts again. */
const kinds: readonly Resource<KubeObject>[] = [
  helmOps,
  bundles,
  bundleDeployments,
  clusters,
  clusterGroups,
];

/** Fields with a timestamp, or that depend on the number of writes. */
const volatileFields: ReadonlySet<string> = new Set([
  "uid",
  "resourceVersion",
  "lastTransitionTime",
  "lastUpdateTime",
  "lastPollingTriggered",
  "nextAttemptTime",
  "time",
]);

function snapshot({ rest }: TestLeader): readonly unknown[] {
  return kinds.flatMap((kind) =>
    rest
      .all(kind)
      .toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
      .map((object) => stable(object)),
  );
}

function stable(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(stable);
  if (typeof value === "string") return value.replace(/retrying at \S+Z/, "retrying");
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([field]) => !volatileFields.has(field))
      .map(([field, inner]) => [field, stable(inner)] as const)
      .toSorted(([a], [b]) => (a < b ? -1 : 1)),
  );
}

test("leaders that lose their memory between any two steps decide what one leader does", async () => {
  const histories = fc.array(fc.tuple(step, fc.boolean()), { minLength: 6, maxLength: 24 });
  await fc.assert(
    fc.asyncProperty(histories, async (history) => {
      const creations: readonly Step[] = clusterNames.map((each) => ({
        kind: "cluster",
        name: each,
        presence: "join",
      }));
      const steps = [...creations, ...history.map(([each]) => each)];
      const drops = [...creations.map(() => true), ...history.map(([, drop]) => drop)];

      const one = await runHistory(steps, []);
      const many = await runHistory(steps, drops);

      assert.deepEqual(many, one);
    }),
    { numRuns: 15, endOnFailure: false },
  );
});

test("the histories have effects: charts are resolved, deployed and ready", async () => {
  const decisions = await runHistory(
    [
      { kind: "cluster", name: "paris", presence: "join" },
      {
        kind: "helmOp",
        name: "web",
        spec: { helm: { repo, chart: "web", version: "~1.2" }, targets: [{ clusterSelector: {} }] },
      },
      { kind: "agents", report: "ready" },
    ],
    [],
  );

  const last = JSON.stringify(decisions.at(-1));
  assert.match(last, /"readyClusters":1/);
  assert.ok(last.includes(clusterNamespaceName(workspace, "paris")));
});
