/** What enqueues which releases, and whether they wait for the backoff of an earlier failure: a table of events. */
import assert from "node:assert/strict";
import type { DeploymentContent } from "@flotilla/shared/content";
import { AppError } from "@flotilla/shared/errors";
import { packClusterInfo } from "@flotilla/shared/referenced";
import { describe, type TestContext, test } from "vitest";
import { agentErrors } from "../../base/errors/agent-errors.ts";
import type { FailedAttempts } from "../../state/inventory/inventory-secret.ts";
import { testAssignment } from "../../testing/index.ts";
import { type PassResult, startTestEngine, type TestEngine } from "./testing/index.ts";

const failed = (code: keyof typeof agentErrors) => new AppError(agentErrors[code], "it failed");

interface Row {
  readonly name: string;
  /** By deployment: what the first pass over its release came to. */
  readonly given: Readonly<Record<string, PassResult>>;
  /** What the content of the deployment `web` has. */
  readonly content?: Partial<DeploymentContent>;
  /** The inventory knows that the last attempt failed because objects were not ready in time. */
  readonly wasNotReady?: Partial<FailedAttempts>;
  /** A deployment whose release waits for its objects. */
  readonly awaited?: string;
  readonly event: (engine: TestEngine) => unknown;
  /** Those that follow: see `takePasses`. */
  readonly passes: readonly string[];
}

const secret = { kind: "Secret", name: "password" } as const;
const lateAttempt: FailedAttempts = {
  ...{ deploymentId: "sha256:a", digest: "d", count: 1 },
  ...{ action: "upgrade", reason: "UpgradeFailed", message: "late", code: "RELEASE_NOT_READY" },
};

async function assign(
  { assignments }: TestEngine,
  name: string,
  ...more: [content?: Partial<DeploymentContent>, fields?: { readonly paused: boolean }]
): Promise<void> {
  const { owner: deployment, ...assigned } = await testAssignment(name, ...more);
  await assignments.assign({ deployment, ...assigned });
}

