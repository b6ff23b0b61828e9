/**
 * Bad input of each kind of source, from the object to Helm: one condition that says what was requested from where, what came
 * back and what happens next. A healthy HelmRelease beside it goes on. All tests share a fleet.
 */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { waitUntil } from "@flotilla/local/process";
import { startTestBucketServer, startTestRegistry, testDir } from "@flotilla/local/testing";
import {
  type BucketSpec,
  buckets,
  helmCharts,
  helmRepositories,
  ociRepositories,
} from "@flotilla/shared/flux";
import { configMaps, secrets } from "@flotilla/shared/kube/objects";
import { send, startTestServer } from "@flotilla/shared/source/testing";
import { afterAll, afterEach, test } from "vitest";
import { containsAny } from "../credentials/find-secrets.ts";
import { startAuthenticatedCharts } from "../harness/authenticated-charts.ts";
import { type ChartArchive, chartArchive, configChart } from "../harness/chart-archive.ts";
import { hangMs } from "../harness/hang.ts";
import { pushChartAs } from "../harness/push-artifact.ts";
import { installedConfig } from "../harness/releases.ts";
import { waitForObject } from "../harness/wait.ts";
import { startForwardingServer } from "./forwarding-server.ts";
import { archiveWithEntry } from "./hostile-archive.ts";
import { startReleaseFleet } from "./release-fleet.ts";
import { artifactVersion, createSourceObjects, waitForRejection } from "./source-objects.ts";

const scope = { onTestFinished: afterAll };
const releases = await startReleaseFleet({ agentFlags: ["--chart-size-limit=64Ki"] });
const { hub, local, charts } = releases;
const login = { username: "reader", password: "correct horse" };
const wrong = { ...login, password: "a wrong one" };
const registryDir = join(await testDir(scope), "registry");
const [registry, storage] = await Promise.all([
  startTestRegistry(scope, { dir: registryDir, users: [login] }),
  startTestBucketServer(scope),
]);
const keys = { accesskey: storage.keys.accessKey, secretkey: storage.keys.secretKey };
const namespace = "inputs";
const app = await configChart("app", "1.0.0");
charts.publish(app);
await releases.createNamespace(namespace);
const sources = createSourceObjects(hub);
const refOf = (name: string) => ({ namespace, name });
await sources.createSecret(refOf("keys"), keys);
await sources.createRegistrySecret(refOf("login"), registry.host, login);

const healthy = refOf("healthy");
await releases.create(healthy, chartOf("HelmRepository", "charts"));
await releases.ready(healthy, "1.0.0");
let greetings = 0;

afterEach(async () => {
  const greeting = `after ${++greetings}`;
  await releases.patch(healthy, { values: { greeting } });
  await waitForObject(
    local.client,
    configMaps,
    refOf("healthy-config"),
    `changed to ${greeting}`,
    ({ data }) => data?.["greeting"] === greeting,
  );
  assert.equal((await releases.ready(healthy, "1.0.0")).status?.failures ?? 0, 0);
});

function chartOf(kind: "HelmRepository" | "Bucket", name: string, chart = "app") {
  const sourceRef = { kind, name } as const;
  return {
    chart: { spec: { chart, version: "*", reconcileStrategy: "ChartVersion" as const, sourceRef } },
  };
}

const generated = (name: string) => refOf(`${namespace}-${name}`);

/** A HelmRelease of an OCIRepository of its name, with the tag 1.0.0 of a chart of its name unless the spec has another. */
async function createOci(name: string, more: object = {}): Promise<void> {
  await sources.createOci(refOf(name), {
    ...{ url: `${registry.oci}/charts/${name}`, ref: { tag: "1.0.0" }, insecure: true },
    ...{ secretRef: { name: "login" }, ...more },
  });
  await releases.create(refOf(name), { chartRef: { kind: "OCIRepository", name } });
}

async function pushOci(name: string, archive: ChartArchive = app): Promise<string> {
  const target = { registry: registry.url, repository: `charts/${name}`, login };
  return await pushChartAs(target, "1.0.0", archive);
}

/** A HelmRelease of the chart `app` of a HelmRepository of its name. */
async function createHttp(name: string, spec: object): Promise<void> {
  await releases.createRepository(refOf(name), spec);
  await releases.create(refOf(name), chartOf("HelmRepository", name));
}

