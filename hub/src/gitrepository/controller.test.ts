import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findCondition } from "@flotilla/shared/conditions";
import {
  type GitRepository,
  gitRepositories,
  type HelmChart,
  helmCharts,
} from "@flotilla/shared/flux";
import { createGitClient } from "@flotilla/shared/source/git";
import { createRepository, startGitHttpServer } from "@flotilla/shared/source/git/testing";
import { type TestContext, test } from "vitest";
import { namespace, startTestSources } from "../fluxsource/testing/index.ts";
import { createHelmChartController, pinOfArtifact } from "../helmchart/index.ts";
import { chartsOfGitRepositories } from "./charts.ts";
import { createGitRepositoryController } from "./controller.ts";

async function setUp(t: TestContext) {
  const root = await mkdtemp(join(tmpdir(), "git-controller-"));
  const server = await startGitHttpServer(root);
  t.onTestFinished(async () => {
    await server[Symbol.asyncDispose]();
    await rm(root, { recursive: true, force: true });
  });
  const test = await startTestSources(t);
  const { deps, flux, signer } = test;
  const git = createGitClient({
    ...{ dir: join(root, ".tmp"), userAgent: "test", egress: { allowLoopback: true } },
  });
  const mint = () => Promise.reject(new Error("no GitHub App is used here"));
  const store = flux.gitRepositories.store;
  const made = createHelmChartController({
    ...deps,
    sources: { GitRepository: chartsOfGitRepositories({ store, git, mint, signer }) },
  });
  test.run(createGitRepositoryController({ ...deps, git, mint }).controller, made.controller);
  return { ...test, root, server };
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
  const { root, server, rest, signer, request, events, until } = await setUp(t);
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
  request(gitRepositories, "app", "now");
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

test("the artifact of a HelmChart that somebody else has written is replaced at once", async (t) => {
  const { root, server, rest, signer, until } = await setUp(t);
  const app = await createRepository(root, "app.git");
  const commit = await app.commit({ "charts/app/Chart.yaml": "name: app\nversion: 1.0.0\n" });
  rest.put(helmCharts, chart);
  rest.put(gitRepositories, repository(server.url("app.git")));
  const ready = () => {
    const found = rest.peek(helmCharts, { namespace, name: "app" });
    const { artifact } = found?.status ?? {};
    const pin = pinOfArtifact("HelmChart", chart.metadata, artifact, signer);
    return found !== undefined && artifact !== undefined && pin !== undefined
      ? { found, artifact, pin }
      : undefined;
  };
  const { found, artifact } = await until(ready);

  const metadata = Object.fromEntries(
    Object.entries(artifact.metadata ?? {}).map(([name, value]) => [name, `${value} forged`]),
  );
  rest.put(helmCharts, {
    ...found,
    status: { ...found.status, artifact: { ...artifact, metadata } },
  });

  assert.equal(ready(), undefined);
  const { pin } = await until(ready);
  assert.equal(pin.kind === "git" && pin.commit, commit);
});
