/** `flotilla tree` and `flotilla events`: what a release is made of in its cluster, and what happened to it. */
import assert from "node:assert/strict";
import { helmOps } from "@flotilla/shared/api";
import { workspaceNamespace as namespace } from "@flotilla/shared/api/names";
import { serviceAccounts } from "@flotilla/shared/kube/objects";
import { afterAll, test } from "vitest";
import { chartArchive } from "../harness/chart-archive.ts";
import { startFleetForFile } from "../harness/file-fixtures.ts";
import { commandsIn } from "../harness/flotilla-command.ts";
import { clusterRoles, roleBindings } from "../harness/rbac.ts";
import { waitForObject } from "../harness/wait.ts";

const { fleet, charts } = await startFleetForFile({ clusters: [{}] });
const flotilla = await commandsIn({ onTestFinished: afterAll });
const { hub } = fleet;

charts.publish(
  await chartArchive({
    name: "web",
    version: "1.0.0",
    templates: {
      "all.yaml": `apiVersion: v1
kind: ConfigMap
metadata: {name: web}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      nodeSelector: {disk: none}
      containers: [{name: web, image: example.com/web}]
`,
    },
  }),
);
await hub.create(helmOps, {
  metadata: { namespace, name: "web" },
  spec: {
    helm: { repo: charts.url, chart: "web", version: "1.0.0" },
    targets: [{ clusterSelector: {} }],
  },
});
await account("reader", ["resources", "events"]);
await account("historian", ["history"]);
await waitForObject(hub, helmOps, { namespace, name: "web" }, "not scheduled", ({ status }) =>
  JSON.stringify(status?.conditions ?? []).includes("is not scheduled"),
);

async function account(name: string, what: readonly string[]): Promise<void> {
  const resources = what.map((each) => `bundledeployments/${each}`);
  await hub.create(serviceAccounts, { metadata: { namespace, name } });
  await hub.create(clusterRoles, {
    metadata: { name },
    rules: [{ apiGroups: ["fleet.cattle.io"], resources, verbs: ["get"] }],
  });
  await hub.create(roleBindings, {
    metadata: { namespace, name },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name },
    subjects: [{ kind: "ServiceAccount", namespace, name }],
  });
}

const run = (command: string, as = "reader", ...more: readonly string[]) =>
  flotilla.run(
    ...[command, "helmop/web", `--kubeconfig=${fleet.hubPlane.kubeconfig}`],
    ...[`--hub-url=http://127.0.0.1:${fleet.hubPorts.http}`, `--service-account=${as}`, ...more],
  );

test("flotilla tree shows the objects of a release down to the pod, with the scheduler's sentence", async () => {
  const { code, stdout, stderr } = await run("tree");

  assert.equal(code, 0, stderr);
  assert.match(
    stdout,
    /^ConfigMap\/default\/web ready\nDeployment\/default\/web in-progress: .*\n└── ReplicaSet\/default\/web-\w+ in-progress.*\n {4}└── Pod\/default\/web-\w+-\w+ in-progress: is not scheduled: 0\/\d+ nodes are available: .*\n$/,
  );
});

test("flotilla events lists what happened to these objects, and to no others", async () => {
  const { code, stdout, stderr } = await run("events", "reader", "-o", "json");

  assert.equal(code, 0, stderr);
  const events = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { reason: string; object: { kind: string; name: string } });
  const reasons = events.map(({ reason }) => reason);
  for (const reason of ["FailedScheduling", "ScalingReplicaSet", "SuccessfulCreate"])
    assert.ok(reasons.includes(reason), `${reason} in ${reasons.join(", ")}`);
  assert.ok(events.every(({ object }) => object.name.startsWith("web")));
});

test("both need a right of their own", async () => {
  for (const [command, what] of [
    ["tree", "resources"],
    ["events", "events"],
  ] as const) {
    const { code, stderr } = await run(command, "historian");
    assert.equal(code, 1);
    assert.match(stderr, new RegExp(`historian may not get bundledeployments/${what} of`));
  }
});
