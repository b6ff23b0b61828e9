/** `flotilla history` and `flotilla diff` of a HelmRelease on the hub's own cluster. */
import assert from "node:assert/strict";
import { configMaps, serviceAccounts } from "@flotilla/shared/kube/objects";
import { afterAll, test } from "vitest";
import { configChart } from "../harness/chart-archive.ts";
import { commandsIn } from "../harness/flotilla-command.ts";
import { clusterRoles, roleBindings } from "../harness/rbac.ts";
import { chartOf, startReleaseFleet } from "../helmrelease/release-fleet.ts";

const releases = await startReleaseFleet();
const { charts, fleet, hub, local } = releases;
const namespace = "apps";
charts.publish(await configChart("app", "1.0.0"));
await releases.createNamespace(namespace);
await hub.create(serviceAccounts, { metadata: { namespace, name: "reader" } });
await hub.create(clusterRoles, {
  metadata: { name: "reader" },
  rules: [
    {
      apiGroups: ["fleet.cattle.io"],
      resources: ["bundledeployments/diff", "bundledeployments/history"],
      verbs: ["get"],
    },
  ],
});
await hub.create(roleBindings, {
  metadata: { namespace, name: "reader" },
  roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "reader" },
  subjects: [{ kind: "ServiceAccount", namespace, name: "reader" }],
});
const flotilla = await commandsIn({ onTestFinished: afterAll });

const ask = (what: string, target: string) =>
  flotilla.run(
    ...[what, target, `--namespace=${namespace}`, "--service-account=reader"],
    `--kubeconfig=${fleet.hubPlane.kubeconfig}`,
    `--hub-url=http://127.0.0.1:${fleet.hubPorts.http}`,
  );

test("a HelmRelease has a history of Helm's revisions, and a diff of what somebody has changed", async () => {
  await releases.create({ namespace, name: "web" }, chartOf("app"));
  await releases.ready({ namespace, name: "web" }, "1.0.0");

  const { stdout, stderr } = await ask("history", "helmrelease/web");
  assert.match(stdout.split("\n")[1] ?? "", /^1 +2\S+ +deployed +app-1\.0\.0/, stderr);
  assert.equal((await ask("diff", "hr/web")).stdout, "no differences\n");

  const config = { namespace, name: "web-config" };
  await local.client.patch(configMaps, config, {
    type: "merge",
    body: { data: { greeting: "changed by hand" } },
  });
  assert.match((await ask("diff", "hr/web")).stdout, /changed by hand/);
  assert.match((await ask("history", "hr/other")).stderr, /HelmRelease apps\/other has no/);
});
