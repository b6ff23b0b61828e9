/** Which files of a GitRepository a chart is made of: its reference, submodules, includes, what is left out, dependencies. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import type { GitRepositorySpec } from "@flotilla/shared/flux";
import { configMaps, type ObjectRef } from "@flotilla/shared/kube/objects";
import { test } from "vitest";
import { chartArchive } from "../harness/chart-archive.ts";
import { installedConfig } from "../harness/releases.ts";
import { currentCondition, messageOf } from "../harness/wait.ts";
import { chartFiles, gitChart, startGitFleet } from "./git-fleet.ts";
import { createSigningKey } from "./signing-key.ts";

const run = promisify(execFile);
const releases = await startGitFleet();
const { charts, fleet, https, local } = releases;
await releases.createGitNamespace("apps");
const namespace = "apps";
const refOf = (name: string): ObjectRef & { readonly namespace: string } => ({ namespace, name });
const dataOf = async (name: string) =>
  (await installedConfig(local.client, name, namespace))?.data ?? {};

/** A commit with a submodule at `path`, as `git submodule add` makes it. */
async function addSubmodule(
  repository: Awaited<ReturnType<typeof releases.repository>>,
  { name, commit, path }: { readonly name: string; readonly commit: string; readonly path: string },
): Promise<string> {
  const modules = `[submodule "${name}"]\n\tpath = ${path}\n\turl = ../${name}.git\n`;
  await repository.commit({ ".gitmodules": modules });
  await repository.git("update-index", "--add", "--cacheinfo", `160000,${commit},${path}`);
  await repository.git("commit", "-q", "-m", "submodule");
  await repository.git("push", "-q", "origin", "HEAD:refs/heads/main");
  return await repository.git("rev-parse", "HEAD");
}

test("the commit is that of spec.ref with Flux's precedence: commit, name, semver, tag, branch, and master without any", async () => {
  const repository = await releases.repository("references");
  const tag = async (name: string) => {
    await repository.git("tag", "-a", "-m", name, name);
    await repository.git("push", "-q", "origin", name);
  };
  const first = await repository.commit(chartFiles("app", "1.0.0"));
  await tag("v1.0.0");
  const second = await repository.commit(chartFiles("app", "1.1.0"));
  await tag("v1.1.0");
  const dev = await repository.commit(chartFiles("app", "2.0.0"), { branch: "dev" });
  const pull = await repository.commit(chartFiles("app", "3.0.0"), { branch: "pull" });
  await repository.git("push", "-q", "origin", "HEAD:refs/pull/1/head");
  const master = await repository.commit(chartFiles("app", "4.0.0"), { branch: "master" });
  const cases: readonly (readonly [
    name: string,
    ref: GitRepositorySpec["ref"],
    revision: string,
    version: string,
  ])[] = [
    ["branch", { branch: "dev" }, `dev@sha1:${dev}`, "2.0.0"],
    ["tag", { tag: "v1.0.0", branch: "dev" }, `v1.0.0@sha1:${first}`, "1.0.0"],
    ["semver", { semver: "1.x", tag: "v1.0.0" }, `v1.1.0@sha1:${second}`, "1.1.0"],
    ["name", { name: "refs/pull/1/head", semver: "1.x" }, `refs/pull/1/head@sha1:${pull}`, "3.0.0"],
    ["commit", { commit: first, name: "refs/pull/1/head" }, `sha1:${first}`, "1.0.0"],
    ["commit-of-branch", { commit: first, branch: "main" }, `main@sha1:${first}`, "1.0.0"],
    ["none", {}, `master@sha1:${master}`, "4.0.0"],
  ];

  await Promise.all(
    cases.map(async ([name, ref, revision, version]) => {
      await releases.createGit(refOf(name), { url: https.url("references.git"), ref });
      await releases.create(refOf(name), gitChart(name, "app"));
      await releases.gitReady(refOf(name), revision);
      await releases.ready(refOf(name), version);
    }),
  );
});

