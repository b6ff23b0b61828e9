/** A service account that is not there yet, is taken away, or is another one by now. */
import assert from "node:assert/strict";
import { bundleDeployments } from "@flotilla/shared/api";
import { clusterNamespaceName, workspaceNamespace } from "@flotilla/shared/api/names";
import { findCondition } from "@flotilla/shared/conditions";
import { configMaps } from "@flotilla/shared/kube/objects";
import { test } from "vitest";
import { helmOpThat, objectThat } from "../harness/wait.ts";
import { roleBindings, tenant, vault, type World } from "./tenant-fleet.ts";

export function accountsComeAndGo(world: World): void {
  const { fleet, cluster } = world;
  const { rest } = cluster;
  const deploymentRef = (name: string) => ({
    namespace: clusterNamespaceName(workspaceNamespace, cluster.name),
    name,
  });
  const recordsOf = async (release: string) =>
    (await world.records(tenant)).filter((record) => record.startsWith(`${release} `));

  test("that are missing are named, and what waits for them goes on at once when they come", async () => {
    await world.create("early", { serviceAccount: "late" });
    await world.said(
      "early",
      /service account flotilla-agent\/late not found.*continues as soon as it exists/s,
    );

    await world.makeAccount("late", tenant);

    await world.ready("early");
  });

  test("that are missing keep nothing from being deleted that was never installed", async () => {
    await world.create("never", { serviceAccount: "nobody" });
    await world.said("never", /service account flotilla-agent\/nobody not found/);

    await world.remove("never");

    await objectThat(
      fleet.hub,
      bundleDeployments,
      deploymentRef("never"),
      "gone",
      (found) => found === undefined,
    );
  });

  test("that are others by now run nothing anew, and do what comes next", async () => {
    await world.create("handed-over");
    await world.ready("handed-over");
    await world.makeAccount("heir", tenant);
    await world.change("handed-over", { serviceAccount: "heir" });
    await world.ready("handed-over");
    assert.deepEqual(await recordsOf("handed-over"), ["handed-over v1 deployed"]);

    await world.dropAccount("heir");
    await world.said("handed-over", /service account flotilla-agent\/heir not found/);
    await world.change("handed-over", {
      serviceAccount: tenant,
      helm: { values: { greeting: "ho" } },
    });

    await world.ready("handed-over");
    assert.deepEqual(await recordsOf("handed-over"), [
      "handed-over v1 superseded",
      "handed-over v2 deployed",
    ]);
  });

  test("that are gone hold up an uninstallation, which says so and goes on at once when they come back", async () => {
    await world.makeAccount("brief", tenant);
    await world.create("leaving", { serviceAccount: "brief" });
    await world.ready("leaving");
    await world.dropAccount("brief");
    await world.said("leaving", /service account flotilla-agent\/brief not found/);

    await world.remove("leaving");
    await objectThat(
      fleet.hub,
      bundleDeployments,
      deploymentRef("leaving"),
      "saying what holds it up",
      (found) => {
        const ready = findCondition(found?.status?.conditions, "Ready");
        return (
          ready?.reason === "ErrUninstall" &&
          /service account flotilla-agent\/brief not found/.test(ready.message ?? "")
        );
      },
    );
    assert.deepEqual(await recordsOf("leaving"), ["leaving v1 deployed"]);
    await rest.create(
      {
        group: "",
        version: "v1",
        kind: "ServiceAccount",
        plural: "serviceaccounts",
        namespaced: true,
      },
      { metadata: { namespace: "flotilla-agent", name: "brief" } },
    );

    await objectThat(
      fleet.hub,
      bundleDeployments,
      deploymentRef("leaving"),
      "gone",
      (found) => found === undefined,
    );
    assert.deepEqual(await recordsOf("leaving"), []);
    const name = { namespace: tenant, name: "leaving-config" };
    assert.equal(await rest.get(configMaps, name), undefined);
  });

  test("that may not uninstall leave the release where it is, and say which right is missing", async () => {
    await world.makeAccount("stripped", tenant);
    await world.create("stuck", { serviceAccount: "stripped" });
    await world.ready("stuck");
    await rest.delete(roleBindings, { namespace: tenant, name: "stripped" });

    await world.remove("stuck");

    await objectThat(
      fleet.hub,
      bundleDeployments,
      deploymentRef("stuck"),
      "saying what it may not",
      (found) =>
        /helm uninstall of release team-a\/stuck: .*secrets is forbidden: User "system:serviceaccount:flotilla-agent:stripped"/s.test(
          findCondition(found?.status?.conditions, "Ready")?.message ?? "",
        ),
    );
    assert.deepEqual(await recordsOf("stuck"), ["stuck v1 deployed"]);
  });

  test("called fleet-default act for whoever names none", async () => {
    await world.create("unnamed", {
      serviceAccount: "",
      helm: { chart: "spy", values: { namespace: tenant, secret: "own" } },
    });
    await world.said("unnamed", /calls lookup, .* rights of the agent/s);

    await world.makeAccount("fleet-default", tenant);

    await world.ready("unnamed");
    await world.create("elsewhere", { serviceAccount: "", namespace: vault.namespace });
    await helmOpThat(fleet.hub, "elsewhere", "refused", ({ status }) =>
      /secrets is forbidden: User "system:serviceaccount:flotilla-agent:fleet-default"/.test(
        findCondition(status?.conditions, "Ready")?.message ?? "",
      ),
    );
    await world.dropAccount("fleet-default");
  });
}
