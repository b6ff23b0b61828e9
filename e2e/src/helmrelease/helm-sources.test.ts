/** Charts of HTTP HelmRepositories with credentials, and HelmCharts that releases share. All tests share a fleet. */
import assert from "node:assert/strict";
import {
  type HelmChartSpec,
  type HelmRepositorySpec,
  helmCharts,
  helmRepositories,
} from "@flotilla/shared/flux";
import { issueTestCertificate, send, startTestServer } from "@flotilla/shared/source/testing";
import { afterAll, test } from "vitest";
import { startAuthenticatedCharts } from "../harness/authenticated-charts.ts";
import { configChart } from "../harness/chart-archive.ts";
import { installedConfig, releaseHistory, releaseRecords } from "../harness/releases.ts";
import { waitUntilGone } from "../harness/wait.ts";
import { chartOf, startReleaseFleet } from "./release-fleet.ts";
import { createSourceObjects, waitForRejection } from "./source-objects.ts";

const releases = await startReleaseFleet({
  hubFlags: () => ["--local-without-account", "--cross-namespace-references"],
});
const { hub, local, charts } = releases;
const namespace = "repositories";
const app = await configChart("app", "1.0.0");
charts.publish(app, await configChart("app", "2.0.0"));
await releases.createNamespace(namespace);
const sources = createSourceObjects(hub);
const refOf = (name: string) => ({ namespace, name });
const login = { username: "reader", password: "correct horse" };
await sources.createSecret(refOf("login"), { ...login });

/** A HelmRepository, and a HelmRelease of its name with the chart `app` from there. */
async function createBoth(name: string, spec: Partial<HelmRepositorySpec>): Promise<void> {
  await releases.createRepository(refOf(name), spec);
  await releases.create(refOf(name), chartFrom(name, "1.0.0"));
}

function chartFrom(repository: string, version: string) {
  const sourceRef = { kind: "HelmRepository", name: repository } as const;
  const spec = { chart: "app", version, reconcileStrategy: "ChartVersion", sourceRef } as const;
  return { chart: { spec } };
}

const createChart = (name: string, spec: Partial<HelmChartSpec> = {}) =>
  sources.createChart(refOf(name), { chart: "app", version: "1.0.0", ...spec });

const chartRefTo = (name: string) => ({ chartRef: { kind: "HelmChart" as const, name } });

async function installedUid(name: string): Promise<string | undefined> {
  return (await installedConfig(local.client, name, namespace))?.metadata.uid;
}

test("HelmRepository secretRef: hub and agent log in with basic authentication, and a new password is noticed", async () => {
  const server = await startAuthenticatedCharts(login);
  afterAll(() => server[Symbol.asyncDispose]());
  server.publish(app);
  await sources.createSecret(refOf("rotated"), { username: "reader", password: "a wrong one" });
  await createBoth("basic", { url: server.origin, secretRef: { name: "rotated" } });
  await sources.waitFor(helmRepositories, refOf("basic"), "Ready", "False", /401 Unauthorized/);

  await sources.patchSecret(refOf("rotated"), { password: login.password });
  await releases.ready(refOf("basic"), "1.0.0");

  assert.deepEqual([...new Set(server.requestsBy(login))], ["/index.yaml", "/app-1.0.0.tgz"]);
});

test("HelmRepository certSecretRef: a certificate of another authority is trusted with ca.crt, and the client's certificate is sent", async () => {
  const [certificate, client] = await Promise.all([
    issueTestCertificate(),
    issueTestCertificate("client"),
  ]);
  const server = await startTestServer(
    ({ path }, response) => {
      if (path === "/index.yaml") send(response, 200, indexOf("app-1.0.0.tgz"));
      else send(response, 200, app.bytes);
    },
    { certificate, clientCa: client.caPem },
  );
  afterAll(() => server[Symbol.asyncDispose]());
  await sources.createSecret(refOf("certificates"), { "ca.crt": certificate.caPem });
  await createBoth("mutual", { url: server.origin, certSecretRef: { name: "certificates" } });
  // The server ends the connection, in TLS 1.3 after the handshake.
  const refused = new RegExp(`^GET ${server.origin}/index\\.yaml: .*; retrying at `);
  await sources.waitFor(helmRepositories, refOf("mutual"), "FetchFailed", "True", refused);
  assert.deepEqual(server.paths(), []);

  await sources.patchSecret(refOf("certificates"), {
    "tls.crt": client.certPem,
    "tls.key": client.keyPem,
  });
  await releases.ready(refOf("mutual"), "1.0.0");
  assert.deepEqual([...new Set(server.paths())], ["/index.yaml", "/app-1.0.0.tgz"]);
});