/** The same of a Bucket of its name. */
async function createBucket(
  name: string,
  spec: Partial<BucketSpec> = {},
  chart = "app",
): Promise<void> {
  await sources.createBucket(refOf(name), {
    ...{ endpoint: storage.endpoint, bucketName: name, secretRef: { name: "keys" }, ...spec },
  });
  await releases.create(refOf(name), chartOf("Bucket", name, chart));
}

const configTemplate =
  "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: '{{ .Release.Name }}-config'}\n";

async function putChart(bucket: string, more: Readonly<Record<string, string | Uint8Array>> = {}) {
  await storage.createBucket(bucket);
  const files = {
    "app/Chart.yaml": "apiVersion: v2\nname: app\nversion: 1.0.0\n",
    "app/templates/config.yaml": configTemplate,
    ...more,
  };
  for (const [key, content] of Object.entries(files)) await storage.put(bucket, key, content);
}

/** A repository with the chart `app` at this path, whose archive has these bytes. */
async function serve(bytes: Uint8Array, digest = app.digest): Promise<{ readonly url: string }> {
  const entry = { name: "app", version: "1.0.0", digest, urls: ["app-1.0.0.tgz"] };
  const index = JSON.stringify({ apiVersion: "v1", entries: { app: [entry] } });
  const server = await startTestServer(({ path }, response) =>
    send(response, 200, path === "/index.yaml" ? index : bytes),
  );
  afterAll(() => server[Symbol.asyncDispose]());
  return { url: server.origin };
}

/** The condition of a source that could not be read. */
const failed = (message: RegExp) => ["FetchFailed", "True", message] as const;

async function isInstalled(name: string): Promise<boolean> {
  return (await installedConfig(local.client, name, namespace)) !== undefined;
}

async function assertRejected(name: string, message: RegExp): Promise<void> {
  await waitForRejection(releases, refOf(name), message);
  assert.equal(await isInstalled(name), false);
}

/** A chart that is larger than the agent's limit, and cannot be compressed. */
const large = await chartArchive({
  ...{
    name: "app",
    version: "1.0.0",
    values: `random: ${randomBytes(96 * 1024).toString("base64")}\n`,
  },
  templates: {},
});

test("wrong credentials of a HelmRepository, of type oci too, of an OCIRepository and of a Bucket are named with the request", async () => {
  const server = await startAuthenticatedCharts(login);
  afterAll(() => server[Symbol.asyncDispose]());
  await sources.createSecret(refOf("wrong"), { ...wrong });
  await sources.createSecret(refOf("wrong-keys"), { ...keys, secretkey: "a wrong one" });
  await sources.createRegistrySecret(refOf("wrong-login"), registry.host, wrong);
  const secretRef = { name: "wrong" };

  await createHttp("wrong-http", { url: server.origin, secretRef });
  await createHttp("wrong-type-oci", {
    ...{ type: "oci", url: `${registry.oci}/charts`, insecure: true, secretRef },
  });
  await createOci("wrong-oci", { secretRef: { name: "wrong-login" } });
  await storage.createBucket("wrong-bucket");
  await createBucket("wrong-bucket", { secretRef: { name: "wrong-keys" } });

  const index = new RegExp(`^GET ${server.origin}/index\\.yaml: .*401.*; retrying at `, "s");
  await sources.waitFor(helmRepositories, refOf("wrong-http"), "FetchFailed", "True", index);
  const tags = /^GET http:\/\/127.*\/v2\/charts\/app\/tags\/list.*401.*; retrying at /s;
  await sources.waitFor(helmCharts, generated("wrong-type-oci"), "FetchFailed", "True", tags);
  const manifest =
    /http:\/\/127.*\/v2\/charts\/wrong-oci\/manifests\/1\.0\.0.*401.*; retrying at /s;
  await sources.waitFor(ociRepositories, refOf("wrong-oci"), "FetchFailed", "True", manifest);
  const list = /^list bucket http:\/\/127.*\/wrong-bucket: .*403.*; retrying at /s;
  await sources.waitFor(buckets, refOf("wrong-bucket"), "FetchFailed", "True", list);
  for (const name of ["wrong-http", "wrong-type-oci", "wrong-oci", "wrong-bucket"])
    await assertRejected(name, /; retrying at /);
});

