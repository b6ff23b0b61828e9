/** HelmReleases whose charts are directories of Git repositories, from the GitRepository to Helm. All tests share a fleet. */
import assert from "node:assert/strict";
import { namespaces } from "@flotilla/shared/kube/objects";
import { test } from "vitest";
import { installedConfig, releaseRecords } from "../harness/releases.ts";
import { currentCondition } from "../harness/wait.ts";
import { chartFiles, gitChart, startGitFleet } from "./git-fleet.ts";

const releases = await startGitFleet({ clusters: [{ env: "prod" }] });
const { fleet, local, ssh, calls } = releases;
const [prod] = fleet.clusters;
assert.ok(prod !== undefined);
await releases.createGitNamespace("apps");
for (const name of ["git", "ssh"])
  await releases.createSecret(
    { namespace: "fleet-default", name },
    name === "git" ? releases.credentials : releases.identity,
  );
await prod.client.create(namespaces, { metadata: { name: "fleet-default" } });

const namespace = "apps";
const revisionOf = (commit: string, shown = "main") => `${shown}@sha1:${commit}`;

test("a chart of a GitRepository over HTTPS is installed, and hub and agent both fetch with the credentials of its Secret", async () => {
  const ref = { namespace, name: "shop" };
  const repository = await releases.repository("shop");
  const commit = await repository.commit(chartFiles("charts/app", "1.0.0"));
  const { metadata } = await releases.createGit(ref);
  await releases.create(ref, { ...gitChart("shop", "charts/app"), values: { greeting: "hi" } });

  const { status } = await releases.ready(ref, "1.0.0");

  const config = await installedConfig(local.client, "shop", namespace);
  assert.deepEqual(config?.data, { version: "1.0.0", greeting: "hi", note: "" });
  assert.equal(status?.helmChart, "apps/apps-shop");
  assert.equal(status.history?.[0]?.chartName, "app");
  const found = await releases.gitReady(ref, revisionOf(commit));
  assert.equal(found.status?.observedGeneration, metadata.generation);
  const { artifact, conditions } = found.status ?? {};
  assert.match(artifact?.digest ?? "", /^sha256:[0-9a-f]{64}$/);
  assert.equal(artifact?.url, releases.https.url("shop.git"));
  assert.equal(artifact.path, `gitrepository/apps/shop/${commit}.tar.gz`);
  assert.deepEqual(
    conditions?.map(({ type, status: value, reason, message }) => [type, value, reason, message]),
    ["Ready", "ArtifactInStorage"].map((type) => [
      ...[type, "True", "Succeeded"],
      `stored artifact for revision '${revisionOf(commit)}'`,
    ]),
  );
  const chart = await releases.waitForChart(ref, "ready", (each) => each.status !== undefined);
  assert.equal(chart.status?.artifact?.revision, "1.0.0");
  assert.equal(chart.status.observedSourceArtifactRevision, revisionOf(commit));
  assert.equal(currentCondition(chart, "Ready")?.reason, "ChartPackageSucceeded");
  const authorized = calls.filter((call) => call.name === "shop" && call.isAuthorized);
  assert.deepEqual([...new Set(authorized.map(({ by }) => by))].toSorted(), ["agent", "hub"]);
  assert.deepEqual(
    calls.filter((call) => call.name === "shop" && !call.isAuthorized),
    [],
  );
});

test("a chart of a GitRepository over SSH is installed on the clusters of its targets, with the key that came over the stream", async () => {
  const ref = { namespace: "fleet-default", name: "over-ssh" };
  const repository = await releases.repository("over-ssh");
  const commit = await repository.commit(chartFiles("app", "2.0.0"));
  await releases.createGit(ref, { url: ssh.url("over-ssh.git"), secretRef: { name: "ssh" } });
  await releases.create(ref, {
    ...gitChart("over-ssh", "./app"),
    targets: [{ clusterSelector: { matchLabels: { env: "prod" } } }],
  });

  await releases.ready(ref, "2.0.0");

  await releases.gitReady(ref, revisionOf(commit));
  const config = await installedConfig(prod.client, "over-ssh", ref.namespace);
  assert.equal(config?.data?.["version"], "2.0.0");
  assert.deepEqual(await releaseRecords(local.client, ref.namespace), []);
});

