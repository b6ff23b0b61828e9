/** Charts of registries to Helm: from OCIRepositories and from HelmRepositories of type oci. All tests share a fleet and a registry. */
import assert from "node:assert/strict";
import { startTestRegistry } from "@flotilla/local/testing";
import {
  type HelmReleaseSpec,
  helmRepositories,
  type OCIRepositorySpec,
  ociRepositories,
} from "@flotilla/shared/flux";
import { afterAll, test } from "vitest";
import { configChart } from "../harness/chart-archive.ts";
import {
  type ArtifactTarget,
  chartLayerType,
  pushChartAs,
  pushLayers,
} from "../harness/push-artifact.ts";
import { pushChart } from "../harness/push-chart.ts";
import { installedConfig, releaseRecords } from "../harness/releases.ts";
import { startReleaseFleet } from "./release-fleet.ts";
import { artifactVersion, createSourceObjects, waitForRejection } from "./source-objects.ts";

const releases = await startReleaseFleet();
const { fleet, hub, local } = releases;
const scope = { onTestFinished: afterAll };
const login = { username: "puller", password: "correct horse" };
const [registry, guarded, encrypted] = await Promise.all([
  startTestRegistry(scope),
  startTestRegistry(scope, { users: [login] }),
  startTestRegistry(scope, { tls: true, users: [login] }),
]);
const namespace = "apps";
await releases.createNamespace(namespace);
const sources = createSourceObjects(hub);

const refOf = (name: string) => ({ namespace, name });
const targetOf = (name: string): ArtifactTarget => ({
  registry: registry.url,
  repository: `charts/${name}`,
});

const chartRefTo = (name: string): HelmReleaseSpec["chartRef"] => ({
  kind: "OCIRepository",
  name,
});

/** An OCIRepository, and a HelmRelease of its name that refers to it. */
async function createBoth(name: string, spec: Partial<OCIRepositorySpec>): Promise<void> {
  const url = `${registry.oci}/charts/${name}`;
  await sources.createOci(refOf(name), { url, insecure: true, ...spec });
  await releases.create(refOf(name), { chartRef: chartRefTo(name) });
}

/** The version in Chart.yaml, as a template of the release has it. */
async function installedVersion(name: string): Promise<string | undefined> {
  return (await installedConfig(local.client, name, namespace))?.data?.["version"];
}

/** As `flux reconcile source oci`. */
async function readAgain(name: string): Promise<void> {
  await sources.readAgain(ociRepositories, refOf(name));
}

test("OCIRepository ref.tag: the chart of a tag is installed with the digest in its version", async () => {
  const digest = await pushChartAs(targetOf("tag"), "1.0.0", await configChart("tag", "1.0.0"));
  await createBoth("tag", { ref: { tag: "1.0.0" } });

  const { status } = await releases.ready(refOf("tag"), artifactVersion("1.0.0", digest));

  assert.equal(await installedVersion("tag"), artifactVersion("1.0.0", digest));
  assert.equal(status?.helmChart, undefined);
  const { chartName, chartVersion } = status?.history?.[0] ?? {};
  assert.deepEqual([chartName, chartVersion], ["tag", artifactVersion("1.0.0", digest)]);
  const source = await hub.reader.get(ociRepositories, refOf("tag"));
  assert.equal(source?.status?.artifact?.revision, `1.0.0@${digest}`);
});

test("OCIRepository without ref: the tag latest, and pushing the mutable tag again upgrades although the version is equal", async () => {
  const target = targetOf("latest");
  const first = await pushChartAs(target, "latest", await configChart("latest", "1.0.0"));
  await createBoth("latest", {});
  await releases.ready(refOf("latest"), artifactVersion("1.0.0", first));

  const changed = { ...(await configChart("latest", "1.0.0")), version: "1.0.0" };
  const second = await pushLayers(target, "latest", changed, [
    { mediaType: chartLayerType, bytes: changed.bytes, annotations: { pushed: "again" } },
  ]);
  await readAgain("latest");

  await releases.ready(refOf("latest"), artifactVersion("1.0.0", second));
  assert.notEqual(first, second);
  assert.equal(await installedVersion("latest"), artifactVersion("1.0.0", second));
  assert.equal((await releaseRecords(local.client, namespace, "latest")).length, 2);
});

