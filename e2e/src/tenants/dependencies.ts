/** What is installed only once something else is ready. */
import assert from "node:assert/strict";
import { agentNamespace } from "@flotilla/shared/api/names";
import { test } from "vitest";
import { endOfLog, lineInLog } from "../harness/log-file.ts";
import { tenant, type World } from "./tenant-fleet.ts";

export function dependenciesAreWaitedFor(world: World): void {
  const { agentLog } = world.cluster;

  test("waits for it by name, says so, and goes on at once when it is ready", async () => {
    await world.create("shop", { dependsOn: [{ name: "base" }] });
    await world.said("shop", /waiting for base, which this cluster does not have/);
    assert.ok(!(await world.records(tenant)).some((record) => record.startsWith("shop")));

    await world.create("base", { serviceAccount: "nobody" });
    await world.said("shop", /waiting for base, which is ErrApplied and must be Ready/);
    const installed = await endOfLog(agentLog);
    await world.change("base", { serviceAccount: tenant });

    await world.ready("shop");
    await world.ready("base");
    const isEither = /"deployment":"(base|shop)"/;
    const first = await lineInLog(agentLog, installed, /release installed/, isEither);
    assert.match(first, /"deployment":"base"/);
  });

  test("waits for all that have a label, and labels that change run nothing anew", async () => {
    await world.create("below", {
      labels: { tier: "base" },
      serviceAccount: "nobody",
    });
    await world.said("below", new RegExp(`service account ${agentNamespace}/nobody`));
    await world.create("above", { dependsOn: [{ selector: { matchLabels: { tier: "base" } } }] });
    await world.said("above", /waiting for below, which is ErrApplied/);

    await world.change("below", { labels: { tier: "middle" } });
    await world.said(
      "above",
      /waiting for a Bundle that matches .*, which this cluster does not have/,
    );
    await world.change("below", { labels: { tier: "base" }, serviceAccount: tenant });

    await world.ready("above");
    await world.change("below", { labels: { tier: "base", more: "yes" } });
    await world.ready("below");
    assert.ok((await world.records(tenant)).includes("below v1 deployed"));
  });

  test("is told of a circle by everybody in it, and goes on when one leaves it", async () => {
    await world.create("hen", { dependsOn: [{ name: "egg" }] });
    await world.create("egg", { dependsOn: [{ name: "hen" }] });

    await world.said("hen", /dependency cycle: hen waits for egg waits for hen/);
    await world.said("egg", /dependency cycle: egg waits for hen waits for egg/);
    await world.change("egg", { dependsOn: null });

    await Promise.all([world.ready("hen"), world.ready("egg")]);
  });
}
