/** Charts of a Bucket to Helm, on a real S3 server that needs a key. All tests share a fleet; each has a bucket of its own. */
import assert from "node:assert/strict";
import { startTestBucketServer } from "@flotilla/local/testing";
import { agentNamespace } from "@flotilla/shared/api/names";
import { type BucketSpec, buckets, type HelmChartSpec, helmCharts } from "@flotilla/shared/flux";
import { afterAll, test } from "vitest";
import { objectsContaining } from "../credentials/find-secrets.ts";
import { configChart } from "../harness/chart-archive.ts";
import { installedConfig, releaseRecords } from "../harness/releases.ts";
import { startReleaseFleet } from "./release-fleet.ts";
import { createSourceObjects } from "./source-objects.ts";

const releases = await startReleaseFleet();
const { hub, local } = releases;
const server = await startTestBucketServer({ onTestFinished: afterAll });
const namespace = "stored";
await releases.createNamespace(namespace);
const sources = createSourceObjects(hub);
const refOf = (name: string) => ({ namespace, name });
const keys = { accesskey: server.keys.accessKey, secretkey: server.keys.secretKey };
await sources.createSecret(refOf("keys"), keys);

/** A chart directory with its version and a greeting in a ConfigMap. */
function chartFiles(path: string, version: string): Readonly<Record<string, string>> {
  return {
    [`${path}/Chart.yaml`]: `apiVersion: v2\nname: app\nversion: ${version}\n`,
    [`${path}/values.yaml`]: "greeting: hello\n",
    [`${path}/templates/config.yaml`]: [
      "apiVersion: v1",
      "kind: ConfigMap",
      "metadata: {name: '{{ .Release.Name }}-config'}",
      "data: {version: {{ .Chart.Version | quote }}, greeting: {{ .Values.greeting | quote }}}",
      "",
    ].join("\n"),
  };
}

async function put(bucket: string, files: Readonly<Record<string, string | Uint8Array>>) {
  for (const [key, content] of Object.entries(files)) await server.put(bucket, key, content);
}

/** A bucket on the server and a Bucket of its name. */
async function createBucket(
  name: string,
  files: Readonly<Record<string, string | Uint8Array>>,
  spec: Partial<BucketSpec> = {},
): Promise<void> {
  await server.createBucket(name);
  await put(name, files);
  await sources.createBucket(refOf(name), {
    ...{ endpoint: server.endpoint, bucketName: name, secretRef: { name: "keys" } },
    ...spec,
  });
}

/** A HelmRelease of a chart in a Bucket. */
async function createRelease(
  name: string,
  bucket: string,
  chart: string,
  more: Partial<Pick<HelmChartSpec, "reconcileStrategy" | "valuesFiles">> = {},
): Promise<void> {
  const sourceRef = { kind: "Bucket", name: bucket } as const;
  await releases.create(refOf(name), {
    chart: { spec: { chart, version: "*", reconcileStrategy: "ChartVersion", sourceRef, ...more } },
  });
}

async function installed(name: string): Promise<Readonly<Record<string, string>> | undefined> {
  return (await installedConfig(local.client, name, namespace))?.data;
}

async function revisionOf(bucket: string): Promise<string> {
  const found = await hub.reader.get(buckets, refOf(bucket));
  return found?.status?.artifact?.revision ?? "";
}

/** As `flux reconcile source bucket`. */
async function readAgain(bucket: string): Promise<void> {
  await sources.readAgain(buckets, refOf(bucket));
}

test("Bucket: a chart directory is installed, with prefix and ignore, and its generated HelmChart is in the status", async () => {
  await createBucket(
    "directory",
    {
      ...chartFiles("charts/app", "1.0.0"),
      "charts/app/templates/broken.yaml": "{{ fail `this file is ignored` }}",
      "charts/app/templates/other.yaml": "{{ fail `so is this one` }}",
      ".sourceignore": "/charts/app/templates/other.yaml\n",
      "elsewhere/readme.md": "not below the prefix",
    },
    { prefix: "charts/", ignore: "broken.yaml" },
  );
  await createRelease("directory", "directory", "./charts/app");

  const { status } = await releases.ready(refOf("directory"), "1.0.0");

  assert.equal(status?.helmChart, `${namespace}/${namespace}-directory`);
  assert.deepEqual(await installed("directory"), { version: "1.0.0", greeting: "hello" });
  const revision = await revisionOf("directory");
  await server.put("directory", "elsewhere/readme.md", "changed");
  await server.put("directory", "charts/app/templates/broken.yaml", "changed");
  await readAgain("directory");
  assert.equal(await revisionOf("directory"), revision);
});

