/** The user stories of Flux's Alerts, with HelmReleases on real clusters. Each test continues from the one before. */
import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { reconcileRequestAnnotation, resetRequestAnnotation } from "@flotilla/shared/api/names";
import { helmReleases } from "@flotilla/shared/flux";
import { configMaps, namespaces } from "@flotilla/shared/kube/objects";
import { afterAll, test } from "vitest";
import { chartOf, startReleaseFleet } from "../helmrelease/release-fleet.ts";
import { createAlerts } from "./alerts.ts";
import { publishAppCharts } from "./app-charts.ts";
import { isAbout, startSink } from "./sink.ts";

const releases = await startReleaseFleet({
  clusters: [{}, {}],
  workspaces: ["prod", "staging"],
  hubFlags: () => ["--local-without-account", "--cross-namespace-references"],
});
const { charts, fleet, hub } = releases;
const alerts = createAlerts(hub);
const sink = await startSink();
afterAll(() => sink.close());
const [production] = fleet.clusters;
assert.ok(production !== undefined);

await publishAppCharts(charts);
for (const [index, namespace] of ["prod", "staging"].entries()) {
  await releases.createRepository({ namespace, name: "charts" });
  await fleet.clusters[index]?.client.create(namespaces, { metadata: { name: namespace } });
}

const app = (version: string) => ({
  ...chartOf("app", version),
  targets: [{ clusterSelector: {} }],
});
const inProd = (name: string) => ({ namespace: "prod", name });
const inStaging = (name: string) => ({ namespace: "staging", name });

test("on-call gets every failure of a HelmRelease in namespace prod and nothing else", async () => {
  await alerts.provider("prod", "on-call", { type: "generic", address: `${sink.url}/on-call` });
  await alerts.alert("prod", "on-call", {
    eventSeverity: "error",
    eventSources: [{ kind: "HelmRelease", name: "*" }],
  });
  await alerts.provider("prod", "all", { type: "generic", address: `${sink.url}/all` });
  await alerts.alert("prod", "all", {
    eventSources: [{ kind: "HelmRelease", name: "*", namespace: "*" }],
  });

  await releases.create(inProd("good"), app("1.0.0"));
  await releases.create(inProd("bad"), app("2.0.0"));
  await releases.create(inStaging("bad"), app("2.0.0"));
  const { event, headers } = await sink.wait(
    "/on-call",
    "the failure in prod",
    isAbout(inProd("bad"), "InstallFailed"),
  );
  await sink.wait("/all", "the success in prod", isAbout(inProd("good"), "InstallSucceeded"));
  await sink.wait("/all", "the failure in staging", isAbout(inStaging("bad"), "InstallFailed"));

  assert.equal(event.involvedObject.kind, "HelmRelease");
  assert.equal(event.severity, "error");
  assert.equal(event.metadata?.["revision"], "2.0.0");
  assert.equal(event.metadata["cluster"], "prod/cluster-1");
  assert.match(
    event.message,
    /helm .*release prod\/bad with chart app@2\.0\.0: .*; 1 of 1 clusters failed: prod\/cluster-1$/,
  );
  assert.equal(headers["gotk-component"], "flotilla.dev/hub");
  const heard = sink.at("/on-call").map((each) => each.event.involvedObject);
  assert.deepEqual(
    heard.map(({ namespace, name }) => `${namespace}/${name}`),
    ["prod/bad"],
    "one POST",
  );
});

test("on-call hears of a HelmRelease that fails before Helm runs", async () => {
  const ref = inProd("no-values");
  await releases.create(ref, {
    ...app("1.0.0"),
    valuesFrom: [{ kind: "Secret", name: "missing" }],
  });
  const { event } = await sink.wait("/on-call", "its values", isAbout(ref, "ValuesError"));
  assert.equal(event.severity, "error");
  assert.match(event.message, /missing/);
  const kubeconfig = inProd("other-kubeconfig");
  await releases.create(kubeconfig, {
    ...chartOf("app", "1.0.0"),
    kubeConfig: { secretRef: { name: "mine" } },
  });
  await sink.wait("/on-call", "its kubeConfig", isAbout(kubeconfig, "Invalid"));
});

test("the same failure within five minutes is one POST, and an exclusion takes precedence over an inclusion", async () => {
  await alerts.provider("prod", "excluding", { type: "generic", address: `${sink.url}/excluding` });
  await alerts.alert("prod", "excluding", {
    eventSources: [{ kind: "HelmRelease", name: "*" }],
    inclusionList: ["[Ff]ailed"],
    exclusionList: ["\\bagain\\b"],
  });
  const ref = inProd("again");
  await releases.create(ref, app("1.0.0"));
  await releases.ready(ref, "1.0.0");
  await releases.patch(ref, app("2.0.0"));
  const failed = await releases.waitForCondition(ref, "Ready", "False", "UpgradeFailed");
  const token = "once more";
  await releases.annotate(ref, {
    [reconcileRequestAnnotation]: token,
    [resetRequestAnnotation]: token,
  });
  const attempts = failed.status?.history?.[0]?.version ?? 0;
  await releases.waitFor(
    ref,
    "failed again after the reset",
    (release) =>
      release.status?.lastHandledResetAt === token &&
      (release.status.history?.[0]?.version ?? 0) > attempts,
  );

  // Each Provider gets its events in order.
  await releases.create(inProd("after"), app("2.0.0"));
  for (const path of ["/on-call", "/excluding"])
    await sink.wait(path, "the next failure", isAbout(inProd("after"), "InstallFailed"));
  const messagesAt = (path: string) =>
    sink
      .at(path)
      .filter(({ event }) => isAbout(ref, "UpgradeFailed")(event))
      .map(({ event }) => event.message);
  assert.equal(messagesAt("/on-call").length, 1, messagesAt("/on-call").join("\n"));
  assert.deepEqual(messagesAt("/excluding"), []);
});