test("with ChartVersion a commit installs nothing until it raises the version, and with Revision every commit upgrades", async () => {
  const byVersion = { namespace, name: "by-version" };
  const byRevision = { namespace, name: "by-revision" };
  const git = { namespace, name: "strategy" };
  const repository = await releases.repository("strategy");
  const first = await repository.commit(chartFiles("app", "1.0.0"));
  await releases.createGit(git);
  await releases.create(byVersion, gitChart("strategy", "app"));
  await releases.create(byRevision, gitChart("strategy", "app", { reconcileStrategy: "Revision" }));
  await releases.ready(byVersion, "1.0.0");
  await releases.ready(byRevision, `1.0.0+${first.slice(0, 12)}`);

  const second = await repository.commit({ "app/values.yaml": "greeting: second\n" });
  await releases.reconcileGit(git);

  await releases.ready(byRevision, `1.0.0+${second.slice(0, 12)}`);
  await releases.waitForChart(
    byVersion,
    "of the second commit",
    ({ status }) => status?.observedSourceArtifactRevision === revisionOf(second),
  );
  const greetings = async () => {
    const configs = [byVersion, byRevision].map(({ name }) =>
      installedConfig(local.client, name, namespace),
    );
    return (await Promise.all(configs)).map((config) => config?.data?.["greeting"]);
  };
  assert.deepEqual(await greetings(), ["hello", "second"]);

  await repository.commit(chartFiles("app", "1.1.0", { "values.yaml": "greeting: third\n" }));
  await releases.reconcileGit(git);

  await releases.ready(byVersion, "1.1.0");
  assert.deepEqual(
    (await releaseRecords(local.client, namespace, "by-version")).map(({ revision }) => revision),
    [1, 2],
    "the second commit ran nothing",
  );
  await releases.waitFor(
    byRevision,
    "upgraded with the third commit",
    ({ status }) => status?.lastAttemptedRevision?.startsWith("1.1.0+") === true,
  );
  assert.equal((await greetings())[0], "third");
});

test("valuesFiles are those of the commit, from the root of the repository, and a change of them upgrades", async () => {
  const ref = { namespace, name: "values-files" };
  const repository = await releases.repository("values-files");
  const commit = await repository.commit({
    ...chartFiles("charts/app", "1.0.0"),
    "environments/prod.yaml": "greeting: prod\n",
    "environments/dev.yaml": "greeting: dev\n",
  });
  await releases.createGit(ref);
  const files = (...valuesFiles: readonly string[]) =>
    gitChart("values-files", "charts/app", {
      valuesFiles: ["charts/app/values.yaml", ...valuesFiles],
      ignoreMissingValuesFiles: true,
    });
  await releases.create(ref, files("environments/prod.yaml", "environments/none.yaml"));
  await releases.ready(ref, "1.0.0+1");
  const greeting = async () =>
    (await installedConfig(local.client, "values-files", namespace))?.data?.["greeting"];
  assert.equal(await greeting(), "prod");
  const chart = await releases.waitForChart(ref, "ready", ({ status }) => status !== undefined);
  assert.deepEqual(chart.status?.observedValuesFiles, [
    "charts/app/values.yaml",
    "environments/prod.yaml",
  ]);

  await releases.patch(ref, files("environments/dev.yaml"));
  await releases.ready(ref, "1.0.0+2");
  assert.equal(await greeting(), "dev");

  await releases.patch(
    ref,
    gitChart("values-files", "charts/app", {
      valuesFiles: ["environments/none.yaml"],
      ignoreMissingValuesFiles: false,
    }),
  );
  const failed = await releases.waitForChart(
    ref,
    "stalled",
    (each) => currentCondition(each, "Stalled")?.reason === "ValuesFilesError",
  );
  assert.equal(
    currentCondition(failed, "BuildFailed")?.message,
    `commit ${commit} of ${releases.https.url("values-files.git")} has no values file environments/none.yaml: spec.valuesFiles has paths from the root of the source`,
  );
  await releases.waitForCondition(ref, "Ready", "False", "SourceNotReady", /environments\/none/);
  assert.equal(await greeting(), "dev", "the release is as it was");
});

