/** HelmReleases with targets, accounts, references across namespaces and dependencies. All tests share a fleet. */
import assert from "node:assert/strict";
import {
  forceRequestAnnotation,
  reconcileRequestAnnotation,
  resetRequestAnnotation,
} from "@flotilla/shared/api/names";
import { helmRepositories } from "@flotilla/shared/flux";
import { configMaps, namespaces, secrets, serviceAccounts } from "@flotilla/shared/kube/objects";
import { test } from "vitest";
import { startAuthenticatedCharts } from "../harness/authenticated-charts.ts";
import { chartArchive, configChart, deploymentChart } from "../harness/chart-archive.ts";
import { roleBindings } from "../harness/rbac.ts";
import { installedConfig, releaseHistory, releaseRecords } from "../harness/releases.ts";
import { currentCondition, messageOf, waitForObject } from "../harness/wait.ts";
import { chartOf, startReleaseFleet } from "./release-fleet.ts";

let flags: readonly string[] = ["--local-without-account"];
const releases = await startReleaseFleet({
  clusters: [{ env: "prod" }, { env: "dev" }],
  hubFlags: () => flags,
});
const { charts, fleet, hub, local } = releases;
const [prod, dev] = fleet.clusters;
assert.ok(prod !== undefined && dev !== undefined);
charts.publish(await configChart("app", "1.0.0"), await deploymentChart("web", "1.0.0"));
await releases.createRepository({ namespace: "fleet-default", name: "charts" });
for (const { client } of [prod, dev])
  await client.create(namespaces, { metadata: { name: "fleet-default" } });
await releases.createNamespace("team");
await releases.createNamespace("infra");

/** A chart that no cluster accepts. */
const brokenChart = (version: string) =>
  chartArchive({
    name: "flaky",
    version,
    templates: {
      "bad.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: flaky}\ndata: {a: {b: c}}\n",
    },
  });

async function withFlags(next: readonly string[]): Promise<void> {
  await fleet.stopHub();
  flags = next;
  await fleet.startHub();
}

test("with targets it is deployed to those clusters of its workspace, and its status sums them up", async () => {
  const ref = { namespace: "fleet-default", name: "spread" };
  await releases.create(ref, {
    ...chartOf("app"),
    targets: [
      { clusterSelector: { matchLabels: { env: "prod" } }, helm: { values: { greeting: "prod" } } },
      { clusterSelector: {} },
    ],
  });

  const { status } = await releases.waitFor(
    ref,
    "ready in two clusters",
    (release) =>
      currentCondition(release, "Ready")?.status === "True" && release.status?.summary?.ready === 2,
  );

  assert.equal(
    (await installedConfig(prod.client, "spread", ref.namespace))?.data?.["greeting"],
    "prod",
  );
  assert.equal(
    (await installedConfig(dev.client, "spread", ref.namespace))?.data?.["greeting"],
    "hello",
  );
  assert.deepEqual(
    status?.clusters
      ?.map(({ name, state, version, revision }) => [name, state, version, revision])
      .toSorted(),
    [
      ["cluster-1", "Ready", "1.0.0", 1],
      ["cluster-2", "Ready", "1.0.0", 1],
    ],
  );
  assert.equal(status.history, undefined, "the history of a release is that of one cluster");
});

test("the annotation has the targets where the CRD has no such field, and a kubeConfig may name a Cluster", async () => {
  const annotated = { namespace: "fleet-default", name: "annotated" };
  await releases.create(annotated, chartOf("app"), {
    "fleet.cattle.io/targets": JSON.stringify([{ clusterName: "cluster-2" }]),
  });
  const named = { namespace: "fleet-default", name: "named" };
  await releases.create(named, {
    ...chartOf("app"),
    kubeConfig: { secretRef: { name: "cluster-1-kubeconfig" } },
  });
  const other = { namespace: "fleet-default", name: "other-kubeconfig" };
  await releases.create(other, { ...chartOf("app"), kubeConfig: { secretRef: { name: "mine" } } });

  const clustersOf = async (ref: typeof named) =>
    (await releases.ready(ref, "1.0.0")).status?.clusters?.map(({ name }) => name);
  assert.deepEqual(await clustersOf(annotated), ["cluster-2"]);
  assert.deepEqual(await clustersOf(named), ["cluster-1"]);
  await releases.waitForCondition(
    other,
    "Stalled",
    "True",
    "Invalid",
    /CLUSTER-kubeconfig.*spec\.targets/,
  );
});