test("recurseSubmodules brings the files of submodules, and a chart may be in one", async () => {
  const notes = await releases.repository("notes");
  const notesCommit = await notes.commit({ "note.txt": "of the submodule" });
  const library = await releases.repository("library");
  const libraryCommit = await library.commit(chartFiles("charts/app", "1.0.0"));
  const parent = await releases.repository("parent");
  await parent.commit(chartFiles("app", "2.0.0"));
  await addSubmodule(parent, { name: "notes", commit: notesCommit, path: "app/files" });
  const outer = await releases.repository("outer");
  await addSubmodule(outer, { name: "library", commit: libraryCommit, path: "vendor/library" });
  for (const name of ["parent", "outer"])
    await releases.createGit(refOf(name), { recurseSubmodules: true });
  await releases.createGit(refOf("flat"), { url: https.url("parent.git") });

  await releases.create(refOf("parent"), gitChart("parent", "app"));
  await releases.create(refOf("outer"), gitChart("outer", "vendor/library/charts/app"));
  await releases.create(refOf("flat"), gitChart("flat", "app"));

  await releases.ready(refOf("parent"), "2.0.0");
  await releases.ready(refOf("outer"), "1.0.0");
  await releases.ready(refOf("flat"), "2.0.0");
  assert.equal((await dataOf("parent"))["note"], "of the submodule");
  assert.equal((await dataOf("flat"))["note"], "");
  const { status } = await releases.waitForGit(refOf("parent"), "there", () => true);
  assert.equal(status?.observedRecurseSubmodules, true);
});

test("include adds the files of another GitRepository, and its commits are new revisions, too", async () => {
  const base = await releases.repository("base");
  await base.commit({ "README.md": "the charts are elsewhere" });
  const shared = await releases.repository("shared-charts");
  const commit = await shared.commit(chartFiles("charts/app", "1.0.0"));
  const include = [{ repository: { name: "shared-charts" }, fromPath: "charts", toPath: "vendor" }];
  await releases.createGit(refOf("base"), { include });
  await releases.create(refOf("included"), gitChart("base", "vendor/app"));
  const missing = await releases.gitFailed(
    refOf("base"),
    "IncludeUnavailable",
    "NotFound",
    /no GitRepository shared-charts of this namespace; continuing as soon as there is one/,
  );
  assert.equal(missing.status?.artifact, undefined);

  await releases.createGit(refOf("shared-charts"));

  await releases.ready(refOf("included"), "1.0.0");
  const { status } = await releases.waitForGit(
    refOf("base"),
    "ready",
    (each) => currentCondition(each, "Ready")?.status === "True",
  );
  assert.deepEqual(status?.observedInclude, include);
  assert.deepEqual(
    status.includedArtifacts?.map(({ revision }) => revision),
    [`main@sha1:${commit}`],
  );

  await shared.commit(chartFiles("charts/app", "1.1.0"));
  await releases.reconcileGit(refOf("shared-charts"));
  await releases.ready(refOf("included"), "1.1.0");
});

test("ignore and .sourceignore leave files out, and sparseCheckout all but its directories", async () => {
  const files = { "files/note.txt": "a note" };
  const repository = await releases.repository("filtered");
  await repository.commit({
    ...chartFiles("app", "1.0.0", files),
    ...chartFiles("other", "2.0.0", { ...files, ".sourceignore": "files/*.txt\n" }),
    "values/prod.yaml": "greeting: prod\n",
  });
  const url = https.url("filtered.git");
  await releases.createGit(refOf("all"), { url });
  await releases.createGit(refOf("ignore"), { url, ignore: "/app/files/\n" });
  await releases.createGit(refOf("sparse"), { url, sparseCheckout: ["./app"] });
  for (const name of ["all", "ignore", "sparse"])
    await releases.create(refOf(name), gitChart(name, "app"));
  await releases.create(refOf("sourceignore"), gitChart("all", "other"));
  await releases.create(refOf("outside"), gitChart("sparse", "other"));

  for (const [name, version, note] of [
    ["all", "1.0.0", "a note"],
    ["ignore", "1.0.0", ""],
    ["sparse", "1.0.0", "a note"],
    ["sourceignore", "2.0.0", ""],
  ] as const) {
    await releases.ready(refOf(name), version);
    assert.equal((await dataOf(name))["note"], note, name);
  }
  const observed = await releases.waitForGit(refOf("ignore"), "there", () => true);
  assert.equal(observed.status?.observedIgnore, "/app/files/\n");
  const sparse = await releases.waitForGit(refOf("sparse"), "there", () => true);
  assert.deepEqual(sparse.status?.observedSparseCheckout, ["./app"]);
  const outside = await releases.waitForChart(
    refOf("outside"),
    "stalled",
    (chart) => currentCondition(chart, "Stalled")?.reason === "InvalidChartReference",
  );
  assert.match(messageOf(outside, "Ready"), /other of commit .* neither a Chart\.yaml/);
});

