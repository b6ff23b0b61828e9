import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { findCondition } from "@flotilla/shared/conditions";
import {
  type Bucket,
  type GitRepository,
  gitRepositories,
  type HelmChart,
  type HelmRepository,
  helmCharts,
} from "@flotilla/shared/flux";
import { createInformer } from "@flotilla/shared/kube/cache";
import { createMemoryApiServer } from "@flotilla/shared/kube/testing";
import { silentLog } from "@flotilla/shared/log";
import { createGitClient } from "@flotilla/shared/source/git";
import { createRepository, startGitHttpServer } from "@flotilla/shared/source/git/testing";
import { systemClock } from "@flotilla/shared/time";
import { Registry } from "prom-client";
import { type TestContext, test } from "vitest";
import { createHelmChartController, pinOfArtifact } from "../helmchart/index.ts";
import { createReconcileDurations } from "../metrics/index.ts";
import { createWorkspaceObjects } from "../referenced/index.ts";
import { createPinSigner } from "../resolve/index.ts";
import { createWatchedStore } from "../testing/index.ts";
import { chartsOfGitRepositories } from "./charts.ts";
import { createGitRepositoryController } from "./controller.ts";

const namespace = "apps";
const signer = createPinSigner(Buffer.from("a key"));

async function setUp(t: TestContext) {
  const root = await mkdtemp(join(tmpdir(), "git-controller-"));
  const server = await startGitHttpServer(root);
  const rest = createMemoryApiServer();
  const log = silentLog();
  const clock = systemClock;
  const repositories = createInformer<GitRepository>({ rest, resource: gitRepositories, log });
  const charts = createInformer<HelmChart>({ rest, resource: helmCharts, log });
  const objects = createWorkspaceObjects({ rest, clock, log });
  const events: string[] = [];
  const git = createGitClient({
    ...{ dir: join(root, ".tmp"), userAgent: "test", egress: { allowLoopback: true } },
  });
  const mint = () => Promise.reject(new Error("no GitHub App is used here"));
  const deps = {
    ...{
      rest,
      clock,
      log,
      objects,
      signer,
      hubId: "hub",
      metrics: new Registry(),
      durations: createReconcileDurations(clock),
    },
    events: {
      record: (_: unknown, { type, reason }: { readonly type: string; readonly reason: string }) =>
        void events.push(`${type} ${reason}`),
      flush: () => Promise.resolve(),
    },
    flux: {
      gitRepositories: repositories,
      helmCharts: charts,
      helmRepositories: createWatchedStore<HelmRepository>() as never,
      buckets: createWatchedStore<Bucket>() as never,
    },
  };
  const sources = createGitRepositoryController({ ...deps, git, mint });
  const store = repositories.store;
  const made = createHelmChartController({
    ...deps,
    sources: { GitRepository: chartsOfGitRepositories({ store, git, mint, signer }) },
  });
  const stop = new AbortController();
  const running = [repositories, charts, objects].map((each) => each.run(stop.signal));
  await Promise.all([repositories.synced, charts.synced]);
  running.push(sources.controller.run(stop.signal), made.controller.run(stop.signal));
  t.onTestFinished(async () => {
    stop.abort();
    await Promise.allSettled(running);
    await server[Symbol.asyncDispose]();
    await rm(root, { recursive: true, force: true });
  });

  async function until<T>(read: () => T | undefined): Promise<T> {
    for (let attempt = 0; attempt < 400; attempt++) {
      const found = read();
      if (found !== undefined) return found;
      await delay(25);
    }
    throw new Error(
      `not reached: ${JSON.stringify([...rest.all(gitRepositories), ...rest.all(helmCharts)])}`,
    );
  }

  return { root, server, rest, events, until };
}

function repository(
  url: string,
  spec: Partial<NonNullable<GitRepository["spec"]>> = {},
): GitRepository {
  return {
    metadata: { name: "app", namespace, uid: "u-1", generation: 1 },
    spec: { url, interval: "1h", timeout: "20s", ref: { branch: "main" }, ...spec },
  };
}

const chart: HelmChart = {
  metadata: { name: "app", namespace, uid: "u-2", generation: 1 },
  spec: {
    chart: "./charts/app",
    version: "*",
    sourceRef: { kind: "GitRepository", name: "app" },
    interval: "1h",
    reconcileStrategy: "ChartVersion",
  },
};

test("a GitRepository becomes Ready with its commit, and its chart keeps a version that was not raised", async (t) => {
  const { root, server, rest, events, until } = await setUp(t);
  const app = await createRepository(root, "app.git");
  const first = await app.commit({ "charts/app/Chart.yaml": "name: app\nversion: 1.0.0\n" });
  const url = server.url("app.git");
  const spec = { ...chart.spec, reconcileStrategy: "Revision" } as NonNullable<HelmChart["spec"]>;
  rest.put(helmCharts, chart);
  rest.put(helmCharts, { metadata: { ...chart.metadata, name: "each", uid: "u-3" }, spec });
  rest.put(gitRepositories, repository(url));
  const read = (name: string) => rest.peek(helmCharts, { namespace, name });
  const pinOf = (name: string) => {
    const { metadata, status } = read(name) ?? chart;
    const pin = pinOfArtifact("HelmChart", metadata, status?.artifact, signer);
    return pin?.kind === "git" ? pin : undefined;
  };

  const ready = await until(() => {
    const { status } = rest.peek(gitRepositories, { namespace, name: "app" }) ?? {};
    return findCondition(status?.conditions, "Ready")?.status === "True" ? status : undefined;
  });
  assert.equal(ready.artifact?.revision, `main@sha1:${first}`);
  assert.equal(ready.artifact.url, url);
  const pin = await until(() => pinOf("app"));
  assert.deepEqual([pin.version, pin.commit, pin.path], ["1.0.0", first, "charts/app"]);
  const each = await until(() => pinOf("each"));
  assert.equal(each.version, `1.0.0+${first.slice(0, 12)}`);

  const second = await app.commit({ "charts/app/values.yaml": "a: 1\n" });
  const known = rest.peek(gitRepositories, { namespace, name: "app" }) ?? repository(url);
  rest.put(gitRepositories, {
    ...known,
    metadata: { ...known.metadata, annotations: { "reconcile.fluxcd.io/requestedAt": "now" } },
  });
  await until(() => (pinOf("each")?.commit === second ? true : undefined));
  await until(() =>
    read("app")?.status?.observedSourceArtifactRevision === `main@sha1:${second}`
      ? true
      : undefined,
  );

  assert.equal(pinOf("app")?.commit, first);
  assert.ok(events.includes("Normal NewArtifact"), events.join());
});

test("a GitRepository without its branch is not Ready, says why and is retried", async (t) => {
  const { root, server, rest, events, until } = await setUp(t);
  await (await createRepository(root, "app.git")).commit({ a: "1" });
  const url = server.url("app.git");
  rest.put(gitRepositories, repository(url, { ref: { branch: "gone" } }));

  const status = await until(() => {
    const found = rest.peek(gitRepositories, { namespace, name: "app" })?.status;
    return findCondition(found?.conditions, "FetchFailed") === undefined ? undefined : found;
  });

  const ready = findCondition(status.conditions, "Ready");
  assert.equal(ready?.reason, "GitOperationFailed");
  assert.match(ready.message ?? "", /app.git has no branch "gone"; retrying at /);
  assert.ok(events.includes("Warning GitOperationFailed"));
});
