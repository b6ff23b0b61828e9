/** Receivers over HTTP, on a hub and an API server. All tests share a fleet. */
import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { helmOps } from "@flotilla/shared/api";
import { reconcileRequestAnnotation, workspaceNamespace } from "@flotilla/shared/api/names";
import { findCondition } from "@flotilla/shared/conditions";
import { type Receiver, receivers } from "@flotilla/shared/flux";
import { secrets } from "@flotilla/shared/kube/objects";
import { test } from "vitest";
import { configChart } from "../harness/chart-archive.ts";
import { startFleetForFile } from "../harness/file-fixtures.ts";

const { fleet, charts } = await startFleetForFile({ clusters: [{}] });
const { workspace } = fleet;
const token = "a token of the sender";
await fleet.hub.create(secrets, {
  metadata: { namespace: workspaceNamespace, name: "sender" },
  stringData: { token },
});

/** The first result that is neither undefined nor false. */
async function until<T>(read: () => Promise<T | undefined | false>): Promise<T> {
  const end = Date.now() + 20_000;
  for (;;) {
    const result = await read();
    if (result !== undefined && result !== false) return result;
    if (Date.now() > end) throw new Error("nothing was found within 20 s");
    await delay(50);
  }
}

async function createReceiver(
  name: string,
  spec: Partial<NonNullable<Receiver["spec"]>>,
): Promise<string> {
  const ref = workspace.ref(name);
  await fleet.hub.create(receivers, {
    metadata: { ...ref },
    spec: {
      type: "generic-hmac",
      interval: "10m",
      secretRef: { name: "sender" },
      resources: [],
      ...spec,
    },
  });
  const ready = await until(async () => {
    const receiver = await fleet.hub.get(receivers, ref);
    const isReady = findCondition(receiver?.status?.conditions, "Ready")?.status === "True";
    return isReady ? receiver : undefined;
  });
  return ready.status?.webhookPath ?? "";
}

async function call(path: string, body: string, headers: Readonly<Record<string, string>> = {}) {
  const url = `http://127.0.0.1:${fleet.hubPorts.http}${path}`;
  const { status } = await fetch(url, { method: "POST", body, headers });
  return status;
}

function signed(body: string, key = token): Readonly<Record<string, string>> {
  const signature = `sha256=${createHmac("sha256", key).update(body).digest("hex")}`;
  return { "x-signature": signature, "content-type": "application/json" };
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

  const suspend = async (value: boolean) =>
    fleet.hub.patch(receivers, workspace.ref("limited"), {
      type: "merge",
      body: { spec: { suspend: value } },
    });
  await suspend(true);
  await until(async () => (await call(path, "{}", signed("{}"))) === 503);
  await fleet.hub.patch(helmOps, workspace.ref("limited"), {
    type: "merge",
    body: { metadata: { annotations: { [reconcileRequestAnnotation]: null } } },
  });
  assert.equal(await call(path, "{}", signed("{}")), 503);
  assert.equal(await requestedAt("limited"), undefined);

  await suspend(false);
  await until(async () => (await call(path, "{}", signed("{}"))) === 200);
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

  const changed = await until(async () => {
    const receiver = await fleet.hub.get(receivers, workspace.ref("rotated"));
    const now = receiver?.status?.webhookPath;
    return now === path ? undefined : now;
  });
  assert.equal(await call(path, ""), 404);
  assert.equal(await call(changed, ""), 200);
});
