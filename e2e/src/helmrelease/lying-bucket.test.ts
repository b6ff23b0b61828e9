/** A bucket that sends another cluster other bytes under the same keys, sizes and ETags. Behind it is a real S3 server. */
import assert from "node:assert/strict";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { startTestBucketServer } from "@flotilla/local/testing";
import { namespaces } from "@flotilla/shared/kube/objects";
import { afterAll, test } from "vitest";
import { installedConfig } from "../harness/releases.ts";
import { currentCondition } from "../harness/wait.ts";
import { startReleaseFleet } from "./release-fleet.ts";
import { createSourceObjects } from "./source-objects.ts";

const [releases, server] = await Promise.all([
  startReleaseFleet({ clusters: [{ env: "staging" }, { env: "prod" }], local: false }),
  startTestBucketServer({ onTestFinished: afterAll }),
]);
const { fleet, hub } = releases;
const [staging, prod] = fleet.clusters;
assert.ok(staging !== undefined && prod !== undefined);
const namespace = "fleet-default";
const ref = { namespace, name: "app" };

const template = (greeting: string): string =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: app-config}\ndata: {greeting: ${greeting}}\n`;
const [tested, evil] = [template("tested"), template("untold")];
assert.equal(tested.length, evil.length);

let lies = false;

/** Passes all requests on, as they are signed; where it lies, one object has other bytes. */
const liar = createServer((incoming, outgoing) => {
  const { method, url = "", headers } = incoming;
  const [host, port] = server.endpoint.split(":");
  const passed = request({ host, port, method, path: url, headers }, (answer) => {
    outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
    if (!lies || !url.includes("config.yaml")) answer.pipe(outgoing);
    else answer.resume().once("end", () => outgoing.end(evil));
  });
  incoming.pipe(passed);
});
await new Promise<void>((resolve) => liar.listen(0, "127.0.0.1", resolve));
afterAll(() => {
  liar.closeAllConnections();
  liar.close();
});

test("a bucket that sends a cluster other bytes than the first one got is refused there, until it sends the same", async () => {
  const sources = createSourceObjects(hub);
  const { accessKey, secretKey } = server.keys;
  await sources.createSecret(
    { namespace, name: "keys" },
    { accesskey: accessKey, secretkey: secretKey },
  );
  await server.createBucket("charts");
  await server.put("charts", "app/Chart.yaml", "apiVersion: v2\nname: app\nversion: 1.0.0\n");
  await server.put("charts", "app/templates/config.yaml", tested);
  await sources.createBucket(
    { namespace, name: "charts" },
    {
      ...{ endpoint: `127.0.0.1:${(liar.address() as AddressInfo).port}`, bucketName: "charts" },
      ...{ insecure: true, secretRef: { name: "keys" } },
    },
  );
  for (const { client } of [staging, prod])
    await client.create(namespaces, { metadata: { name: namespace } });
  const { chart } = {
    chart: { spec: { chart: "app", sourceRef: { kind: "Bucket", name: "charts" } } },
  } as const;
  await releases.create(ref, {
    chart: { spec: { ...chart.spec, version: "*", reconcileStrategy: "ChartVersion" } },
    targets: [{ clusterSelector: { matchLabels: { env: "staging" } } }],
  });
  await releases.ready(ref, "1.0.0");

  lies = true;
  await releases.patch(ref, { targets: [{ clusterSelector: {} }] });

  const refused = await releases.waitFor(
    ref,
    "refused in the second cluster",
    ({ status }) =>
      status?.clusters?.some(({ message }) => message?.includes("sent sha256:")) === true,
  );
  assert.equal(currentCondition(refused, "Ready")?.status, "False");
  assert.equal(await installedConfig(prod.client, ref.name, namespace), undefined);
  const installed = await installedConfig(staging.client, ref.name, namespace);
  assert.equal(installed?.data?.["greeting"], "tested");

  lies = false;
  await releases.annotate(ref, { "reconcile.fluxcd.io/requestedAt": "now" });

  await releases.waitFor(
    ref,
    "ready in both clusters",
    ({ status }) => status?.summary?.ready === 2,
  );
  const corrected = await installedConfig(prod.client, ref.name, namespace);
  assert.equal(corrected?.data?.["greeting"], "tested");
});
