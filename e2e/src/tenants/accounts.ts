/** Service accounts that do not exist yet, are deleted, or are replaced by others. */
import assert from "node:assert/strict";
import { findCondition } from "@flotilla/shared/conditions";
import { serviceAccounts } from "@flotilla/shared/kube/objects";
import { test } from "vitest";
import { accountRef, roleBindings } from "../harness/rbac.ts";
import { installedConfig } from "../harness/releases.ts";
import { messageOf } from "../harness/wait.ts";
import { foreignSecret, type TenantFleet, tenant } from "./tenant-fleet.ts";

export function testServiceAccounts({ fleet, cluster, ...tenants }: TenantFleet): void {
  const { client, name: clusterName } = cluster;
  const { workspace } = fleet;

  test("that do not exist are named, and a HelmOp continues at once when its account is created", async () => {
    await tenants.create("early", { serviceAccount: "late" });
    await workspace.waitForMessage(
      "early",
      /service account flotilla-agent\/late not found.*continues as soon as it exists/s,
    );

    await tenants.createAccount("late", tenant);

    await tenants.ready("early");
  });

  test("that do not exist do not block the deletion of a HelmOp that was never installed", async () => {
    await tenants.create("never", { serviceAccount: "nobody" });
    await workspace.waitForMessage("never", /service account flotilla-agent\/nobody not found/);

    await workspace.deleteHelmOp("never");

    await workspace.waitUntilUndeployed(clusterName, "never");
  });

  test("that change run Helm for no release, and the new one makes the next change", async () => {
    await tenants.create("transferred");
    await tenants.ready("transferred");
    await tenants.createAccount("successor", tenant);
    await workspace.patchHelmOp("transferred", { serviceAccount: "successor" });
    await tenants.ready("transferred");
    assert.deepEqual(await tenants.records("transferred"), ["transferred v1 deployed"]);

    await tenants.deleteAccount("successor");
    await workspace.waitForMessage(
      "transferred",
      /service account flotilla-agent\/successor not found/,
    );
    await workspace.patchHelmOp("transferred", {
      serviceAccount: tenant,
      helm: { values: { greeting: "ho" } },
    });

    await tenants.ready("transferred");
    assert.deepEqual(await tenants.records("transferred"), [
      "transferred v1 superseded",
      "transferred v2 deployed",
    ]);
  });

  test("that are deleted block an uninstallation, which reports it and continues at once when they are back", async () => {
    await tenants.createAccount("brief", tenant);
    await tenants.create("leaving", { serviceAccount: "brief" });
    await tenants.ready("leaving");
    await tenants.deleteAccount("brief");
    await workspace.waitForMessage("leaving", /service account flotilla-agent\/brief not found/);

    await workspace.deleteHelmOp("leaving");
    await workspace.waitForBundleDeployment(
      clusterName,
      "leaving",
      "reporting the missing account",
      (found) =>
        findCondition(found.status?.conditions, "Ready")?.reason === "ErrUninstall" &&
        /service account flotilla-agent\/brief not found/.test(messageOf(found, "Ready")),
    );
    assert.deepEqual(await tenants.records("leaving"), ["leaving v1 deployed"]);
    await client.create(serviceAccounts, { metadata: accountRef("brief") });

    await workspace.waitUntilUndeployed(clusterName, "leaving");
    assert.deepEqual(await tenants.records("leaving"), []);
    assert.equal(await installedConfig(client, "leaving", tenant), undefined);
  });

  test("that may not uninstall leave the release as it is, and the message names the missing right", async () => {
    await tenants.createAccount("stripped", tenant);
    await tenants.create("stuck", { serviceAccount: "stripped" });
    await tenants.ready("stuck");
    await client.delete(roleBindings, { namespace: tenant, name: "stripped" });

    await workspace.deleteHelmOp("stuck");

    await workspace.waitForBundleDeployment(
      clusterName,
      "stuck",
      "reporting the missing right",
      (found) =>
        /helm uninstall of release team-a\/stuck: .*service account flotilla-agent\/stripped may not list secrets of API group "" in namespace team-a/s.test(
          messageOf(found, "Ready"),
        ),
    );
    assert.deepEqual(await tenants.records("stuck"), ["stuck v1 deployed"]);
  });

  test("called fleet-default are impersonated for every HelmOp that names none", async () => {
    await tenants.create("unnamed", {
      serviceAccount: "",
      helm: { chart: "lookup", values: { namespace: tenant, secret: "own" } },
    });
    await tenants.ready("unnamed");

    await tenants.createAccount("fleet-default", tenant);

    await tenants.ready("unnamed");
    await tenants.create("elsewhere", { serviceAccount: "", namespace: foreignSecret.namespace });
    await workspace.waitForMessage(
      "elsewhere",
      /service account flotilla-agent\/fleet-default may not list secrets/,
    );
    await tenants.deleteAccount("fleet-default");
  });
}