test("HelmRepository of another namespace with a Secret: refused until it shares it, and what is installed stays when it no longer does", async () => {
  const server = await startAuthenticatedCharts(login);
  afterAll(() => server[Symbol.asyncDispose]());
  server.publish(app);
  server.publish(await configChart("app", "1.1.0"));
  await releases.createRepository(refOf("shared"), {
    ...{ url: server.origin, secretRef: { name: "login" } },
  });
  const across = { namespace: "borrower", name: "across" };
  await releases.createNamespace(across.namespace);
  const refused = (why: RegExp) =>
    releases.waitForCondition(across, "Ready", "False", "AccessDenied", why);
  const patchRepository = (body: unknown) =>
    hub.patch(helmRepositories, refOf("shared"), { type: "merge", body });
  const share = (selectors: string | null) =>
    patchRepository({ metadata: { annotations: { "flotilla.dev/access-from": selectors } } });
  const from = (version: string) => {
    const { chart } = chartFrom("shared", version);
    const sourceRef = { ...chart.spec.sourceRef, namespace };
    return { chart: { spec: { ...chart.spec, sourceRef } } };
  };
  const history = () => releaseHistory(local.client, across.namespace);

  await releases.create(across, from("1.0.0"));
  await refused(
    /^HelmRepository repositories\/shared has Secrets, .* it does not say which namespaces may use it/,
  );
  await share('{"namespaceSelectors":[{"matchLabels":{"kubernetes.io/metadata.name":"other"}}]}');
  await refused(/its accessFrom does not select that namespace/);
  assert.deepEqual(await history(), []);

  await share(
    '{"namespaceSelectors":[{"matchLabels":{"kubernetes.io/metadata.name":"borrower"}}]}',
  );
  await releases.ready(across, "1.0.0");

  await share(null);
  await refused(/what is deployed stays as it is until then/);
  await releases.patch(across, from("1.1.0"));
  await refused(/does not say which namespaces may use it/);
  const kept = await installedConfig(local.client, across.name, across.namespace);
  assert.equal(kept?.data?.["version"], "1.0.0");
  assert.deepEqual(await history(), ["1 deployed"]);

  await patchRepository({ spec: { accessFrom: { namespaceSelectors: [{}] } } });
  await releases.ready(across, "1.1.0");
});

test("HelmRepository passCredentials: charts at another host get the login only with it", async () => {
  const elsewhere = await startAuthenticatedCharts(login);
  elsewhere.publish(app);
  const index = await startTestServer((_, response) =>
    send(response, 200, indexOf(`${elsewhere.origin}/app-1.0.0.tgz`)),
  );
  for (const server of [elsewhere, index]) afterAll(() => server[Symbol.asyncDispose]());
  await createBoth("passed", { url: index.origin, secretRef: { name: "login" } });
  await waitForRejection(
    releases,
    refOf("passed"),
    new RegExp(`GET ${elsewhere.origin}/app-1.0.0.tgz: .*401.*; retrying at `, "s"),
  );
  assert.equal(elsewhere.seen[0]?.headers.authorization, undefined);

  await sources.patch(helmRepositories, refOf("passed"), { passCredentials: true });
  await releases.ready(refOf("passed"), "1.0.0");
  assert.deepEqual(elsewhere.requestsBy(login), ["/app-1.0.0.tgz"]);
});

test("chartRef of a HelmChart: two releases share it, follow it, and their deletion leaves it", async () => {
  await createChart("shared");
  for (const name of ["one", "two"]) await releases.create(refOf(name), chartRefTo("shared"));
  for (const name of ["one", "two"]) {
    const { status } = await releases.ready(refOf(name), "1.0.0");
    assert.equal(status?.helmChart, undefined);
  }

  await sources.patch(helmCharts, refOf("shared"), { version: "2.0.0" });
  for (const name of ["one", "two"]) await releases.ready(refOf(name), "2.0.0");
  await releases.delete(refOf("one"));

  const chart = await sources.waitFor(helmCharts, refOf("shared"), "Ready", "True");
  assert.equal(chart.metadata.deletionTimestamp, undefined);
  assert.notEqual(await installedUid("two"), undefined);
});

test("chart and chartRef: switching upgrades in place, and removes and creates the generated HelmChart", async () => {
  await createChart("target", { version: "2.0.0" });
  const ref = refOf("switched");
  const generated = refOf(`${namespace}-switched`);
  await releases.create(ref, chartFrom("charts", "1.0.0"));
  await releases.ready(ref, "1.0.0");
  const uid = await installedUid("switched");
  await sources.waitFor(helmCharts, generated, "Ready", "True");

  await releases.patch(ref, { chart: null, ...chartRefTo("target") });
  const referring = await releases.ready(ref, "2.0.0");
  await waitUntilGone(hub, helmCharts, generated);
  assert.equal(referring.status?.helmChart, undefined);
  assert.equal(referring.status?.history?.[0]?.action, "upgrade");
  assert.equal(await installedUid("switched"), uid);

  await releases.patch(ref, { chartRef: null, ...chartOf("app", "1.0.0") });
  const back = await releases.ready(ref, "1.0.0");
  await sources.waitFor(helmCharts, generated, "Ready", "True");
  assert.equal(back.status?.helmChart, `${namespace}/${generated.name}`);
  assert.equal(await installedUid("switched"), uid);
  assert.equal((await releaseRecords(local.client, namespace, "switched")).length, 3);
  await sources.waitFor(helmCharts, refOf("target"), "Ready", "True");
});

function indexOf(url: string): string {
  const { name, version, digest } = app;
  return JSON.stringify({
    apiVersion: "v1",
    entries: { [name]: [{ name, version, digest, urls: [url] }] },
  });
}