test("OCIRepository ref.semver: the highest tag of the constraint is installed, and a higher one upgrades; semverFilter leaves tags out", async () => {
  const target = targetOf("semver");
  const push = async (version: string) =>
    artifactVersion(
      version,
      await pushChartAs(target, version, await configChart("semver", version)),
    );
  await push("1.0.0");
  const stable = await push("1.2.0");
  await push("2.0.0");
  const candidate = await push("1.3.0-rc.1");
  await push("1.3.0-dev.1");
  await createBoth("semver", { ref: { semver: "1.x", tag: "1.0.0" } });
  await releases.ready(refOf("semver"), stable);

  const higher = await push("1.2.5");
  await readAgain("semver");
  await releases.ready(refOf("semver"), higher);

  await sources.patch(ociRepositories, refOf("semver"), {
    ref: { semver: ">=1.0.0-0 <2.0.0-0", semverFilter: ".*-rc.*" },
  });
  await releases.ready(refOf("semver"), candidate);
  assert.equal(await installedVersion("semver"), candidate);
});

test("OCIRepository ref.digest: the chart stays at the digest while its tag moves on", async () => {
  const target = targetOf("digest");
  const first = await pushChartAs(target, "1.0.0", await configChart("digest", "1.0.0"));
  await createBoth("digest", { ref: { digest: first, semver: "*", tag: "1.0.0" } });
  await releases.ready(refOf("digest"), artifactVersion("1.0.0", first));

  const second = await pushChartAs(target, "2.0.0", await configChart("digest", "2.0.0"));
  await readAgain("digest");
  await sources.waitFor(ociRepositories, refOf("digest"), "Ready", "True", new RegExp(first));
  assert.equal(await installedVersion("digest"), artifactVersion("1.0.0", first));

  await sources.patch(ociRepositories, refOf("digest"), { ref: { digest: second } });
  await releases.ready(refOf("digest"), artifactVersion("2.0.0", second));
});

test("OCIRepository: `_` in a tag reads as `+`, as Helm pushes it, and a leading v is tolerated on either side", async () => {
  const built = await configChart("build", "1.0.0+build.5");
  await pushChart(fleet.helm, built, `${registry.oci}/charts`);
  const prefixed = await pushChartAs(targetOf("v"), "v1.0.0", await configChart("v", "1.0.0"));
  const inChart = await pushChartAs(targetOf("v"), "2.0.0", await configChart("v", "v2.0.0"));

  await createBoth("build", { ref: { tag: "1.0.0_build.5" } });
  await createBoth("v", { ref: { tag: "v1.0.0" } });

  const { status } = await releases.waitFor(
    refOf("build"),
    "ready",
    (release) => release.status?.history?.[0]?.status === "deployed",
  );
  assert.match(status?.history?.[0]?.chartVersion ?? "", /^1\.0\.0\+[0-9a-f]{12}$/);
  await releases.ready(refOf("v"), artifactVersion("1.0.0", prefixed));
  await sources.patch(ociRepositories, refOf("v"), { ref: { tag: "2.0.0" } });
  await releases.ready(refOf("v"), artifactVersion("2.0.0", inChart));
});

test("OCIRepository ref.semver with the layer of charts: a tag with `_` is a version with metadata", async () => {
  const target = targetOf("metadata");
  await pushChartAs(target, "1.0.0", await configChart("metadata", "1.0.0"));
  const digest = await pushChartAs(target, "1.1.0_a", await configChart("metadata", "1.1.0+a"));
  await createBoth("metadata", {
    ref: { semver: "1.x" },
    layerSelector: { mediaType: chartLayerType, operation: "copy" },
  });

  await releases.ready(refOf("metadata"), artifactVersion("1.1.0", digest));
});

