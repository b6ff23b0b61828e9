/** Receivers over HTTP, on a hub and an API server. All tests share a fleet. */
import assert from "node:assert/strict";
import { helmOps } from "@flotilla/shared/api";
import { reconcileRequestAnnotation, workspaceNamespace } from "@flotilla/shared/api/names";
import { receivers } from "@flotilla/shared/flux";
import { secrets } from "@flotilla/shared/kube/objects";
import { test } from "vitest";
import { configChart } from "../harness/chart-archive.ts";
import { startFleetForFile } from "../harness/file-fixtures.ts";
import { waitForObject } from "../harness/wait.ts";
import { createWebhooks, signatureOf, waitForStatus } from "./webhooks.ts";

const { fleet, charts } = await startFleetForFile({ clusters: [{}] });
const { workspace } = fleet;
const token = "a token of the sender";
await fleet.hub.create(secrets, {
  metadata: { namespace: workspaceNamespace, name: "sender" },
  stringData: { token },
});

const webhooks = createWebhooks(fleet);
const { call } = webhooks;

function createReceiver(name: string, spec: Parameters<typeof webhooks.create>[1]) {
  return webhooks.create(workspace.ref(name), spec);
}

function signed(body: string, key = token): Readonly<Record<string, string>> {
  return { "x-signature": signatureOf(body, key), "content-type": "application/json" };
}

async function requestedAt(name: string): Promise<string | undefined> {
  return (await workspace.helmOp(name))?.metadata.annotations?.[reconcileRequestAnnotation];
}

async function createApp(name: string, labels: Readonly<Record<string, string>> = {}) {
  charts.publish(await configChart(name, "1.0.0"));
  await workspace.createHelmOp(name, { helm: { repo: charts.url, chart: name, version: "1.x" } });
  const body = { metadata: { labels } };
  await fleet.hub.patch(helmOps, workspace.ref(name), { type: "merge", body });
  await workspace.waitUntilReady(name, "1.0.0", 1);
}

test("a call with the right signature reconciles its HelmOp at once, and one with a wrong signature does nothing", async () => {
  await createApp("signed");
  const path = await createReceiver("signed", { resources: [{ kind: "HelmOp", name: "signed" }] });
  charts.publish(await configChart("signed", "1.1.0"));

  assert.equal(await call(path, "{}", signed("{}", "another token")), 400);
  assert.equal(await call(path, "{}"), 400);
  assert.equal(await call(`${path}?a=b`, "{}", signed("{}")), 404);
  assert.equal(await call(`/hook/${"0".repeat(64)}`, "{}", signed("{}")), 404);
  assert.equal(await requestedAt("signed"), undefined);

  assert.equal(await call(path, "{}", signed("{}")), 200);

  assert.ok((await requestedAt("signed")) !== undefined, "the answer comes after the annotation");
  await workspace.waitUntilReady("signed", "1.1.0", 1);
});

test("a body over 3 MiB is rejected, and a suspended Receiver rejects every call until it is resumed", async () => {
  await createApp("limited");
  const path = await createReceiver("limited", {
    resources: [{ kind: "HelmOp", name: "limited" }],
  });
  const large = "x".repeat(3 * 1024 * 1024 + 1);
  assert.equal(await call(path, large, signed(large)), 413);

  await webhooks.suspend(workspace.ref("limited"), true);
  await waitForStatus(503, () => call(path, "{}", signed("{}")));
  await fleet.hub.patch(helmOps, workspace.ref("limited"), {
    type: "merge",
    body: { metadata: { annotations: { [reconcileRequestAnnotation]: null } } },
  });
  assert.equal(await call(path, "{}", signed("{}")), 503);
  assert.equal(await requestedAt("limited"), undefined);

  await webhooks.suspend(workspace.ref("limited"), false);
  await waitForStatus(200, () => call(path, "{}", signed("{}")));
  assert.ok((await requestedAt("limited")) !== undefined);
});

test("of all HelmOps with a label, a call reconciles those that the filter selects, and a missing object is an error", async () => {
  await createApp("shop-web", { team: "shop" });
  await createApp("shop-db", { team: "shop" });
  await createApp("bank-web", { team: "bank" });
  const all = { kind: "HelmOp", name: "*", matchLabels: { team: "shop" } } as const;
  const path = await createReceiver("filtered", {
    resources: [{ ...all, filter: "res.metadata.name == 'shop-' + req.app" }],
  });
  const body = '{"app":"web"}';

  assert.equal(await call(path, body, signed(body)), 200);

  const seen = await Promise.all(["shop-web", "shop-db", "bank-web"].map(requestedAt));
  assert.deepEqual(
    seen.map((each) => each !== undefined),
    [true, false, false],
  );

  const missing = await createReceiver("missing", {
    resources: [{ kind: "HelmOp", name: "nothing" }, all],
  });
  assert.equal(await call(missing, body, signed(body)), 500);
  assert.ok((await requestedAt("shop-db")) !== undefined, "the other resource is reconciled");
});

test("a new token gives another path, and the former one is unknown", async () => {
  const secret = { namespace: workspaceNamespace, name: "rotated" };
  await fleet.hub.create(secrets, { metadata: secret, stringData: { token: "first" } });
  const path = await createReceiver("rotated", {
    type: "generic",
    secretRef: { name: "rotated" },
    resources: [{ kind: "HelmOp", name: "*", matchLabels: { none: "none" } }],
  });
  assert.equal(await call(path, ""), 200);

  const body = { stringData: { token: "second" } };
  await fleet.hub.patch(secrets, secret, { type: "merge", body });

  const { status } = await waitForObject(
    fleet.hub,
    receivers,
    workspace.ref("rotated"),
    "at another path",
    (receiver) => ![undefined, path].includes(receiver.status?.webhookPath),
  );
  assert.equal(await call(path, ""), 404);
  assert.equal(await call(status?.webhookPath ?? "", ""), 200);
});
