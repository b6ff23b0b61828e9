import assert from "node:assert/strict";
import { mkdtemp, readFile, rm } from "node:fs/promises";
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
import {
  createRepository,
  requireProgram,
  runProgram,
  startGitHttpServer,
} from "@flotilla/shared/source/git/testing";
import { type TestContext, test } from "vitest";
import type { SourceArtifact } from "../fluxsource/source-status.ts";
import { namespace, reading, startTestSources } from "../fluxsource/testing/index.ts";
import { pinOfArtifact } from "../helmchart/artifact.ts";
import { createHelmChartController } from "../helmchart/controller.ts";
import { provenanceOfArtifact } from "../helmchart/provenance.ts";
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
    sources: {
      GitRepository: chartsOfGitRepositories({ store, git, signer, mint, ...reading(t) }),
    },
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

test("a GitRepository with verify has SourceVerified True for signed commits and tags, and False for others", async (t) => {
  const { root, server, rest, events, change, condition, get, putSecret, until } = await setUp(t);
  const app = await createRepository(root, "app.git");
  const key = join(root, ".signer");
  const otherKey = join(root, ".other");
  const keygen = requireProgram("ssh-keygen", "openssh-client");
  for (const file of [key, otherKey])
    await runProgram(keygen, ["-q", "-t", "ed25519", "-N", "", "-f", file]);
  await app.git("config", "gpg.format", "ssh");
  const signed = await app.commit({ a: "1" }, { args: [`--gpg-sign=${key}`] });
  await app.git("tag", "-a", "-m", "v1", "-u", key, "v1");
  await app.git("tag", "-a", "-m", "v2", "v2");
  await app.git("push", "-q", "origin", "--tags");
  await app.commit({ a: "2" }, { branch: "plain" });
  putSecret("keys", { "team.sshpub": await readFile(`${key}.pub`, "utf8") });
  const secretRef = { name: "keys" };
  rest.put(
    gitRepositories,
    repository(server.url("app.git"), { verify: { mode: "HEAD", secretRef } }),
  );
  const verified = (generation: number) =>
    until(() => {
      const found = condition(gitRepositories, "app", "SourceVerified");
      const { polling } = get(gitRepositories, "app")?.status ?? {};
      return polling?.observedGeneration === generation ? found : undefined;
    });

  const head = await verified(1);
  assert.deepEqual([head.status, head.reason], ["True", "Succeeded"]);
  assert.equal(head.message, `verified signature of commit ${signed}`);
  assert.equal(get(gitRepositories, "app")?.status?.sourceVerificationMode, "HEAD");
  const before = get(gitRepositories, "app")?.status?.artifact;

  change(gitRepositories, "app", { spec: { ref: { branch: "plain" } } });
  const plain = await verified(2);
  assert.deepEqual([plain.status, plain.reason], ["False", "InvalidCommitSignature"]);
  assert.match(plain.message ?? "", /has no signature.*; retrying at /);
  assert.equal(condition(gitRepositories, "app", "Ready")?.status, "False");
  assert.deepEqual(get(gitRepositories, "app")?.status?.artifact, before);
  assert.ok(events.includes("Warning InvalidCommitSignature"), events.join());

  change(gitRepositories, "app", {
    spec: { ref: { tag: "v1" }, verify: { mode: "TagAndHEAD", secretRef } },
  });
  const both = await verified(3);
  assert.equal(both.status, "True");
  assert.match(both.message ?? "", /tag "v1" and commit/);

  putSecret("keys", { "team.sshpub": await readFile(`${otherKey}.pub`, "utf8") });
  const rotated = await until(() => {
    const found = condition(gitRepositories, "app", "SourceVerified");
    return found?.status === "False" ? found : undefined;
  });
  assert.match(rotated.reason ?? "", /^Invalid.*Signature$/, "its keys were replaced");

  change(gitRepositories, "app", {
    spec: { ref: { tag: "v2" }, verify: { mode: "Tag", secretRef } },
  });
  const tag = await verified(4);
  assert.deepEqual([tag.status, tag.reason], ["False", "InvalidTagSignature"]);

  change(gitRepositories, "app", { spec: { verify: { mode: "Tag", secretRef: { name: "x" } } } });
  const none = await verified(5);
  assert.deepEqual([none.status, none.reason], ["False", "VerificationError"]);
  assert.match(none.message ?? "", /there is no Secret x/);
});

