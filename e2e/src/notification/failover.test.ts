/**
 * Successes of an app on two clusters: a cluster that joins or leaves is none, and what was stored when the leader is killed is
 * delivered by the next one, over TLS with an authority of the Provider's own.
 */
import assert from "node:assert/strict";
import { clusters } from "@flotilla/shared/api";
import { events } from "@flotilla/shared/kube/objects";
import { issueTestCertificate } from "@flotilla/shared/source/testing";
import { afterAll, test } from "vitest";
import { configChart } from "../harness/chart-archive.ts";
import { waitUntilUninstalled } from "../harness/releases.ts";
import { startAlertFleet } from "./alert-fleet.ts";
import { isAbout, startSink } from "./sink.ts";

const certificate = await issueTestCertificate();
const tlsSink = await startSink({ key: certificate.keyPem, cert: certificate.certPem });
afterAll(() => tlsSink.close());
const alertFleet = await startAlertFleet({
  ...{ replicas: 2, clusters: [{}, {}], workspaces: ["prod", "prod"] },
});
const { fleet, charts, prod, sink } = alertFleet;
const [, second] = fleet.clusters;
assert.ok(second !== undefined);
charts.publish(await configChart("app", "1.0.0"));

test("a cluster that joins or leaves an app that is ready is not a success of it", async () => {
  await alertFleet.provider("prod", "all", { type: "generic", address: `${sink.url}/all` });
  await alertFleet.alert("prod", "all", { eventSources: [{ kind: "HelmOp", name: "*" }] });
  const helm = { repo: charts.url, chart: "app", version: "1.0.0" };
  const matchLabels = { member: "yes" };
  const member = (name: string, value: string | null) =>
    fleet.hub.patch(clusters, prod.ref(name), {
      type: "merge",
      body: { metadata: { labels: { member: value } } },
    });
  await member("cluster-1", "yes");
  const ref = { namespace: "prod", name: "joined" };
  await prod.createHelmOp(ref.name, { helm, targets: [{ clusterSelector: { matchLabels } }] });
  await prod.waitUntilReady(ref.name, "1.0.0", 1);
  await sink.wait("/all", "its success", isAbout(ref, "InstallSucceeded"));

  await member("cluster-2", "yes");
  await prod.waitUntilReady(ref.name, "1.0.0", 2);
  await member("cluster-2", null);
  await prod.waitUntilReady(ref.name, "1.0.0", 1);
  await waitUntilUninstalled(second.client, ref.name);

  // Each Provider gets its events in order.
  await prod.createHelmOp("after", { helm });
  const after = { namespace: "prod", name: "after" };
  await sink.wait("/all", "the success of another app", isAbout(after, "InstallSucceeded"));
  // What is not confirmed in time is delivered again, with the same text.
  const heard = new Set(
    sink
      .at("/all")
      .filter(({ event }) => isAbout(ref, "InstallSucceeded")(event))
      .map(({ text }) => text),
  );
  assert.equal(heard.size, 1, [...heard].join("\n"));
  const recorded = (await fleet.hub.reader.list(events, { namespace: "prod" })).filter(
    ({ reason, regarding }) => reason === "InstallSucceeded" && regarding?.name === ref.name,
  );
  assert.equal(recorded.length, 1);
});

test("the next leader delivers what the killed one has stored", async () => {
  tlsSink.answer("/tls", 0);
  await alertFleet.provider(
    "prod",
    "tls",
    {
      ...{ type: "generic", address: `${tlsSink.url}/tls`, timeout: "1s" },
      certSecretRef: { name: "tls" },
    },
    { "ca.crt": certificate.caPem },
  );
  await alertFleet.alert("prod", "tls", { eventSources: [{ kind: "HelmOp", name: "*" }] });
  await prod.createHelmOp("web", {
    helm: { repo: charts.url, chart: "app", version: "1.0.0" },
    targets: [{ clusterSelector: {} }],
  });
  await prod.waitUntilReady("web", "1.0.0", 2);

  const leader = await alertFleet.leader();
  process.kill(leader.process().identity.pid, "SIGKILL");
  tlsSink.answer("/tls", 200);

  const { event } = await tlsSink.wait(
    "/tls",
    "the success",
    ({ reason }) => reason === "InstallSucceeded",
  );
  assert.equal(event.metadata?.["revision"], "1.0.0");
  const [other] = fleet.replicas.filter((replica) => replica !== leader);
  assert.equal(await alertFleet.leader(), other);
});