test("the frontend team hears of a new version of its chart in any namespace", async () => {
  await alerts.provider(
    "staging",
    "frontend",
    { type: "generic-hmac", address: `${sink.url}/frontend` },
    { token: "secret-key" },
  );
  await alerts.alert("staging", "frontend", {
    eventSources: ["prod", "staging"].map((namespace) => ({
      ...{ kind: "HelmRelease", name: "*", namespace },
      matchLabels: { team: "frontend" },
    })),
    inclusionList: ["upgrade succeeded"],
  });
  const fronts = [inProd("front"), inStaging("front")];
  for (const ref of fronts) {
    await releases.create(ref, app("1.0.0"));
    const body = { metadata: { labels: { team: "frontend" } } };
    await hub.patch(helmReleases, ref, { type: "merge", body });
    await releases.ready(ref, "1.0.0");
  }

  for (const ref of [inProd("good"), ...fronts]) await releases.patch(ref, app("1.1.0"));

  for (const ref of fronts) {
    const { event, text, headers } = await sink.wait(
      "/frontend",
      `1.1.0 in ${ref.namespace}`,
      isAbout(ref, "UpgradeSucceeded"),
    );
    assert.equal(event.metadata?.["revision"], "1.1.0");
    const signature = createHmac("sha256", "secret-key").update(text).digest("hex");
    assert.equal(headers["x-signature"], `sha256=${signature}`);
  }
  await sink.wait("/all", "another HelmRelease", isAbout(inProd("good"), "UpgradeSucceeded"));
  const names = sink.at("/frontend").map(({ event }) => event.involvedObject.name);
  assert.deepEqual(names, ["front", "front"]);
});

test("metadata of the object, of eventMetadata, of summary and of the controller take precedence in this order", async () => {
  await alerts.provider("prod", "metadata", { type: "generic", address: `${sink.url}/metadata` });
  await alerts.alert("prod", "metadata", {
    eventSources: [{ kind: "HelmRelease", name: "annotated" }],
    eventMetadata: { env: "production", summary: "of eventMetadata", revision: "of eventMetadata" },
    summary: "of summary",
  });
  const ref = inProd("annotated");
  await releases.create(ref, app("1.0.0"), {
    "event.toolkit.fluxcd.io/env": "of the object",
    "event.toolkit.fluxcd.io/owner": "shop",
  });

  const { event } = await sink.wait("/metadata", "its install", isAbout(ref, "InstallSucceeded"));

  const { env, owner, summary, revision } = event.metadata ?? {};
  assert.deepEqual(
    { env, owner, summary, revision },
    { env: "production", owner: "shop", summary: "of summary", revision: "1.0.0" },
  );
  await alerts.waitForWarning(
    "prod",
    "Alert",
    /metadata key env is set by the annotations of the object/,
  );
});

test("drift of a HelmRelease is an event, and so is a cluster that goes offline and returns", async () => {
  await alerts.provider("prod", "clusters", { type: "generic", address: `${sink.url}/clusters` });
  await alerts.alert("prod", "clusters", { eventSources: [{ kind: "Cluster", name: "*" }] });
  const ref = inProd("good");
  await releases.patch(ref, { driftDetection: { mode: "enabled" } });
  await releases.ready(ref, "1.1.0");
  const release = await hub.reader.get(helmReleases, ref);
  assert.ok(release !== undefined);
  await production.client.patch(
    configMaps,
    { namespace: "prod", name: "good-config" },
    { type: "merge", body: { data: { greeting: "changed" } } },
    { fieldManager: "somebody" },
  );
  const { event } = await sink.wait("/all", "corrected drift", isAbout(ref, "DriftCorrected"));
  assert.match(event.message, /ConfigMap prod\/good-config/);
  assert.equal(event.metadata?.["revision"], "1.1.0");

  await production.stopAgent();
  const cluster = { namespace: "prod", name: "cluster-1" };
  const offline = await sink.wait("/clusters", "offline", isAbout(cluster, "ClusterOffline"));
  assert.equal(offline.event.severity, "error");
  assert.equal(offline.event.metadata?.["cluster"], "prod/cluster-1");
  await production.startAgent();
  const online = await sink.wait("/clusters", "online", isAbout(cluster, "ClusterOnline"));
  assert.equal(online.event.severity, "info");
});

test("an Alert that selects no HelmRelease says so", async () => {
  await alerts.provider("staging", "nobody", { type: "generic", address: sink.url });
  await alerts.alert("staging", "nobody", {
    eventSources: [{ kind: "HelmRelease", name: "none" }],
  });
  await alerts.alert("staging", "wrong-labels", {
    providerRef: { name: "nobody" },
    eventSources: [{ kind: "HelmRelease", name: "*", matchLabels: { team: "backend" } }],
  });
  await alerts.waitForWarning("staging", "Alert", /selects no object: HelmRelease staging\/none/);
  await alerts.waitForWarning("staging", "Alert", /HelmRelease staging\/\*.* with its matchLabels/);
});
