/** A deployment with two releases, as a Helmfile has many: what happens to one leaves the other as it is. */
import assert from "node:assert/strict";
import { agentNamespace } from "@flotilla/shared/api/names";
import { secrets } from "@flotilla/shared/kube/objects";
import { describe, test } from "vitest";
import {
  type DesiredParts,
  releaseId,
  type SeveralReleases,
  startSeveralReleases,
} from "./testing/index.ts";

const both: DesiredParts = { shop: {}, market: {} };
const shop = releaseId("shop");
const market = releaseId("market");
const tested = { actions: { test: { enable: true } } };
/** The first retry of a failure. */
const firstRetryMs = 5_000;

async function deployed(parts = both): Promise<SeveralReleases> {
  const fleet = await startSeveralReleases();
  await fleet.deploy(parts);
  return fleet;
}

/** What was reported last of the deployment. */
function reportOf({ cluster }: SeveralReleases) {
  const { phase, ready, message, code, failures, request, drift } = cluster.reports.at(-1) ?? {};
  const counted = { failures, drifted: drift?.count, request: request?.result };
  return { phase, ready, message, code, ...counted };
}

const isReady = {
  ...{ phase: "deployed", ready: true, message: "", code: undefined },
  ...{ failures: undefined, drifted: undefined, request: undefined },
};

/** What the agent keeps of a release. */
function keptOf({ agent }: SeveralReleases, id: string) {
  const { inventory, attempts, requests } = agent();
  return {
    revisions: inventory.releasesOf(id).flatMap(({ revisions }) => revisions.length),
    failures: attempts.failedAttemptsOf(id)?.count,
    handled: requests.handledRequestOf(id),
    request: requests.requestOf(id)?.result?.result,
  };
}

const untouched = {
  ...{ revisions: [1], failures: undefined, handled: undefined, request: undefined },
};