test("a GitRepository with include waits for the other one, and follows its changes and its deletion", async (t) => {
  const { root, server, rest, condition, get, request, until } = await setUp(t);
  const app = await createRepository(root, "app.git");
  const base = await createRepository(root, "base.git");
  await app.commit({ a: "1" });
  const first = await base.commit({ b: "1" });
  const include = [{ repository: { name: "base" }, fromPath: "b", toPath: "c" }];
  rest.put(gitRepositories, repository(server.url("app.git"), { include }));
  const statusOf = () => get(gitRepositories, "app")?.status;
  const missing = await until(() => condition(gitRepositories, "app", "IncludeUnavailable"));
  assert.equal(missing.reason, "NotFound");
  assert.match(missing.message ?? "", /there is no GitRepository base of this namespace/);
  assert.equal(statusOf()?.artifact, undefined);

  const other = repository(server.url("base.git"), { ref: { branch: "gone" } });
  rest.put(gitRepositories, { ...other, metadata: { ...other.metadata, name: "base", uid: "b" } });
  await until(() => condition(gitRepositories, "base", "FetchFailed"));
  request(gitRepositories, "app", "one");
  await until(() =>
    condition(gitRepositories, "app", "IncludeUnavailable")?.reason === "NoArtifact"
      ? true
      : undefined,
  );

  await base.git("push", "-q", "origin", "HEAD:refs/heads/gone");
  request(gitRepositories, "base", "now");
  const included = () => statusOf()?.includedArtifacts?.[0]?.revision;
  await until(() => (included() === `gone@sha1:${first}` ? true : undefined));
  const before = statusOf()?.artifact;
  assert.deepEqual(statusOf()?.observedInclude, include);
  assert.equal(condition(gitRepositories, "app", "Ready")?.status, "True");

  const second = await base.commit({ b: "2" }, { branch: "gone" });
  request(gitRepositories, "base", "again");
  await until(() => (included() === `gone@sha1:${second}` ? true : undefined));
  assert.equal(statusOf()?.artifact?.revision, before?.revision);
  assert.notEqual(statusOf()?.artifact?.digest, before?.digest);

  const known = statusOf()?.artifact;
  await rest.delete(gitRepositories, { namespace, name: "base" });
  await until(() =>
    condition(gitRepositories, "app", "IncludeUnavailable")?.reason === "NotFound"
      ? true
      : undefined,
  );
  assert.deepEqual(statusOf()?.artifact, known);
});

test("a GitRepository with suspend is not read, and one whose branch is gone keeps its artifact", async (t) => {
  const { root, server, rest, change, condition, get, request, until } = await setUp(t);
  const app = await createRepository(root, "app.git");
  await app.commit({ a: "1" });
  rest.put(gitRepositories, repository(server.url("app.git")));
  const statusOf = () => get(gitRepositories, "app")?.status;
  const before = await until(() => statusOf()?.artifact);
  const seen = server.seen.length;

  change(gitRepositories, "app", { spec: { suspend: true } });
  request(gitRepositories, "app", "now");
  await until(() => (statusOf()?.lastHandledReconcileAt === "now" ? true : undefined));
  assert.equal(server.seen.length, seen);

  await app.commit({ a: "2" }, { branch: "other" });
  await app.git("--git-dir", app.bareDir, "update-ref", "-d", "refs/heads/main");
  change(gitRepositories, "app", { spec: { suspend: false } });
  const failed = await until(() => condition(gitRepositories, "app", "FetchFailed"));
  assert.match(failed.message ?? "", /has no branch "main"; retrying at /);
  assert.deepEqual(statusOf()?.artifact, before);
});

/** As an earlier version has written it. */
function withoutProvenance<T extends Pick<SourceArtifact, "metadata">>(artifact: T): T {
  const kept = Object.entries(artifact.metadata ?? {}).filter(
    ([key]) => !key.includes("provenance"),
  );
  return { ...artifact, metadata: Object.fromEntries(kept) };
}

test("a chart has the reference of its own commit, also after the source has another one, and gets that of an earlier version again", async (t) => {
  const { root, server, rest, signer, change, until } = await setUp(t);
  const app = await createRepository(root, "app.git");
  const first = await app.commit({ "charts/app/Chart.yaml": "name: app\nversion: 1.0.0\n" });
  rest.put(helmCharts, chart);
  rest.put(gitRepositories, repository(server.url("app.git")));
  const stored = () => rest.peek(helmCharts, { namespace, name: "app" });
  const source = () => rest.peek(gitRepositories, { namespace, name: "app" });
  const provenance = () => {
    const { metadata, status } = stored() ?? chart;
    return provenanceOfArtifact("HelmChart", metadata, status?.artifact, signer);
  };
  const foundBy = (ref: string) => [{ ref, chart: "./charts/app" }];
  const resolvedOf = (revision: string) =>
    until(() => (stored()?.status?.observedSourceArtifactRevision === revision ? true : undefined));
  await resolvedOf(`main@sha1:${first}`);
  assert.deepEqual(provenance(), foundBy("refs/heads/main"));

  const fork = await app.commit({ "charts/app/values.yaml": "a: 1\n" }, { branch: "fork" });
  change(gitRepositories, "app", { spec: { ref: { branch: "fork" } } });
  await resolvedOf(`fork@sha1:${fork}`);
  assert.deepEqual(provenance(), foundBy("refs/heads/main"), "its version keeps the commit");

  change(gitRepositories, "app", { spec: { ref: { commit: first } } });
  await resolvedOf(`sha1:${first}`);
  assert.deepEqual(provenance(), foundBy(first), "the same files, by another reference");

  const { status: ofSource } = source() ?? {};
  const { status: ofChart } = stored() ?? {};
  assert.ok(ofSource?.artifact && ofChart?.artifact);
  change(gitRepositories, "app", {
    status: { ...ofSource, artifact: withoutProvenance(ofSource.artifact) },
  });
  change(helmCharts, "app", {
    status: { ...ofChart, artifact: withoutProvenance(ofChart.artifact) },
  });
  await until(() => (provenance()?.[0]?.ref === first ? true : undefined));
  assert.ok(source()?.status?.artifact?.metadata?.["flotilla.dev/provenance"]);
});
