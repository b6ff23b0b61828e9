/**
 * HelmOps in all forms that users of Fleet write, on a fleet that has what they refer to. Only the addresses are replaced by
 * those of test repositories.
 */

import assert from "node:assert/strict";
import { globSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { startTestRegistry } from "@flotilla/local/testing";
import {
  apiVersion,
  type Bundle,
  type BundleNamespaceMapping,
  bundleNamespaceMappings,
  bundles,
  clusterGroups,
  type HelmOp,
  helmOps,
} from "@flotilla/shared/api";
import { helmOpLabel, localNamespace, workspaceNamespace } from "@flotilla/shared/api/names";
import { findCondition } from "@flotilla/shared/conditions";
import { configMaps, namespaces, type Secret, secrets } from "@flotilla/shared/kube/objects";
import { issueTestCertificate, send, startTestServer } from "@flotilla/shared/source/testing";
import { afterAll, beforeAll, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { startAuthenticatedCharts } from "../harness/authenticated-charts.ts";
import { type ChartArchive, chartArchive, configChart } from "../harness/chart-archive.ts";
import { startFleetForFile } from "../harness/file-fixtures.ts";
import type { TestCluster } from "../harness/fleet.ts";
import { pushChart } from "../harness/push-chart.ts";
import { createAdmin } from "../harness/rbac.ts";
import { installedConfig } from "../harness/releases.ts";
import { messageOf, waitForObject, waitUntilGone } from "../harness/wait.ts";

const { fleet, charts } = await startFleetForFile({
  clusters: [{ env: "prod", region: "eu" }, { env: "canary", region: "us" }, { name: "local" }],
  workspaces: [workspaceNamespace, workspaceNamespace, localNamespace],
});
const [prod, canary, local] = fleet.clusters;
assert.ok(prod !== undefined && canary !== undefined && local !== undefined);
const guarded = await startAuthenticatedCharts({ username: "user", password: "secret" });
afterAll(() => guarded[Symbol.asyncDispose]());
const registry = await startTestRegistry({ onTestFinished: afterAll });
/** The same charts behind a certificate that is not trusted. */
const untrusted = await startTestServer(
  async ({ path }, response) => {
    const answer = await fetch(`${charts.url}${path}`);
    send(response, answer.status, new Uint8Array(await answer.arrayBuffer()));
  },
  { certificate: await issueTestCertificate() },
);
afterAll(() => untrusted[Symbol.asyncDispose]());

type Addresses = readonly (readonly [written: string, here: string])[];

const addresses: Addresses = [
  ["https://charts.example.com/stable", charts.url],
  ["https://charts.example.com", charts.url],
  ["https://private.example.com/charts", guarded.origin],
  ["oci://registry.example.com", registry.oci],
];

beforeAll(async () => {
  charts.publish(
    await valuesChart("app", "0.1.0"),
    await valuesChart("app", "1.2.3"),
    await configChart("labels", "3.1.0"),
    await configChart("labels", "4.0.0-beta.1"),
  );
  guarded.publish(await valuesChart("app", "1.9.0"));
  guarded.publish(await valuesChart("app", "2.0.0"));
  for (const version of ["0.1.5", "0.1.9", "0.2.0"])
    await pushChart(fleet.helm, await configChart("web", version), `${registry.oci}/charts`);
  await groups();
});

/** A chart of one ConfigMap with all its values. */
function valuesChart(name: string, version: string): Promise<ChartArchive> {
  return chartArchive({
    name,
    version,
    templates: {
      "values.yaml": [
        "apiVersion: v1",
        "kind: ConfigMap",
        "metadata: {name: {{ .Release.Name }}-values}",
        "data: {version: {{ .Chart.Version | quote }}, values: {{ .Values | toJson | quote }}}",
        "",
      ].join("\n"),
    },
  });
}

async function groups(): Promise<void> {
  const group = (name: string, labels: Readonly<Record<string, string>>) =>
    fleet.hub.create(clusterGroups, {
      apiVersion,
      kind: "ClusterGroup",
      metadata: { namespace: workspaceNamespace, name, labels },
      spec: { selector: { matchLabels: { env: "prod" } } },
    });
  await group("prod", {});
  await group("gold", { tier: "gold" });
}

/** Applies a document, and gives its HelmOp once it is Ready in so many clusters. */
async function apply(file: string, clusters: number, elsewhere: Addresses = []): Promise<HelmOp> {
  const path = join(import.meta.dirname, "documents", file);
  const text = [...elsewhere, ...addresses].reduce(
    (written, [from, to]) => written.replaceAll(from, to),
    await readFile(path, "utf8"),
  );
  let applied: HelmOp | undefined;
  for (const document of parseAllDocuments(text)) {
    const object: HelmOp | Secret | BundleNamespaceMapping = document.toJS();
    if (object.kind === "Secret") await fleet.hub.create(secrets, document.toJS());
    else if (object.kind === "BundleNamespaceMapping")
      await fleet.hub.create(bundleNamespaceMappings, document.toJS());
    else applied = await fleet.hub.create(helmOps, document.toJS() satisfies HelmOp);
  }
  assert.ok(applied !== undefined);
  const found = await waitForObject(fleet.hub, helmOps, applied.metadata, "Ready", (helmOp) => {
    const ready = findCondition(helmOp.status?.conditions, "Ready")?.status === "True";
    return ready && helmOp.status?.display?.readyBundleDeployments === `${clusters}/${clusters}`;
  });
  assert.equal(findCondition(found.status?.conditions, "Accepted")?.status, "True");
  return found;
}

async function bundleOf({ metadata }: HelmOp): Promise<Bundle> {
  const bundle = await fleet.hub.reader.get(bundles, metadata);
  assert.ok(bundle !== undefined);
  return bundle;
}

function assertPolled({ status }: HelmOp): void {
  assert.equal(findCondition(status?.conditions, "Polled")?.status, "True");
  assert.notEqual(status?.lastPollingTriggered, undefined);
}

function assertNotPolled({ status }: HelmOp): void {
  assert.equal(findCondition(status?.conditions, "Polled"), undefined);
  assert.equal(status?.lastPollingTriggered, undefined);
}

interface InstalledValues {
  readonly version: string | undefined;
  readonly values: unknown;
}

async function installedValues(
  cluster: TestCluster,
  namespace: string,
  release: string,
): Promise<InstalledValues> {
  const config = await cluster.client.reader.get(configMaps, {
    namespace,
    name: `${release}-values`,
  });
  return {
    version: config?.data?.["version"],
    values: JSON.parse(config?.data?.["values"] ?? "null"),
  };
}

test("there is a test for each form", () => {
  assert.deepEqual(globSync("*.yaml", { cwd: join(import.meta.dirname, "documents") }).sort(), [
    "downstream-resources-and-values.yaml",
    "http.yaml",
    "mapped.yaml",
    "oci-polled.yaml",
    "private.yaml",
    "tarball.yaml",
  ]);
});

test("http.yaml: a repository without certificate verification, an empty version, and the local cluster", async () => {
  const helmOp = await apply("http.yaml", 1, [
    ["https://charts.example.com/stable", untrusted.origin],
  ]);

  assert.equal(helmOp.status?.version, "3.1.0");
  assertNotPolled(helmOp);
  assert.deepEqual(untrusted.paths().toSorted(), ["/index.yaml", "/labels-3.1.0.tgz"]);
  const { spec } = await bundleOf(helmOp);
  assert.equal(spec.helm?.version, "3.1.0");
  assert.deepEqual(spec.targets, [{ name: "default", clusterGroup: "default" }]);
  const config = { namespace: "labels-test", name: "labels-config" };
  assert.equal((await local.client.reader.get(configMaps, config))?.data?.["version"], "3.1.0");
  assert.equal(await prod.client.reader.get(configMaps, config), undefined);
});

test("tarball.yaml: an archive by its address, whose version only the agent knows", async () => {
  const helmOp = await apply("tarball.yaml", 1);

  assert.equal((await installedValues(local, "app", "tarball")).version, "0.1.0");
  assert.equal(helmOp.status?.version, "0.1.0");
  assertNotPolled(helmOp);
  const { labels } = (await bundleOf(helmOp)).metadata;
  assert.deepEqual(labels, { tier: "infra", [helmOpLabel]: "tarball" }, "not the HelmOp's own");
});

test("oci-polled.yaml: a registry, a constraint, all clusters of the workspace", async () => {
  const helmOp = await apply("oci-polled.yaml", 2);

  assert.equal(helmOp.status?.version, "0.1.9");
  assertPolled(helmOp);
  assert.equal((await bundleOf(helmOp)).spec.helm?.version, "0.1.9");
  for (const { client } of [prod, canary]) {
    const config = await installedConfig(client, "web");
    assert.equal(config?.data?.["version"], "0.1.9");
  }
});

test("mapped.yaml: the clusters of another namespace, with the login of the Bundle's, until the mapping is deleted", async () => {
  const helmOp = await apply("mapped.yaml", 3);

  for (const cluster of [prod, canary, local])
    assert.equal((await installedValues(cluster, "mapped", "mapped")).version, "1.9.0");
  const mapping = { namespace: workspaceNamespace, name: "base" };
  const found = await fleet.hub.reader.get(bundleNamespaceMappings, mapping);
  assert.equal(findCondition(found?.status?.conditions, "Accepted")?.status, "True");

  await fleet.hub.delete(bundleNamespaceMappings, mapping);
  await waitForObject(
    fleet.hub,
    helmOps,
    helmOp.metadata,
    "ready in its own namespace alone",
    ({ status }) => status?.display?.readyBundleDeployments === "2/2",
  );
  await waitUntilGone(local.client, configMaps, { namespace: "mapped", name: "mapped-values" });
  assert.equal((await installedValues(prod, "mapped", "mapped")).version, "1.9.0");
});

test("private.yaml: credentials, a group, a target with a namespace and values of its own", async () => {
  await prod.client.create(namespaces, { metadata: { name: "private" } });
  await prod.client.create(configMaps, {
    metadata: { namespace: "private", name: "private-values" },
    data: { of: "no release, until it is adopted" },
  });

  const helmOp = await apply("private.yaml", 2);

  assert.equal(helmOp.status?.version, "1.9.0");
  assertPolled(helmOp);
  const { spec } = await bundleOf(helmOp);
  assert.deepEqual(
    spec.targets?.map(({ name }) => name),
    ["prod", "canary", "never"],
  );
  const image = { tag: "1.20" };
  assert.deepEqual((await installedValues(prod, "private", "private")).values, {
    replicas: 5,
    image,
  });
  assert.deepEqual((await installedValues(canary, "canary", "private")).values, {
    replicas: 2,
    image,
  });
});

test("downstream-resources-and-values.yaml: templates, values and objects of the hub, an account, a dependency", async () => {
  const data = { "values.yaml": "greeting: default\nlevel: 1\n" };
  await fleet.hub.create(configMaps, {
    metadata: { namespace: workspaceNamespace, name: "defaults" },
    data,
  });
  await fleet.hub.create(secrets, {
    metadata: { namespace: workspaceNamespace, name: "overrides" },
    stringData: { "values.yaml": "level: 2\n" },
  });
  await createAdmin(prod.client, "deployer");

  const helmOp = await apply("downstream-resources-and-values.yaml", 1);

  assert.equal(helmOp.status?.version, "1.2.3");
  assertNotPolled(helmOp);
  assert.equal((await bundleOf(helmOp)).spec.targets?.[0]?.name, "target000");
  assert.deepEqual(await installedValues(prod, "copies", "copies"), {
    version: "1.2.3",
    values: {
      host: "app.cluster-1.example.com",
      region: "eu",
      greeting: "default",
      level: 2,
    },
  });
  const namespace = await prod.client.reader.get(namespaces, { name: "copies" });
  assert.deepEqual(namespace?.metadata.labels, {
    "kubernetes.io/metadata.name": "copies",
    owner: "platform",
  });
  assert.equal(namespace.metadata.annotations?.["team"], "a");
  const copy = await prod.client.reader.get(configMaps, { namespace: "copies", name: "defaults" });
  assert.deepEqual(copy?.data, data);
  const overrides = { namespace: "copies", name: "overrides" };
  assert.notEqual(await prod.client.reader.get(secrets, overrides), undefined);
  assert.equal(
    messageOf(helmOp, "Accepted"),
    "spec.namespaceLabels: pod-security.kubernetes.io/enforce is ignored: pod security is set by the administrators of the cluster",
  );
});