test("dependsOn waits for HelmReleases of other namespaces, here for the definitions of a service mesh", async () => {
  charts.publish(
    await chartArchive({
      name: "mesh",
      version: "1.0.0",
      templates: {},
      crds: {
        "routes.yaml": [
          "apiVersion: apiextensions.k8s.io/v1",
          "kind: CustomResourceDefinition",
          "metadata: {name: routes.mesh.example.com}",
          "spec:",
          "  group: mesh.example.com",
          "  scope: Namespaced",
          "  names: {kind: Route, plural: routes, singular: route, listKind: RouteList}",
          "  versions:",
          "  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}",
          "",
        ].join("\n"),
      },
    }),
    await chartArchive({
      name: "routed",
      version: "1.0.0",
      templates: {
        "route.yaml":
          "apiVersion: mesh.example.com/v1\nkind: Route\nmetadata: {name: routed}\nspec: {to: web}\n",
        "config.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: routed-config}\n",
      },
    }),
  );
  for (const namespace of ["team", "infra"])
    await releases.requestRepository({ namespace, name: "charts" });
  const routed = { namespace: "team", name: "routed" };
  const mesh = { namespace: "infra", name: "mesh" };
  await releases.create(routed, { dependsOn: [{ name: "mesh", namespace: "infra" }] });
  await releases.waitForCondition(routed, "Ready", "False", "DependencyNotReady", /infra/);
  assert.deepEqual(await releaseRecords(local.client, "team", "routed"), []);

  await releases.create(mesh);

  await releases.ready(mesh, "1.0.0");
  await releases.ready(routed, "1.0.0");
  assert.deepEqual(
    (await releaseRecords(local.client, "team", "routed")).map(({ revision }) => revision),
    [1],
    "it was not tried before",
  );
});

test("a failing upgrade is remediated and retried as often as it says, then stalls until a reset or a fix", async () => {
  charts.publish(await configChart("flaky", "1.0.0"));
  const repository = { namespace: "team", name: "charts" };
  await releases.requestRepository(repository);
  const ref = { namespace: "team", name: "flaky" };
  await releases.create(ref, {
    ...chartOf("flaky"),
    upgrade: { remediation: { retries: 1 } },
  });
  await releases.ready(ref, "1.0.0");

  charts.publish(await brokenChart("1.1.0"));
  await releases.requestRepository(repository);
  const stalled = await releases.waitForCondition(ref, "Stalled", "True", "RetriesExceeded");
  assert.equal(currentCondition(stalled, "Ready")?.status, "False");
  assert.equal((await installedConfig(local.client, "flaky", "team"))?.data?.["version"], "1.0.0");
  const records = (await releaseRecords(local.client, "team", "flaky")).length;

  const token = "again";
  await releases.annotate(ref, {
    [reconcileRequestAnnotation]: token,
    [resetRequestAnnotation]: token,
  });
  await releases.waitFor(
    ref,
    "tried again",
    ({ status }) => status?.lastHandledReconcileAt === token && status.lastHandledResetAt === token,
  );
  await releases.waitFor(
    ref,
    "stalled again",
    (release) =>
      currentCondition(release, "Stalled")?.reason === "RetriesExceeded" &&
      (release.status?.history?.[0]?.version ?? 0) > records,
  );

  charts.publish(await configChart("flaky", "1.2.0"));
  await releases.requestRepository(repository);
  await releases.ready(ref, "1.2.0");
});

test("forceAt upgrades once for each token, and requestedAt alone runs nothing", async () => {
  const ref = { namespace: "team", name: "forced" };
  await releases.create(ref, chartOf("app"));
  await releases.ready(ref, "1.0.0");
  await releases.annotate(ref, { [reconcileRequestAnnotation]: "one" });
  await releases.waitFor(ref, "handled", ({ status }) => status?.lastHandledReconcileAt === "one");
  assert.equal((await releaseRecords(local.client, "team", "forced")).length, 1);

  await releases.annotate(ref, {
    [reconcileRequestAnnotation]: "two",
    [forceRequestAnnotation]: "two",
  });
  const { status } = await releases.waitFor(
    ref,
    "upgraded",
    (release) =>
      release.status?.history?.[0]?.version === 2 &&
      currentCondition(release, "Ready")?.status === "True",
  );
  assert.equal(status?.lastHandledForceAt, "two");
});

test("two with the same release name and namespace: the second says which one has it", async () => {
  const first = { namespace: "team", name: "twin-a" };
  const second = { namespace: "team", name: "twin-b" };
  await releases.create(first, { ...chartOf("app"), releaseName: "twin" });
  await releases.ready(first, "1.0.0");
  await releases.create(second, { ...chartOf("app"), releaseName: "twin" });

  const refused = await releases.waitFor(
    second,
    "refused",
    (release) => currentCondition(release, "Ready")?.status === "False",
  );

  assert.match(messageOf(refused, "Ready"), /twin/);
  assert.deepEqual(await releaseHistory(local.client, "team").then((all) => all.length > 0), true);
  assert.equal((await releaseRecords(local.client, "team", "twin")).length, 1);
});