describe("a deployment with two releases", () => {
  test("is both of them, installed and reported as one", async () => {
    const fleet = await startSeveralReleases();

    const runs = await fleet.deploy(both);

    assert.deepEqual(runs, [
      "upgrade to 1.0.0 as revision 1 in shop",
      "upgrade to 1.0.0 as revision 1 in market",
    ]);
    assert.deepEqual(reportOf(fleet), isReady);
    const { deploymentId, counts, release } = fleet.cluster.reports.at(-1) ?? {};
    assert.equal(deploymentId, fleet.agent().assignments.get("web")?.deploymentId);
    assert.deepEqual([counts?.desiredReady, release], [2, undefined]);
  });

  test("has an inventory for each of them, in a Secret with a valid name", async () => {
    const { cluster } = await deployed();

    const stored = cluster.server
      .all(secrets)
      .filter(({ metadata }) => metadata.labels?.["flotilla.dev/inventory"] === "true");
    assert.deepEqual(
      stored.map(({ metadata }) => metadata.annotations?.["flotilla.dev/deployment"]).toSorted(),
      [market, shop],
    );
    for (const { metadata } of stored) {
      assert.equal(metadata.namespace, agentNamespace);
      assert.match(metadata.name, /^inventory-[0-9a-f]{40}$/);
    }
  });

  test("is not ready while one of them is not", async () => {
    const fleet = await startSeveralReleases();
    fleet.cluster.unready.add(market);

    await fleet.deploy(both);

    assert.deepEqual(reportOf(fleet), { ...isReady, ready: false });
  });

  test("retries one that has failed, while the other one is ready", async () => {
    const fleet = await startSeveralReleases();
    fleet.cluster.helm.plan({ upgrade: "fails" }, "market");

    await fleet.deploy(both);
    const { phase, ready, message, code, failures } = reportOf(fleet);
    assert.deepEqual([phase, ready, code, failures], ["failed", false, "HELM_FAILED", 1]);
    assert.match(message ?? "", /^web\/market\/app: .*the chart is broken; retrying at /);
    assert.deepEqual(keptOf(fleet, shop), untouched);
    fleet.cluster.helm.plan({}, "market");
    const runs = await fleet.run(firstRetryMs);

    assert.deepEqual(runs, ["upgrade to 1.0.0 as revision 2 in market"]);
    assert.deepEqual(reportOf(fleet), isReady);
    assert.deepEqual(keptOf(fleet, shop), untouched);
  });

  test("upgrades one of them alone, if the other one stays as it is", async () => {
    const fleet = await deployed();

    const runs = await fleet.deploy({ shop: {}, market: { version: "1.1.0" } });

    assert.deepEqual(runs, ["upgrade to 1.1.0 as revision 2 in market"]);
    assert.deepEqual(reportOf(fleet), isReady);
    assert.deepEqual(keptOf(fleet, shop), untouched);
  });

  test("corrects the drift of one of them", async () => {
    const fleet = await deployed();
    fleet.cluster.drifted.add(market);

    fleet.agent().report(market);
    assert.equal(reportOf(fleet).drifted, 1);
    await fleet.agent().reconcile(shop);
    assert.equal(reportOf(fleet).drifted, 1);
    await fleet.agent().reconcile(market);

    assert.deepEqual([...fleet.cluster.drifted], []);
    assert.equal(fleet.cluster.helm.runs.length, 2, "the installations");
    assert.deepEqual(reportOf(fleet), isReady);
  });

  test("answers a request for one of them, and one for both once both have answered", async () => {
    const fleet = await deployed();
    const force = (token: string) => ({ request: { token, force: true, reset: false } });

    const runs = await fleet.deploy({ shop: {}, market: force("one") });
    assert.deepEqual(runs, ["upgrade to 1.0.0 as revision 2 --force-conflicts in market"]);
    assert.deepEqual(keptOf(fleet, shop), untouched);
    assert.equal(keptOf(fleet, market).request, "Upgraded");
    assert.equal(reportOf(fleet).request, undefined);

    fleet.cluster.helm.plan({ upgrade: "fails" }, "shop");
    await fleet.deploy({ shop: force("all"), market: force("all") });
    assert.equal(reportOf(fleet).request, "Failed");
  });

  test("counts a failed test of one of them against that one alone", async () => {
    const fleet = await deployed();
    fleet.cluster.helm.plan({ test: "fails" }, "market");

    const runs = await fleet.deploy({ shop: { content: tested }, market: { content: tested } });

    assert.deepEqual(runs, ["test in shop", "test in market"]);
    assert.deepEqual(keptOf(fleet, shop), untouched);
    assert.equal(keptOf(fleet, market).failures, 1);
    assert.deepEqual([reportOf(fleet).phase, reportOf(fleet).failures], ["failed", 1]);
  });

  test("uninstalls one that is removed, and is the other one alone", async () => {
    const fleet = await deployed();
    const decidedBefore = fleet.cluster.decisions.length;

    const runs = await fleet.deploy({ shop: {}, market: { isRemoved: true } });

    assert.deepEqual(runs, ["uninstall in market"]);
    assert.deepEqual(fleet.cluster.decisions.slice(decidedBefore), [
      "withdrawn (Removed): uninstall",
    ]);
    assert.deepEqual(fleet.cluster.withdrawn, []);
    assert.deepEqual(keptOf(fleet, shop), untouched);
    assert.deepEqual(keptOf(fleet, market).revisions, []);
    assert.deepEqual(reportOf(fleet), isReady);
    assert.equal(fleet.cluster.reports.at(-1)?.counts.desiredReady, 1);
    assert.deepEqual(await fleet.restart(), []);
  });

  test("uninstalls both when it is withdrawn, which is confirmed once both are gone", async () => {
    const fleet = await deployed();
    fleet.cluster.helm.plan({ uninstall: "fails" }, "market");

    assert.deepEqual(await fleet.withdraw(), ["uninstall in shop", "uninstall in market"]);
    assert.deepEqual(fleet.cluster.withdrawn, []);
    fleet.cluster.helm.plan({}, "market");
    assert.deepEqual(await fleet.run(firstRetryMs), ["uninstall in market"]);

    assert.deepEqual(fleet.cluster.withdrawn, ["web"]);
    assert.equal(fleet.agent().assignments.get("web"), undefined);
    assert.deepEqual(
      fleet.cluster.server
        .all(secrets)
        .filter(({ metadata }) => metadata.namespace !== agentNamespace),
      [],
    );
  });

  test("goes on with the run of one that was interrupted together with the agent", async () => {
    const fleet = await deployed();
    fleet.cluster.helm.plan({ upgrade: ["is interrupted"] }, "market");
    await fleet.deploy({ shop: {}, market: { version: "1.1.0" } });

    const runs = await fleet.restart();

    assert.deepEqual(runs, ["upgrade to 1.1.0 as revision 3 in market"]);
    assert.deepEqual(keptOf(fleet, shop), untouched);
    assert.deepEqual(reportOf(fleet), isReady);
  });

  test("takes over the record of each by its labels for that one alone, if the inventory is lost", async () => {
    const fleet = await deployed();
    const { server } = fleet.cluster;
    for (const { metadata, type } of server.all(secrets))
      if (type === "flotilla.dev/inventory") await server.delete(secrets, metadata);

    assert.deepEqual(await fleet.restart(), []);

    const { inventory } = fleet.agent();
    for (const [id, namespace] of [
      [shop, "shop"],
      [market, "market"],
    ] as const) {
      const placesOf = inventory.releasesOf(id).map((release) => release.namespace);
      assert.deepEqual(placesOf, [namespace]);
    }
    assert.deepEqual(reportOf(fleet), isReady);
  });

  test("goes on after a restart without a run of Helm, and is reported once both are known", async () => {
    const fleet = await deployed();
    fleet.cluster.reports.length = 0;

    assert.deepEqual(await fleet.restart(), []);

    assert.deepEqual(fleet.cluster.reports.length, 1);
    assert.deepEqual(reportOf(fleet), isReady);
  });
});