const rows: readonly Row[] = [
  {
    name: "another content enqueues its release, which does not wait for the failure of the one before",
    given: { web: failed("HELM_FAILED"), api: "deployed" },
    event: (engine) => assign(engine, "web", { namespace: "market" }),
    passes: ["web"],
  },
  {
    name: "a pause deploys nothing",
    given: { web: failed("HELM_FAILED") },
    event: (engine) => assign(engine, "web", {}, { paused: true }),
    passes: [],
  },
  {
    name: "an end of a pause starts the release over",
    given: { web: failed("HELM_FAILED") },
    async event(engine) {
      await assign(engine, "web", {}, { paused: true });
      await assign(engine, "web");
    },
    passes: ["web", "web starts over"],
  },
  {
    name: "a withdrawal withdraws the release",
    given: { web: failed("HELM_FAILED"), api: "deployed" },
    event: ({ assignments }) => assignments.withdraw({ name: "web", uid: "uid-web" }),
    passes: ["web withdrawn"],
  },
  {
    name: "a change of a release's records enqueues it, in its backoff",
    given: { web: failed("HELM_FAILED"), api: "deployed" },
    event: ({ recordsChanged }) => recordsChanged("web"),
    passes: ["web in its backoff"],
  },
  {
    name: "records that can be read again enqueue their releases without backoff",
    given: { web: failed("RELEASE_UNREADABLE"), api: failed("RELEASE_UNREADABLE") },
    event: ({ recordsReadable }) => recordsReadable(new Set(["web"])),
    passes: ["web"],
  },
  {
    name: "a release that is removed enqueues without backoff those that had a conflict, and no others",
    given: { web: failed("RELEASE_CONFLICT"), api: failed("HELM_FAILED"), db: "deployed" },
    event: ({ releaseRemoved }) => releaseRemoved(),
    passes: ["web"],
  },
  {
    name: "a service account that changes enqueues all, and only those that failed because of one without backoff",
    given: {
      ...{ web: failed("SERVICE_ACCOUNT_MISSING"), api: failed("TEMPLATES_DENIED") },
      ...{ db: failed("HELM_FAILED"), cache: "deployed" as const },
    },
    event: ({ accountsChanged }) => accountsChanged(),
    passes: ["api", "cache", "db in its backoff", "web"],
  },
  {
    name: "a source of values that changes enqueues its releases without backoff",
    given: { web: failed("HELM_FAILED"), api: failed("HELM_FAILED") },
    event: ({ valuesChanged }) => valuesChanged(new Set(["web"])),
    passes: ["web"],
  },
  {
    name: "a source of values that changes starts a release over that has no retries left",
    given: { web: failed("RETRIES_EXCEEDED"), api: failed("ROLLBACK_TARGET_MISSING") },
    event: ({ valuesChanged }) => valuesChanged(new Set(["web", "api"])),
    passes: ["api", "api starts over", "web", "web starts over"],
  },
  {
    name: "a downstream resource that changes enqueues its releases without backoff",
    given: { web: failed("HELM_FAILED"), api: failed("HELM_FAILED") },
    event: ({ downstreamChanged }) => downstreamChanged(new Set(["web"])),
    passes: ["web"],
  },
  {
    name: "a referenced object that changes enqueues without backoff those that refer to it",
    given: { web: failed("REFERENCED_OBJECT_PENDING"), api: failed("HELM_FAILED") },
    content: { copies: [secret] },
    event: ({ referenced }) => referenced.set(secret),
    passes: ["web"],
  },
  {
    name: "cluster info that changes enqueues without backoff those whose values have templates",
    given: { web: failed("HELM_FAILED"), api: failed("HELM_FAILED") },
    content: { templateValues: { region: "${ .ClusterLabels.region }" } },
    async event({ clusterInfo }) {
      const maps = { labels: {}, annotations: {}, templateValues: {} };
      await clusterInfo.set(await packClusterInfo({ namespace: "fleet", name: "paris", ...maps }));
    },
    passes: ["web"],
  },
  {
    name: "a change of readiness enqueues a release that is waited for",
    given: { web: "progressing", api: "deployed" },
    awaited: "web",
    event: ({ readinessChanged }) => readinessChanged("web"),
    passes: ["web"],
  },
  {
    name: "a change of readiness enqueues a release that is waited for after a failure, in its backoff",
    given: { web: failed("HELM_FAILED") },
    awaited: "web",
    event: ({ readinessChanged }) => readinessChanged("web"),
    passes: ["web in its backoff"],
  },
  {
    name: "a change of readiness enqueues nothing that is not waited for",
    given: { web: "deployed" },
    event: ({ readinessChanged }) => readinessChanged("web"),
    passes: [],
  },
  {
    name: "a change of readiness of an unknown release enqueues nothing",
    given: { web: "deployed" },
    awaited: "api",
    event: ({ readinessChanged }) => readinessChanged("api"),
    passes: [],
  },
  {
    name: "a release that becomes ready too late is enqueued without backoff",
    given: { web: failed("RELEASE_NOT_READY") },
    wasNotReady: {},
    event: ({ readinessChanged }) => readinessChanged("web"),
    passes: ["web"],
  },
  {
    name: "a release that becomes ready when no retries are left starts over",
    given: { web: failed("RETRIES_EXCEEDED") },
    wasNotReady: {},
    event: ({ readinessChanged }) => readinessChanged("web"),
    passes: ["web", "web starts over"],
  },
  {
    name: "a release that was not ready in time and still is not is not enqueued",
    given: { web: failed("RELEASE_NOT_READY") },
    wasNotReady: {},
    event({ readinessChanged, unready }) {
      unready.add("web");
      readinessChanged("web");
    },
    passes: [],
  },
  {
    name: "a release that becomes ready because it was rolled back is not enqueued",
    given: { web: failed("RELEASE_NOT_READY") },
    wasNotReady: { remediation: { by: "rollback" } },
    event: ({ readinessChanged }) => readinessChanged("web"),
    passes: [],
  },
  {
    name: "a release that becomes ready after another failure is not enqueued",
    given: { web: failed("HELM_FAILED") },
    event: ({ readinessChanged }) => readinessChanged("web"),
    passes: [],
  },
  {
    name: "drift that is corrected enqueues its release",
    given: { web: "deployed", api: "deployed" },
    event({ driftChanged, drifted }) {
      drifted.add("web");
      driftChanged("web");
    },
    passes: ["web"],
  },
  {
    name: "drift that is not corrected is only reported",
    given: { web: "deployed" },
    event: ({ driftChanged }) => driftChanged("web"),
    passes: [],
  },
  {
    name: "a comparison that a user has requested enqueues its release when it is done",
    given: { web: "deployed", api: "deployed" },
    event: ({ compared }) => compared("web"),
    passes: ["web"],
  },
  {
    name: "a deployment that becomes ready enqueues those that wait for it",
    given: { db: failed("HELM_FAILED"), api: "deployed", web: "blocked" },
    event: ({ recordsChanged }) => recordsChanged("db"),
    passes: ["db in its backoff", "web"],
  },
];

