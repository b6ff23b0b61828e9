/** `flotilla values`: what each value of a release is in its cluster, and where it comes from. */
import assert from "node:assert/strict";
import { helmOps } from "@flotilla/shared/api";
import { workspaceNamespace as namespace } from "@flotilla/shared/api/names";
import { configMaps, secrets, serviceAccounts } from "@flotilla/shared/kube/objects";
import { afterAll, test } from "vitest";
import { chartArchive } from "../harness/chart-archive.ts";
import { startFleetForFile } from "../harness/file-fixtures.ts";
import { commandsIn } from "../harness/flotilla-command.ts";
import { clusterRoles, roleBindings } from "../harness/rbac.ts";
import { waitForObject } from "../harness/wait.ts";

const { fleet, charts, cluster } = await startFleetForFile({ clusters: [{ region: "eu" }] });
const flotilla = await commandsIn({ onTestFinished: afterAll });
const { hub } = fleet;
const password = "correct-horse-battery";

charts.publish(
  await chartArchive({
    name: "shop",
    version: "1.0.0",
    values: "replicas: 1\nimage: {tag: v1, pull: Always}\ndb: {host: localhost, password: none}\n",
    templates: {
      "all.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: shop}\n",
      "checked.yaml": '{{ if eq .Values.image.tag "broken" }}{{ fail "no such tag" }}{{ end }}',
    },
  }),
);
const base64 = (text: string) => Buffer.from(text).toString("base64");
await cluster.client.create(configMaps, {
  metadata: { namespace: "default", name: "site" },
  data: { "values.yaml": "db: {host: db.site}\n" },
});
await cluster.client.create(secrets, {
  metadata: { namespace: "default", name: "db" },
  data: { "values.yaml": base64(`db: {password: ${password}}\n`) },
});
await hub.create(helmOps, {
  metadata: { namespace, name: "shop" },
  spec: {
    helm: {
      ...{ repo: charts.url, chart: "shop", version: "1.0.0" },
      values: {
        replicas: 2,
        image: { tag: "v2" },
        region: "${ .ClusterLabels.region }",
        url: `https://shop:${password}@db.site`,
      },
      templateValues: { cluster: "${ .ClusterName }" },
      valuesFrom: [
        { configMapKeyRef: { name: "site", namespace: "default", key: "values.yaml" } },
        { secretKeyRef: { name: "db", namespace: "default", key: "values.yaml" } },
      ],
    },
    targets: [
      {
        name: "europe",
        clusterSelector: { matchLabels: { region: "eu" } },
        helm: { values: { replicas: 5 } },
      },
    ],
  },
});
await hub.create(serviceAccounts, { metadata: { namespace, name: "reader" } });
await hub.create(clusterRoles, {
  metadata: { name: "values-reader" },
  rules: [
    { apiGroups: ["fleet.cattle.io"], resources: ["bundledeployments/values"], verbs: ["get"] },
  ],
});
await hub.create(roleBindings, {
  metadata: { namespace, name: "values-reader" },
  roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "values-reader" },
  subjects: [{ kind: "ServiceAccount", namespace, name: "reader" }],
});
await fleet.workspace.waitUntilReady("shop", "1.0.0", 1);

const values = (...more: readonly string[]) =>
  flotilla.run(
    ...["values", "helmop/shop", `--kubeconfig=${fleet.hubPlane.kubeconfig}`],
    ...[`--hub-url=http://127.0.0.1:${fleet.hubPorts.http}`, "--service-account=reader", ...more],
  );

const rows = (stdout: string) =>
  stdout
    .trimEnd()
    .split("\n")
    .map((line) => line.trimEnd().split(/\s{2,}/));

test("each value has the origin that won, and those of Secrets are masked everywhere", async () => {
  const { code, stdout, stderr } = await values();

  assert.equal(code, 0, stderr);
  assert.deepEqual(rows(stdout), [
    ["VALUE", "IS", "FROM"],
    ["cluster", `"${cluster.name}"`, "templateValues"],
    ["db.host", '"db.site"', "ConfigMap default/site, values.yaml"],
    ["db.password", "***", "Secret default/db, values.yaml"],
    ["image.pull", '"Always"', "the chart"],
    ["image.tag", '"v2"', "values"],
    ["region", '"eu"', "values"],
    ["replicas", "5", "target europe"],
    ["url", '"https://shop:***@db.site"', "values"],
  ]);
});

test("the values of an upgrade that fails are shown, not those of the version that runs", async () => {
  await fleet.workspace.patchHelmOp("shop", { helm: { values: { image: { tag: "broken" } } } });
  await waitForObject(hub, helmOps, { namespace, name: "shop" }, "failed", ({ status }) =>
    JSON.stringify(status?.conditions ?? []).includes("no such tag"),
  );

  const { stdout } = await values("-o", "json");

  const lines = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { path: string; value?: unknown; origin: object });
  assert.deepEqual(
    lines.find(({ path }) => path === "image.tag"),
    { origin: { kind: "spec" }, path: "image.tag", value: "broken" },
  );
  assert.ok(!stdout.includes(password));
});
