/** What was stored when the leader is killed is delivered by the next one, over TLS with an authority of the Provider's own. */
import assert from "node:assert/strict";
import { issueTestCertificate } from "@flotilla/shared/source/testing";
import { afterAll, test } from "vitest";
import { configChart } from "../harness/chart-archive.ts";
import { startAlertFleet } from "./alert-fleet.ts";
import { startSink } from "./sink.ts";

const certificate = await issueTestCertificate();
const tlsSink = await startSink({ key: certificate.keyPem, cert: certificate.certPem });
afterAll(() => tlsSink.close());
const alertFleet = await startAlertFleet({ replicas: 2 });
const { fleet, charts, prod } = alertFleet;
charts.publish(await configChart("app", "1.0.0"));

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
  await prod.waitUntilReady("web", "1.0.0", 1);

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
