/** Alerts on a real hub: who hears of what, and what happens when nobody answers. Each test continues from the one before. */
import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { helmOps as helmOpResource } from "@flotilla/shared/api";
import { configMaps } from "@flotilla/shared/kube/objects";
import { test } from "vitest";
import { startAlertFleet } from "./alert-fleet.ts";
import { publishAppCharts } from "./app-charts.ts";
import { isAbout } from "./sink.ts";

const alertFleet = await startAlertFleet({ hubFlags: () => ["--cross-namespace-references"] });
const { fleet, charts, sink, prod, staging } = alertFleet;
const [first] = fleet.clusters;
assert.ok(first !== undefined);

await publishAppCharts(charts);

function app(version: string) {
  return { helm: { repo: charts.url, chart: "app", version }, targets: [{ clusterSelector: {} }] };
}

test("on-call gets every failure in namespace prod and nothing else", async () => {
  await alertFleet.provider("prod", "on-call", { type: "generic", address: `${sink.url}/on-call` });
  await alertFleet.alert("prod", "on-call", {
    eventSeverity: "error",
    eventSources: [{ kind: "HelmOp", name: "*" }],
    eventMetadata: { env: "production" },
  });
  await alertFleet.provider("prod", "all", { type: "generic", address: `${sink.url}/all` });
  await alertFleet.alert("prod", "all", {
    eventSources: [{ kind: "HelmOp", name: "*", namespace: "*" }],
  });

  await Promise.all([
    prod.createHelmOp("good", app("1.0.0")),
    prod.createHelmOp("bad", app("2.0.0")),
    staging.createHelmOp("bad", app("2.0.0")),
  ]);
  const failure = await sink.wait(
    "/on-call",
    "the failure in prod",
    ({ reason }) => reason === "InstallFailed",
  );
  await sink.wait("/all", "the success in prod", ({ reason }) => reason === "InstallSucceeded");
  await sink.wait(
    "/all",
    "the failure in staging",
    ({ involvedObject }) => involvedObject.namespace === "staging" && involvedObject.name === "bad",
  );

  const { event, headers } = failure;
  assert.deepEqual(
    [event.involvedObject.kind, event.involvedObject.name, event.involvedObject.namespace],
    ["HelmOp", "bad", "prod"],
  );
  assert.equal(event.severity, "error");
  assert.equal(event.metadata?.["revision"], "2.0.0");
  assert.equal(event.metadata["cluster"], "prod/cluster-1");
  assert.equal(event.metadata["env"], "production");
  assert.match(event.message, /; 1 of 1 clusters failed: prod\/cluster-1$/);
  assert.equal(headers["gotk-component"], "flotilla.dev/hub");
  for (const { event } of sink.at("/on-call")) {
    assert.equal(event.severity, "error");
    assert.deepEqual([event.involvedObject.namespace, event.involvedObject.name], ["prod", "bad"]);
  }
});

test("the frontend team hears of a new version of its chart in any namespace", async () => {
  await alertFleet.provider(
    "staging",
    "frontend",
    { type: "generic-hmac", address: `${sink.url}/frontend` },
    { token: "secret-key" },
  );
  await alertFleet.alert("staging", "frontend", {
    eventSources: [
      { kind: "HelmOp", name: "*", namespace: "*", matchLabels: { team: "frontend" } },
    ],
    inclusionList: ["[Uu]pgrade succeeded"],
  });
  const labels = { team: "frontend" };
  for (const workspace of [prod, staging]) {
    await workspace.createHelmOp("front", app("1.0.0"));
    await fleet.hub.patch(helmOpResource, workspace.ref("front"), {
      type: "merge",
      body: { metadata: { labels } },
    });
    await workspace.waitUntilReady("front", "1.0.0", 1);
  }
  await prod.patchHelmOp("good", { helm: { version: "1.1.0" } });

  await prod.patchHelmOp("front", { helm: { version: "1.1.0" } });
  await staging.patchHelmOp("front", { helm: { version: "1.1.0" } });
  const heard = await Promise.all(
    ["prod", "staging"].map((namespace) =>
      sink.wait(
        "/frontend",
        `1.1.0 in ${namespace}`,
        ({ involvedObject, reason, metadata }) =>
          involvedObject.namespace === namespace &&
          reason === "UpgradeSucceeded" &&
          metadata?.["revision"] === "1.1.0",
      ),
    ),
  );
  await sink.wait(
    "/all",
    "1.1.0 of another HelmOp",
    isAbout({ namespace: "prod", name: "good" }, "UpgradeSucceeded"),
  );

  for (const { text, headers } of heard) {
    const signature = createHmac("sha256", "secret-key").update(text).digest("hex");
    assert.equal(headers["x-signature"], `sha256=${signature}`);
  }
  assert.deepEqual(
    [...new Set(sink.at("/frontend").map(({ event }) => event.involvedObject.name))],
    ["front"],
  );
});