test("dependencies are those of Chart.lock, although the repository has a newer one", async () => {
  const dependency = (version: string) =>
    chartArchive({
      name: "cache",
      version,
      templates: {
        "cache.yaml":
          "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: {{ .Release.Name }}-cache}\ndata: {version: {{ .Chart.Version | quote }}}\n",
      },
    });
  charts.publish(await dependency("7.1.0"));
  const repository = await releases.repository("locked");
  const chart = [
    "apiVersion: v2\nname: app\nversion: 1.0.0",
    "dependencies:",
    `- {name: cache, version: "7.x", repository: "${charts.url}"}`,
    "- {name: common, version: 1.x, repository: file://../common}\n",
  ].join("\n");
  await repository.commit({
    ...chartFiles("charts/app", "1.0.0", { "Chart.yaml": chart }),
    "charts/common/Chart.yaml": "apiVersion: v2\nname: common\nversion: 1.3.0\n",
    "charts/common/templates/common.yaml":
      "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: {{ .Release.Name }}-common}\n",
  });
  const work = await repository.git("rev-parse", "--show-toplevel");
  const home = join(fleet.dir, "lock-home");
  await mkdir(home);
  await run(fleet.helm, ["dependency", "update", join(work, "charts/app")], {
    env: { HOME: home },
  });
  await repository.commit({ "charts/app/charts": undefined });
  charts.publish(await dependency("7.2.0"));
  await releases.createGit(refOf("locked"));

  await releases.create(refOf("locked"), gitChart("locked", "charts/app"));

  await releases.ready(refOf("locked"), "1.0.0");
  const { data } = (await installedConfig(local.client, "locked", namespace)) ?? {};
  assert.equal(data?.["version"], "1.0.0");
  const cache = await local.client.reader.get(configMaps, { namespace, name: "locked-cache" });
  assert.deepEqual(cache?.data, { version: "7.1.0" });
});

test("a commit that is signed with a key of spec.verify is deployed, and one that is not is not", async () => {
  const { gpg, publicKey, signature } = await createSigningKey(join(fleet.dir, "gnupg"));
  await releases.createSecret(refOf("pgp-keys"), { "team.asc": publicKey });
  const repository = await releases.repository("signed");
  await repository.git("config", "gpg.program", gpg);
  const commit = await repository.commit(chartFiles("app", "1.0.0"), signature);
  await releases.createGit(refOf("signed"), {
    verify: { mode: "HEAD", secretRef: { name: "pgp-keys" } },
  });
  await releases.create(refOf("signed"), gitChart("signed", "app"));
  await releases.ready(refOf("signed"), "1.0.0");
  const verified = await releases.gitReady(refOf("signed"), `main@sha1:${commit}`);
  assert.equal(currentCondition(verified, "SourceVerified")?.status, "True");
  assert.match(messageOf(verified, "SourceVerified"), /^verified signature of /);
  assert.equal(verified.status?.sourceVerificationMode, "HEAD");

  const unsigned = await repository.commit(chartFiles("app", "1.1.0"));
  await releases.reconcileGit(refOf("signed"));

  const failed = await releases.gitFailed(
    refOf("signed"),
    "SourceVerified",
    "InvalidCommitSignature",
    new RegExp(`${unsigned}.*retrying at `),
  );
  assert.equal(currentCondition(failed, "SourceVerified")?.status, "False");
  assert.equal(failed.status?.artifact?.revision, `main@sha1:${commit}`);
  assert.equal((await dataOf("signed"))["version"], "1.0.0");

  await repository.commit(chartFiles("app", "1.2.0"), signature);
  await releases.reconcileGit(refOf("signed"));
  await releases.ready(refOf("signed"), "1.2.0");
});
