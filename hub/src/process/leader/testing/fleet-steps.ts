/** Random changes of a fleet: what users, a repository and agents do between two reconciles. */
import {
  apiVersion,
  type BundleDeploymentStatus,
  bundleDeployments,
  bundles,
  clusterGroups,
  clusters,
  type HelmOp,
  helmOps,
  policies,
} from "@flotilla/shared/api";
import { pollRequestAnnotation, reconcileRequestAnnotation } from "@flotilla/shared/api/names";
import { AppError } from "@flotilla/shared/errors";
import { chartErrors } from "@flotilla/shared/source";
import type { Resolver } from "@flotilla/shared/source/client";
import fc from "fast-check";
import { chartNotFetched } from "../../../rules/summary/deployment-state.ts";
import {
  aBundle,
  aCluster,
  aHelmOp,
  aPolicy,
  httpPin,
  type TestLeader,
  workspace,
} from "../../../testing/index.ts";

const names = ["web", "db"] as const;
export const clusterNames = ["paris", "rome"] as const;
export const repo = "https://charts.example.com";

/** A change of one thing, or time that passes. */
export type FleetStep =
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

export const fleetStep: fc.Arbitrary<FleetStep> = fc.oneof(
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

/** The repository of all charts. */
export interface RepositoryState {
  version: string;
  isUp: boolean;
  requests: number;
  /** The version of the chart in the bucket, which is always up; absent: the bucket is empty. */
  inBucket?: string;
  /** The same for the branch of the Git repository, and for the tag of the registry. */
  inGit?: string;
  inRegistry?: string;
}

export function indexUnreachable(): AppError {
  return new AppError(chartErrors.INDEX_FETCH, "GET index.yaml: connection refused");
}

export function resolverOf(repository: RepositoryState): Resolver {
  return {
    resolve(_source, constraint) {
      repository.requests += 1;
      if (!repository.isUp) return Promise.reject(indexUnreachable());
      if (constraint === "~1.3" && !repository.version.startsWith("1.3"))
        return Promise.reject(
          new AppError(chartErrors.CHART_VERSION_NOT_FOUND, "no version matches"),
        );
      return Promise.resolve({ pin: httpPin(repository.version), problems: [] });
    },
  };
}

/** Makes a change; `wait` is for the caller. */
export function applyStep(leader: TestLeader, repository: RepositoryState, each: FleetStep): void {
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
      if (each.allows === undefined) {
        void rest.delete(policies, policy.metadata);
        return;
      }
      // An API server counts changes of an object without a spec, too.
      const before = rest.peek(policies, policy.metadata)?.metadata.generation ?? 0;
      rest.put(policies, { ...policy, metadata: { ...policy.metadata, generation: before + 1 } });
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
  const fresh = {
    ...aCluster(clusterName, { metadata: { uid: `uid-${clusterName}` }, status: {} }),
    apiVersion,
    kind: "Cluster",
  };
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
    const released = {
      type: "Released",
      status: "True",
      reason: "InstallSucceeded",
      message: `Helm install succeeded with ${desired.deploymentID}`,
      observedGeneration,
    } as const;
    const status: BundleDeploymentStatus =
      what === "ready"
        ? {
            appliedDeploymentID: desired.deploymentID,
            ready: true,
            version: "1.2.3",
            conditions: [released],
          }
        : { conditions: [failed] };
    rest.put(bundleDeployments, { ...deployment, status });
  }
}