test("a chat reads that a stage waits for an approval, with the command that gives it", async () => {
  const stages = [{ name: "all", before: [{ name: "board", approval: {} }] }];
  await prod.createHelmOp("staged", { ...app("1.0.0"), rolloutStrategy: { stages } });

  const { event } = await sink.wait(
    "/all",
    "the approval that is waited for",
    ({ reason, involvedObject }) => reason === "GateWaiting" && involvedObject.name === "staged",
  );

  assert.equal(event.severity, "info");
  assert.match(
    event.message,
    /^stage all waits for the approval board before version 1\.0\.0 reaches its 1 cluster, for 24h at most: flotilla approve helmop\/staged --stage all sha256:[0-9a-f]{64} -n prod$/,
  );
  assert.equal(event.metadata?.["gate"], "staged-1-all-board");
});

test("drift is an event, and so is a cluster that goes offline and returns", async () => {
  await alertFleet.provider("prod", "clusters", {
    type: "generic",
    address: `${sink.url}/clusters`,
  });
  await alertFleet.alert("prod", "clusters", { eventSources: [{ kind: "Cluster", name: "*" }] });
  await prod.patchHelmOp("good", { correctDrift: { enabled: true } });
  await prod.waitUntilReady("good", "1.1.0", 1);
  await first.client.patch(
    configMaps,
    { namespace: "good", name: "good-config" },
    { type: "merge", body: { data: { greeting: "changed" } } },
    { fieldManager: "somebody" },
  );
  const drift = await sink.wait(
    "/all",
    "corrected drift",
    isAbout({ namespace: "prod", name: "good" }, "DriftCorrected"),
  );
  assert.match(drift.event.message, /ConfigMap good\/good-config/);

  await first.stopAgent();
  const offline = await sink.wait(
    "/clusters",
    "an offline cluster",
    ({ reason }) => reason === "ClusterOffline",
  );
  assert.equal(offline.event.severity, "error");
  assert.equal(offline.event.metadata?.["cluster"], "prod/cluster-1");
  await first.startAgent();
  await sink.wait(
    "/clusters",
    "a cluster that is back",
    ({ reason }) => reason === "ClusterOnline",
  );
});

test("a sink that never answers holds up no other, and what waits is delivered after a restart of the hub", async () => {
  sink.answer("/silent", 0);
  await alertFleet.provider("prod", "silent", {
    ...{ type: "generic", address: `${sink.url}/silent`, timeout: "1s" },
  });
  await alertFleet.alert("prod", "silent", { eventSources: [{ kind: "HelmOp", name: "*" }] });
  await prod.createHelmOp("late", app("1.0.0"));
  const isLate = isAbout({ namespace: "prod", name: "late" }, "InstallSucceeded");
  await sink.wait("/all", "the other sink", isLate);
  assert.deepEqual(sink.at("/silent"), []);

  process.kill(fleet.hubProcess().identity.pid, "SIGKILL");
  sink.answer("/silent", 200);
  await fleet.startHub();

  const { event } = await sink.wait("/silent", "the event from before the restart", isLate);
  assert.equal(event.metadata?.["revision"], "1.0.0");
});

test("an Alert that selects nothing says so, and a type that is not supported is named", async () => {
  await alertFleet.provider("staging", "chat", { type: "matrix", address: sink.url });
  await alertFleet.alert("staging", "chat", { eventSources: [{ kind: "HelmOp", name: "none" }] });

  await alertFleet.waitForWarning(
    "staging",
    "Alert",
    /selects no object: HelmOp staging\/none: there is no such object/,
  );
  await alertFleet.waitForWarning(
    "staging",
    "Provider",
    /^providers of type matrix are not supported/,
  );
});
