/** HelmOps that are installed only once others are ready. */
import assert from "node:assert/strict";
import { agentNamespace } from "@flotilla/shared/api/names";
import { test } from "vitest";
import { endOfLog, lineInLog } from "../harness/log-file.ts";
import { type TenantFleet, tenant } from "./tenant-fleet.ts";

export function testDependencies({ fleet, cluster, ...tenants }: TenantFleet): void {
  const { agentLog } = cluster;
  const { workspace } = fleet;

  test("waits for it by name, says so, and is installed at once when it is ready", async () => {
    await tenants.create("shop", { dependsOn: [{ name: "base" }] });
    await workspace.waitForMessage("shop", /waiting for base, which this cluster does not have/);
    assert.deepEqual(await tenants.records("shop"), []);

    await tenants.create("base", { serviceAccount: "nobody" });
    await workspace.waitForMessage(
      "shop",
      /waiting for base, which is ErrApplied and must be Ready/,
    );
    const installed = await endOfLog(agentLog);
    await workspace.patchHelmOp("base", { serviceAccount: tenant });

    await tenants.ready("shop");
    await tenants.ready("base");
    const isEither = /"deployment":"(base|shop)"/;
    const first = await lineInLog(agentLog, installed, /release installed/, isEither);
    assert.match(first, /"deployment":"base"/);
  });

  test("waits for all that have a label, and a change of labels runs Helm for none of them", async () => {
    await tenants.create("below", {
      labels: { tier: "base" },
      serviceAccount: "nobody",
    });
    await workspace.waitForMessage("below", new RegExp(`service account ${agentNamespace}/nobody`));
    await tenants.create("above", { dependsOn: [{ selector: { matchLabels: { tier: "base" } } }] });
    await workspace.waitForMessage("above", /waiting for below, which is ErrApplied/);

    await workspace.patchHelmOp("below", { labels: { tier: "middle" } });
    await workspace.waitForMessage(
      "above",
      /waiting for a Bundle that matches .*, which this cluster does not have/,
    );
    await workspace.patchHelmOp("below", { labels: { tier: "base" }, serviceAccount: tenant });

    await tenants.ready("above");
    await workspace.patchHelmOp("below", { labels: { tier: "base", more: "yes" } });
    await tenants.ready("below");
    assert.deepEqual(await tenants.records("below"), ["below v1 deployed"]);
  });

  test("reports a dependency cycle on each of its members, and is installed when one leaves it", async () => {
    await tenants.create("hen", { dependsOn: [{ name: "egg" }] });
    await tenants.create("egg", { dependsOn: [{ name: "hen" }] });

    await workspace.waitForMessage("hen", /dependency cycle: hen → egg → hen/);
    await workspace.waitForMessage("egg", /dependency cycle: egg → hen → egg/);
    await workspace.patchHelmOp("egg", { dependsOn: null });

    await Promise.all([tenants.ready("hen"), tenants.ready("egg")]);
  });
}