test("Bucket: a packaged chart is installed under its own version", async () => {
  const { bytes } = await configChart("packaged", "2.1.0");
  await createBucket("packaged", { "packages/packaged-2.1.0.tgz": bytes });
  await createRelease("packaged", "packaged", "packages/packaged-2.1.0.tgz");

  const { status } = await releases.ready(refOf("packaged"), "2.1.0");

  assert.equal(status?.history?.[0]?.chartName, "packaged");
  assert.equal((await installed("packaged"))?.["version"], "2.1.0");
});

test("Bucket with reconcileStrategy Revision: a changed object upgrades; with ChartVersion only a raised version does", async () => {
  await createBucket("changed", chartFiles("app", "1.0.0"));
  const versionOf = async () => `1.0.0+${(await revisionOf("changed")).slice(7, 19)}`;
  await createRelease("each-revision", "changed", "app", { reconcileStrategy: "Revision" });
  await createRelease("each-version", "changed", "app");
  await releases.ready(refOf("each-version"), "1.0.0");
  const first = await versionOf();
  await releases.ready(refOf("each-revision"), first);

  await server.put("changed", "app/values.yaml", "greeting: changed\n");
  await readAgain("changed");
  const second = await versionOf();
  assert.notEqual(second, first);
  await releases.ready(refOf("each-revision"), second);
  assert.deepEqual(await installed("each-revision"), { version: second, greeting: "changed" });
  assert.deepEqual(await installed("each-version"), { version: "1.0.0", greeting: "hello" });

  await put("changed", chartFiles("app", "1.1.0"));
  await readAgain("changed");
  await releases.ready(refOf("each-version"), "1.1.0");
  await releases.ready(
    refOf("each-revision"),
    `1.1.0+${(await revisionOf("changed")).slice(7, 19)}`,
  );
  assert.equal((await releaseRecords(local.client, namespace, "each-version")).length, 2);
  assert.equal((await releaseRecords(local.client, namespace, "each-revision")).length, 3);
});

test("Bucket: valuesFiles are paths from its root, merged in order, and their generation is in the version", async () => {
  await createBucket("values", {
    ...chartFiles("app", "1.0.0"),
    "environments/prod.yaml": "greeting: prod\n",
  });
  await createRelease("values", "values", "app", {
    valuesFiles: ["app/values.yaml", "environments/prod.yaml"],
  });

  await releases.ready(refOf("values"), "1.0.0+1");

  assert.deepEqual(await installed("values"), { version: "1.0.0+1", greeting: "prod" });
});

test("Bucket secretRef: the key reaches the agent over the stream and is in no other object, and a new one is noticed", async () => {
  const wrong = `wrong-key-${process.pid}-correct-horse`;
  await sources.createSecret(refOf("rotated"), { ...keys, secretkey: wrong });
  await createBucket("rotated", chartFiles("app", "1.0.0"), { secretRef: { name: "rotated" } });
  await createRelease("rotated", "rotated", "app");
  await sources.waitFor(
    buckets,
    refOf("rotated"),
    "FetchFailed",
    "True",
    /^list bucket http:\/\/127.*\/rotated: .*403.*; retrying at /s,
  );
  assert.deepEqual(await objectsContaining(hub, [wrong]), [`Secret ${namespace}/rotated`]);

  await sources.patchSecret(refOf("rotated"), keys);
  await releases.ready(refOf("rotated"), "1.0.0");
  const found = await objectsContaining(hub, [keys.secretkey]);
  const elsewhere = found.filter(
    (object) =>
      !object.startsWith(`Secret ${namespace}/`) && !object.startsWith(`Secret ${agentNamespace}/`),
  );
  assert.deepEqual(elsewhere, []);
  assert.ok(found.some((object) => object.startsWith(`Secret ${agentNamespace}/`)));
});

test("HelmChart of a Bucket: chartRef shares it between releases, and its chart is the same for both", async () => {
  await createBucket("shared", chartFiles("app", "1.0.0"));
  await sources.createChart(refOf("shared-chart"), {
    ...{ chart: "app", sourceRef: { kind: "Bucket", name: "shared" } },
    reconcileStrategy: "Revision",
  });
  const names = ["shared-one", "shared-two"];
  for (const name of names)
    await releases.create(refOf(name), { chartRef: { kind: "HelmChart", name: "shared-chart" } });

  const version = async () =>
    (await sources.waitFor(helmCharts, refOf("shared-chart"), "Ready", "True")).status?.artifact
      ?.revision ?? "";
  const first = await version();
  for (const name of names) await releases.ready(refOf(name), first);
  await server.put("shared", "app/values.yaml", "greeting: again\n");
  await readAgain("shared");
  await sources.waitFor(
    helmCharts,
    refOf("shared-chart"),
    "Ready",
    "True",
    new RegExp((await revisionOf("shared")).slice(7, 19)),
  );
  for (const name of names) await releases.ready(refOf(name), await version());
  for (const name of names)
    assert.deepEqual(await installed(name), { version: await version(), greeting: "again" });
});