test("a missing Secret is named, and its appearance is noticed", async () => {
  const server = await startAuthenticatedCharts(login);
  afterAll(() => server[Symbol.asyncDispose]());
  server.publish(app);
  const digest = await pushOci("late-oci");
  await putChart("late-bucket");
  await createHttp("late-http", { url: server.origin, secretRef: { name: "late-basic" } });
  await createOci("late-oci", { secretRef: { name: "late-login" } });
  await createBucket("late-bucket", { secretRef: { name: "late-keys" } });

  const named = (name: string) => new RegExp(`ecret.*${name}.*; retrying at `);
  await sources.waitFor(helmRepositories, refOf("late-http"), ...failed(named("late-basic")));
  await sources.waitFor(ociRepositories, refOf("late-oci"), ...failed(named("late-login")));
  await sources.waitFor(buckets, refOf("late-bucket"), ...failed(named("late-keys")));
  for (const name of ["late-http", "late-oci", "late-bucket"])
    await assertRejected(name, /; retrying at /);

  await sources.createSecret(refOf("late-basic"), { ...login });
  await sources.createRegistrySecret(refOf("late-login"), registry.host, login);
  await sources.createSecret(refOf("late-keys"), keys);
  await releases.ready(refOf("late-http"), "1.0.0");
  await releases.ready(refOf("late-oci"), artifactVersion("1.0.0", digest));
  await releases.ready(refOf("late-bucket"), "1.0.0");
});

test("an address that the hub's egress policy refuses is not connected to, directly or by a redirect", async () => {
  const refused = "169.254.169.254";
  const redirect = await startTestServer((_, response) =>
    send(response, 302, "", { location: `http://${refused}/index.yaml` }),
  );
  afterAll(() => redirect[Symbol.asyncDispose]());
  await createHttp("refused-http", { url: `http://${refused}` });
  await createHttp("refused-redirect", { url: redirect.origin });
  await createOci("refused-oci", { url: `oci://${refused}/charts/app`, secretRef: undefined });
  await createBucket("refused-bucket", { endpoint: refused });

  const denied = /169\.254\.169\.254.*a link-local address.*; retrying at /s;
  for (const name of ["refused-http", "refused-redirect"])
    await sources.waitFor(helmRepositories, refOf(name), ...failed(denied));
  await sources.waitFor(ociRepositories, refOf("refused-oci"), ...failed(denied));
  await sources.waitFor(buckets, refOf("refused-bucket"), ...failed(denied));
  for (const name of ["refused-http", "refused-redirect", "refused-oci", "refused-bucket"])
    await assertRejected(name, /; retrying at /);
});

test("an archive whose digest differs from its pin is rejected by the agent", async () => {
  const other = await configChart("app", "1.0.1");
  await createHttp("bytes-http", await serve(other.bytes));
  await assertRejected(
    "bytes-http",
    new RegExp(
      `GET http.*/app-1\\.0\\.0\\.tgz: chart digest mismatch: downloaded sha256:${other.digest}, index\\.yaml says sha256:${app.digest}; fix the index or publish the chart again; retrying at `,
    ),
  );

  const changed = await configChart("changed", "1.0.0");
  await pushOci("bytes-oci", changed);
  const blob = join(
    ...[registryDir, "content/docker/registry/v2/blobs/sha256", changed.digest.slice(0, 2)],
    ...[changed.digest, "data"],
  );
  const content = await readFile(blob);
  content.writeUInt8(content.readUInt8(content.length - 1) ^ 1, content.length - 1);
  await writeFile(blob, content);
  await createOci("bytes-oci");
  await assertRejected(
    "bytes-oci",
    new RegExp(
      `GET http.*/blobs/sha256:${changed.digest}: chart digest mismatch: downloaded sha256:[0-9a-f]{64}, the manifest says sha256:${changed.digest}; retrying at `,
    ),
  );
});

test("a chart larger than the limit is rejected by the agent, whatever its source, and a large package in a bucket by the hub", async () => {
  await createHttp("large-http", await serve(large.bytes, large.digest));
  await pushOci("large-oci", large);
  await createOci("large-oci");
  const random = randomBytes(96 * 1024).toString("base64");
  await putChart("large-bucket", { "app/values.yaml": `random: ${random}\n` });
  await createBucket("large-bucket");
  await putChart("large-package", { "app.tgz": randomBytes(10 * 1024 * 1024 + 1) });
  await createBucket("large-package", {}, "app.tgz");

  await assertRejected(
    "large-http",
    /GET http.*\.tgz: the chart is larger than 64 KiB.*retrying at /,
  );
  await assertRejected("large-oci", /GET http.*: the chart is larger than 64 KiB.*retrying at /);
  await assertRejected(
    "large-bucket",
    /1\.0\.0 at .*large-bucket@sha256:[0-9a-f]{64}: the packaged chart has more than 64 KiB; retrying at /,
  );
  await assertRejected("large-package", /app\.tgz.*larger than 10 MiB.*; retrying at /s);
});