test("a suspended GitRepository is not read, and its releases stay; resumed, it is read at once", async () => {
  const ref = { namespace, name: "suspended" };
  const repository = await releases.repository("suspended");
  const commit = await repository.commit(chartFiles("app", "1.0.0"));
  await releases.createGit(ref);
  await releases.create(ref, gitChart("suspended", "app"));
  await releases.ready(ref, "1.0.0");

  await releases.patchGit(ref, { suspend: true });
  await repository.commit(chartFiles("app", "1.1.0"));
  const before = calls.filter(({ name }) => name === "suspended").length;
  await releases.reconcileGit(ref);
  const later = { namespace, name: "of-suspended" };
  await releases.create(later, gitChart("suspended", "app"));

  await releases.ready(later, "1.0.0");
  await releases.ready(ref, "1.0.0");
  const { status } = await releases.waitForChart(ref, "there", () => true);
  assert.deepEqual(
    status?.conditions?.map(({ type, status: value }) => `${type}=${value}`),
    ["Ready=True", "ArtifactInStorage=True"],
  );
  assert.equal(status.observedSourceArtifactRevision, revisionOf(commit));
  const listed = calls
    .filter(({ name }) => name === "suspended")
    .slice(before)
    .filter(({ what }) => what === "ls-refs");
  assert.deepEqual(listed, []);

  await releases.patchGit(ref, { suspend: false });
  await releases.ready(ref, "1.1.0");
  await releases.ready(later, "1.1.0");
});

test("a new commit is deployed within the interval without a request", async () => {
  const ref = { namespace, name: "polled" };
  const repository = await releases.repository("polled");
  await repository.commit(chartFiles("app", "1.0.0"));
  await releases.createGit(ref, { interval: "1s" });
  await releases.create(ref, gitChart("polled", "app"));
  await releases.ready(ref, "1.0.0");

  await repository.commit(chartFiles("app", "1.1.0"));

  await releases.ready(ref, "1.1.0");
  await releases.patchGit(ref, { interval: "1h" });
});

test("many HelmReleases of one GitRepository need one listing of its references in an interval, and one read of Chart.yaml for a commit", async () => {
  const git = { namespace, name: "shared" };
  const repository = await releases.repository("shared");
  await repository.commit(chartFiles("app", "1.0.0"));
  await releases.createGit(git);
  const refs = Array.from({ length: 6 }, (_, at) => ({ namespace, name: `shared-${at}` }));
  await Promise.all(refs.map((ref) => releases.create(ref, gitChart("shared", "app"))));
  await Promise.all(refs.map((ref) => releases.ready(ref, "1.0.0")));
  const ofHub = (from = 0) =>
    calls
      .slice(from)
      .flatMap(({ by, name, what }) => (by === "hub" && name === "shared" ? [what] : []));
  assert.equal(ofHub().filter((what) => what === "ls-refs").length, 1);
  // To list, to fetch the commit, and to fetch its Chart.yaml.
  assert.equal(ofHub().filter((what) => what === "connect").length, 3);

  const before = calls.length;
  await releases.reconcileGit(git);
  assert.deepEqual(ofHub(before), ["connect", "ls-refs"]);
  const agents = calls.filter(
    ({ by, name, what }) => by === "agent" && name === "shared" && what === "connect",
  );
  assert.equal(agents.length, 1, "the agent fetches a chart once");
});