/** After the first pass over each release, whose report may enqueue another one. */
async function start(t: TestContext, row: Omit<Row, "name" | "event" | "passes">) {
  const { given, content, wasNotReady, awaited } = row;
  const left = new Map(Object.entries(given));
  const engine = startTestEngine({
    deploy(name) {
      const result = left.get(name) ?? "deployed";
      left.delete(name);
      return result;
    },
    failedAttempts: wasNotReady && { ...lateAttempt, ...wasNotReady },
    awaited,
  });
  t.onTestFinished(() => engine.stop());
  for (const name of Object.keys(given)) {
    await assign(engine, name, name === "web" ? content : {});
    await engine.reported(name);
    await engine.takePasses(1);
  }
  return engine;
}

describe("the engine", () => {
  for (const { name, event, passes, ...row } of rows)
    test(name, async (t) => {
      const engine = await start(t, row);

      await event(engine);

      assert.deepEqual(await engine.takePasses(passes.length), passes);
    });
});

describe("a pass in progress", () => {
  /** The first one lasts until it is ended. */
  async function begin(t: TestContext) {
    const first = Promise.withResolvers<PassResult>();
    let isSuperseded = false;
    const results: Promise<PassResult>[] = [first.promise];
    const engine = startTestEngine({
      async deploy(_, { superseded }) {
        superseded.addEventListener("abort", () => {
          isSuperseded = true;
          first.resolve(failed("HELM_FAILED"));
        });
        return (await results.shift()) ?? "deployed";
      },
    });
    t.onTestFinished(async () => {
      first.resolve("deployed");
      await engine.stop();
    });
    await assign(engine, "web");
    await engine.takePasses(1);
    return { engine, end: first.resolve, isSuperseded: () => isSuperseded };
  }

  test("is superseded by another content, which does not wait for its failure", async (t) => {
    const { engine, isSuperseded } = await begin(t);

    await assign(engine, "web", { namespace: "market" });

    assert.deepEqual([await engine.takePasses(1), isSuperseded()], [["web"], true]);
  });

  test("goes on if the same content is assigned again", async (t) => {
    const { engine, isSuperseded } = await begin(t);

    await assign(engine, "web");

    assert.deepEqual([await engine.takePasses(0), isSuperseded()], [[], false]);
  });

  test("that fails is repeated at once if its inputs have changed since it began", async (t) => {
    const { engine, end } = await begin(t);
    engine.valuesChanged(new Set(["web"]));

    end(failed("HELM_FAILED"));

    assert.deepEqual(await engine.takePasses(1), ["web"]);
  });

  test("that fails is repeated after its backoff if nothing has changed", async (t) => {
    const { engine, end } = await begin(t);

    end(failed("HELM_FAILED"));

    assert.deepEqual(await engine.takePasses(0), []);
    await engine.clock.advance(5_000);
    assert.deepEqual(await engine.takePasses(1), ["web"]);
  });
});