test("a path that climbs out of its source is rejected: of a chart, of a values file, and in an archive", async () => {
  await putChart("climbing");
  await createBucket("climbing", {}, "app/../../secrets");
  await assertRejected(
    "climbing",
    /the chart at "app\/\.\.\/\.\.\/secrets" cannot be used: the path climbs out of the bucket/,
  );
  await sources.waitFor(helmCharts, generated("climbing"), "Stalled", "True", /climbs out/);

  const { spec } = chartOf("Bucket", "climbing").chart;
  const chart = { spec: { ...spec, valuesFiles: ["../../etc/passwd"] } };
  await releases.create(refOf("climbing-values"), { chart });
  await assertRejected("climbing-values", /\.\.\/\.\.\/etc\/passwd/);

  await pushOci("climbing-file", await archiveWithEntry("app", { name: "app/../../outside.yaml" }));
  await createOci("climbing-file");
  await assertRejected("climbing-file", /outside\.yaml/);
});

test("a symbolic link out of a packaged chart is not followed", async () => {
  const link = {
    name: "app/templates/link.yaml",
    type: "symlink",
    linkname: "/etc/passwd",
  } as const;
  const digest = await pushOci("link", await archiveWithEntry("app", link));
  await createOci("link");

  await releases.ready(refOf("link"), artifactVersion("1.0.0", digest));

  const records = await local.client.reader.list(secrets, {
    ...{ namespace, labelSelector: "owner=helm,name=link" },
  });
  assert.equal(records.length, 1);
  assert.equal(containsAny(records, ["root:x:0:0"]), false);
});

test("a tag of another version than its Chart.yaml is not installed, and pushing the tag again helps", async () => {
  await pushOci("mutated", await configChart("app", "1.0.1"));
  await createOci("mutated");
  await assertRejected("mutated", /artifact revision 1\.0\.0 does not match chart version 1\.0\.1/);
  const source = await sources.waitFor(ociRepositories, refOf("mutated"), "Ready", "True");
  assert.match(source.status?.artifact?.revision ?? "", /^1\.0\.0@sha256:/);

  const digest = await pushOci("mutated");
  await sources.readAgain(ociRepositories, refOf("mutated"));
  await releases.ready(refOf("mutated"), artifactVersion("1.0.0", digest));
});

test("an object of a bucket that changes between the list and its request is read again by the hub, and rejected by the agent until the version is raised", async () => {
  const changes = new Map([
    ["/moving/app/Chart.yaml", "apiVersion: v2\nname: app\nversion: 1.1.0\n"],
    ["/moving/app/templates/config.yaml", `# changed\n${configTemplate}`],
  ]);
  await putChart("moving");
  const port = Number(storage.endpoint.split(":")[1]);
  const proxy = await startForwardingServer(port, async (request) => {
    const path = request.replace(/^GET /, "");
    const change = changes.get(path);
    if (change === undefined) return;
    changes.delete(path);
    await storage.put("moving", path.slice("/moving/".length), change);
  });
  afterAll(() => proxy[Symbol.asyncDispose]());
  await createBucket("moving", { endpoint: proxy.host });
  await waitUntil(() => Promise.resolve(changes.size === 0), {
    what: "both changes",
    timeoutMs: hangMs,
  });

  await assertRejected(
    "moving",
    /bucket .*\/moving.*(?:changed while it was read|the hub resolves it again when the version in Chart\.yaml is raised).*; retrying at /,
  );
  const chart = await sources.waitFor(helmCharts, generated("moving"), "Ready", "True");
  assert.equal(chart.status?.artifact?.revision, "1.1.0");

  await storage.put("moving", "app/Chart.yaml", "apiVersion: v2\nname: app\nversion: 1.2.0\n");
  await sources.readAgain(buckets, refOf("moving"));
  await releases.ready(refOf("moving"), "1.2.0");
});