test("OCIRepository layerSelector: the layer of the media type is installed, and without it the first", async () => {
  const chart = await configChart("layers", "1.0.0");
  const digest = await pushLayers(targetOf("layers"), "1.0.0", chart, [
    {
      mediaType: "application/vnd.cncf.helm.chart.provenance.v1.prov",
      bytes: Buffer.from("the signature of the chart"),
    },
    { mediaType: chartLayerType, bytes: chart.bytes },
  ]);
  const ref = { tag: "1.0.0" };
  await createBoth("layers", { ref, layerSelector: { mediaType: "text/none" } });
  await sources.waitFor(
    ociRepositories,
    refOf("layers"),
    "FetchFailed",
    "True",
    /no layer with media type 'text\/none' in the artifact; retrying at/,
  );

  await sources.patch(ociRepositories, refOf("layers"), { layerSelector: null });
  await waitForRejection(
    releases,
    refOf("layers"),
    /GET http.*: the response is not a packaged chart \(\.tgz\), 26 bytes; retrying at /,
  );
  assert.equal(await installedVersion("layers"), undefined);

  await sources.patch(ociRepositories, refOf("layers"), {
    layerSelector: { mediaType: chartLayerType, operation: "copy" },
  });
  await releases.ready(refOf("layers"), artifactVersion("1.0.0", digest));
});

test("OCIRepository secretRef: a registry with a password is read on the hub and by the agent, and a new password is noticed", async () => {
  const target = { registry: guarded.url, repository: "charts/secret", login };
  const digest = await pushChartAs(target, "1.0.0", await configChart("secret", "1.0.0"));
  await sources.createRegistrySecret(refOf("login"), guarded.host, {
    ...login,
    password: "a wrong one",
  });
  await createBoth("secret", {
    ...{ url: `${guarded.oci}/charts/secret`, ref: { tag: "1.0.0" } },
    secretRef: { name: "login" },
  });
  await sources.waitFor(ociRepositories, refOf("secret"), "Ready", "False", /unauthorized/i);

  await sources.patchSecret(refOf("login"), {
    ".dockerconfigjson": JSON.stringify({ auths: { [guarded.host]: login } }),
  });
  await releases.ready(refOf("secret"), artifactVersion("1.0.0", digest));
});

test("OCIRepository insecure and certSecretRef: a certificate of an unknown authority needs one of them", async () => {
  await pushChart(fleet.helm, await configChart("tls", "1.0.0"), `${encrypted.oci}/charts`, {
    caFile: encrypted.ca?.file ?? "",
    credentials: { host: encrypted.host, ...login },
  });
  await sources.createRegistrySecret(refOf("tls-login"), encrypted.host, login);
  const tls = {
    ...{ url: `${encrypted.oci}/charts/tls`, ref: { tag: "1.0.0" }, insecure: false },
    secretRef: { name: "tls-login" },
  };
  await createBoth("tls", tls);
  await sources.waitFor(ociRepositories, refOf("tls"), "Ready", "False", /certificate/);
  await sources.patch(ociRepositories, refOf("tls"), { insecure: true });
  const deployed = (name: string) =>
    releases.waitFor(
      refOf(name),
      "deployed",
      (release) => release.status?.history?.[0]?.status === "deployed",
    );
  await deployed("tls");

  await sources.createSecret(refOf("authority"), { "ca.crt": encrypted.ca?.pem ?? "" });
  await sources.createOci(refOf("authority"), { ...tls, certSecretRef: { name: "authority" } });
  await releases.create(refOf("authority"), { chartRef: chartRefTo("authority") });
  await deployed("authority");
});

test("HelmRepository type oci: its charts are installed by constraint, with a password, and it has no status", async () => {
  const target = { registry: guarded.url, repository: "shop/web", login };
  await pushChartAs(target, "1.0.0", await configChart("web", "1.0.0"));
  await pushChartAs(target, "2.0.0", await configChart("web", "2.0.0"));
  await sources.createSecret(refOf("basic"), { ...login });
  await releases.createRepository(refOf("shop"), {
    ...{ type: "oci", url: `${guarded.oci}/shop`, insecure: true },
    secretRef: { name: "basic" },
  });
  const spec = { chart: "web", version: "1.x", reconcileStrategy: "ChartVersion" } as const;
  const chart = (interval: string) => ({
    spec: { ...spec, interval, sourceRef: { kind: "HelmRepository", name: "shop" } as const },
  });
  await releases.create(refOf("shop"), { chart: chart("1s") });

  await releases.ready(refOf("shop"), "1.0.0");
  assert.equal(await installedVersion("shop"), "1.0.0");
  const source = await hub.reader.get(helmRepositories, refOf("shop"));
  assert.deepEqual(source?.status?.conditions ?? [], []);

  await pushChartAs(target, "1.1.0", await configChart("web", "1.1.0"));
  await releases.ready(refOf("shop"), "1.1.0");
});