test("sources: each failure is one condition that names what was asked, and the release goes on once it is gone", async () => {
  const chart = (name: string, chartName = "app", version = "*") => ({
    chart: {
      spec: {
        chart: chartName,
        version,
        reconcileStrategy: "ChartVersion" as const,
        sourceRef: { kind: "HelmRepository" as const, name },
      },
    },
  });
  const ref = (name: string) => ({ namespace: "team", name });
  await using locked = await startAuthenticatedCharts({ username: "a", password: "right" });
  locked.publish(await configChart("app", "1.0.0"));
  await releases.createRepository(ref("locked"), {
    url: locked.origin,
    secretRef: { name: "login" },
  });
  await releases.createRepository(ref("gone"), { url: "http://127.0.0.1:1/charts" });
  await releases.create(ref("no-secret"), chart("locked"));
  await releases.create(ref("no-repository"), chart("absent"));
  await releases.create(ref("gone"), chart("gone"));
  await releases.create(ref("no-version"), chart("charts", "app", "9.x"));
  await releases.create(ref("no-chart"), chart("charts", "nothing"));

  const notReady = (name: string, message: RegExp) =>
    releases.waitForCondition(ref(name), "Ready", "False", "SourceNotReady", message);
  await notReady("no-secret", /team\/team-no-secret.*team\/locked/);
  await notReady(
    "no-repository",
    /there is no HelmRepository team\/absent; continuing as soon as it exists/,
  );
  await notReady("gone", /HelmRepository team\/gone/);
  await notReady("no-version", /app.*9\.x.*1\.0\.0/);
  await notReady("no-chart", /nothing/);

  await hub.create(secrets, {
    metadata: ref("login"),
    stringData: { username: "a", password: "wrong-never-shown" },
  });
  const rejected = await waitForObject(
    hub,
    helmRepositories,
    ref("locked"),
    "rejected",
    (repository) => /401 Unauthorized/.test(messageOf(repository, "Ready")),
  );
  assert.ok(!JSON.stringify(rejected).includes("never-shown"));
  await hub.patch(secrets, ref("login"), {
    type: "merge",
    body: { stringData: { password: "right" } },
  });
  await releases.createRepository(ref("absent"));
  charts.publish(await configChart("app", "9.1.0"));
  await releases.requestRepository(ref("charts"));

  await releases.ready(ref("no-secret"), "1.0.0");
  await releases.ready(ref("no-version"), "9.1.0");
  await releases.waitFor(
    ref("no-repository"),
    "ready",
    (release) => currentCondition(release, "Ready")?.status === "True",
  );
});

test("by default one on the hub's own cluster needs an account, whose rights in that namespace are all that it has", async () => {
  await withFlags([]);
  const ref = { namespace: "team", name: "limited" };
  await releases.create(ref, chartOf("app"));
  await releases.waitForCondition(
    ref,
    "Stalled",
    "True",
    "AccessDenied",
    /^spec\.serviceAccountName is not set, .*namespace team/,
  );
  for (const name of ["deployer", "nobody"])
    await hub.create(serviceAccounts, { metadata: { namespace: "team", name } });
  await hub.create(roleBindings, {
    metadata: { namespace: "team", name: "deployer" },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "admin" },
    subjects: [{ kind: "ServiceAccount", namespace: "team", name: "deployer" }],
  });

  await releases.patch(ref, { serviceAccountName: "deployer" });
  await releases.ready(ref, "9.1.0");

  const outside = { namespace: "team", name: "outside" };
  await releases.create(outside, {
    ...chartOf("app"),
    serviceAccountName: "deployer",
    targetNamespace: "infra",
  });
  const rightless = { namespace: "team", name: "rightless" };
  await releases.create(rightless, { ...chartOf("app"), serviceAccountName: "nobody" });
  for (const each of [outside, rightless])
    await releases.waitFor(
      each,
      "refused for its rights",
      (release) =>
        currentCondition(release, "Ready")?.status === "False" &&
        /system:serviceaccount:team:|team\/(deployer|nobody)|forbidden/.test(
          messageOf(release, "Ready"),
        ),
    );
  assert.deepEqual(await releaseRecords(local.client, "infra", "infra-outside"), []);
  assert.equal(
    await hub.reader.get(configMaps, { namespace: "infra", name: "infra-outside-config" }),
    undefined,
  );
});

test("a source of another namespace is refused, and allowed by the option", async () => {
  await withFlags(["--local-without-account"]);
  const ref = { namespace: "team", name: "across" };
  await releases.create(ref, {
    chart: {
      spec: {
        chart: "app",
        version: "1.0.0",
        reconcileStrategy: "ChartVersion",
        sourceRef: { kind: "HelmRepository", name: "charts", namespace: "infra" },
      },
    },
  });
  const refused = await releases.waitForCondition(
    ref,
    "Stalled",
    "True",
    "AccessDenied",
    /^HelmRepository infra\/charts is in another namespace/,
  );
  assert.equal(currentCondition(refused, "Ready")?.reason, "AccessDenied");
  const stored = { namespace: "team", name: "stored" };
  await releases.create(stored, { ...chartOf("app"), storageNamespace: "infra" });
  await releases.waitForCondition(
    stored,
    "Stalled",
    "True",
    "Invalid",
    /spec\.storageNamespace is infra/,
  );

  await withFlags(["--local-without-account", "--cross-namespace-references"]);

  const { status } = await releases.ready(ref, "1.0.0");
  assert.equal(status?.helmChart, "infra/team-across");
});
