/** Receivers of tenants that want to hold up the hub: what one call, and all calls of a namespace, may read and do. */
import assert from "node:assert/strict";
import { type Receiver as FluxReceiver, maxResources } from "@flotilla/shared/flux";
import { type KubeRest, responseTooLarge } from "@flotilla/shared/kube/client";
import type { KubeObject, Resource } from "@flotilla/shared/kube/objects";
import { createFakeClock } from "@flotilla/shared/time/testing";
import { describe, test } from "vitest";
import { createFilters } from "./filters.ts";
import { createResourceReader } from "./read-resources.ts";
import type { Receiver } from "./receiver.ts";
import { createReceiverServer } from "./receiver-server.ts";
import { webhookPath } from "./webhook-path.ts";

const token = "secret";
const chartBytes = 250 * 1024;
const all = { kind: "HelmChart" as const, name: "*", matchLabels: {} };

function receiver(name: string, spec: Partial<Receiver["spec"]>, namespace = "hostile"): Receiver {
  return {
    metadata: { namespace, name },
    spec: {
      type: "generic",
      interval: "10m",
      secretRef: { name: "token" },
      resources: [],
      ...spec,
    },
    status: { conditions: [{ type: "Ready", status: "True" }] },
  } as unknown as Receiver;
}

function helmCharts(count: number): readonly KubeObject[] {
  return Array.from({ length: count }, (_, at) => ({
    metadata: { namespace: "hostile", name: `chart-${at}`, labels: { app: `${at % 2}` } },
  }));
}

/** An API server with objects of one size; it counts what is read, and what of it is in memory. */
function start(receivers: readonly Receiver[], objects: readonly KubeObject[], sizeBytes = 1_000) {
  const clock = createFakeClock();
  const lists: (number | undefined)[] = [];
  const targets: string[][] = [];
  const reading = { now: 0, most: 0 };
  const gate: { wait: Promise<void> | undefined } = { wait: undefined };
  const rest = {
    async list(_: Resource<KubeObject>, options: Parameters<KubeRest["list"]>[1] = {}) {
      const { limit = objects.length, next = "0", maxBytes = Number.POSITIVE_INFINITY } = options;
      lists.push(limit);
      reading.now += 1;
      reading.most = Math.max(reading.most, reading.now);
      await gate.wait;
      reading.now -= 1;
      const items = objects.slice(Number(next), Number(next) + limit);
      if (items.length * sizeBytes > maxBytes) throw responseTooLarge("list helmcharts", maxBytes);
      const end = Number(next) + items.length;
      return { items, resourceVersion: "1", ...(end < objects.length && { next: String(end) }) };
    },
    get: (_: Resource<KubeObject>, { name }: { readonly name: string }) =>
      Promise.resolve(objects.find(({ metadata }) => metadata.name === name)),
  } as unknown as KubeRest;
  const server = createReceiverServer({
    ...{ clock, filters: createFilters() },
    readResources: createResourceReader({ rest, crossNamespace: false }),
    receivers: { byIndex: () => [receivers[called] as FluxReceiver] },
    secrets: {
      known: () => Promise.resolve({ token, email: "", audience: "" }),
      current: () => Promise.resolve({ token, email: "", audience: "" }),
    },
    verifyGoogle: () => Promise.resolve({ kind: "accepted" }),
    requestReconciles: (found) => {
      targets.push(found.map(({ key }) => key));
      return Promise.resolve();
    },
    log: { info: () => undefined, warn: () => undefined } as never,
  });
  let called = 0;

  async function call(index = 0, body = "{}"): Promise<number> {
    called = index;
    const { metadata } = receivers[index] as Receiver;
    const admission = await server.admit({
      method: "POST",
      path: webhookPath(token, metadata),
      header: (name) => (name === "content-type" ? "application/json" : ""),
      ...{ from: "203.0.113.1", evict: () => undefined },
    });
    if (admission.kind === "answered") return admission.answer.status;
    admission.release();
    return (await admission.answer(Buffer.from(body))).status;
  }

  return { call, lists, targets, reading, gate, clock };
}

describe("what one call of a Receiver reads", () => {
  test("is read once for equal entries, and in pages that fit", async () => {
    const resources = Array.from({ length: 200 }, () => all);
    const { call, lists, targets } = start(
      [receiver("a", { resources })],
      helmCharts(40),
      chartBytes,
    );

    assert.equal(await call(), 200);
    assert.equal(targets[0]?.length, 40);
    assert.ok(lists.length < 20, `${lists.length} lists`);
  });

  test("is read once for entries with other labels, each of which selects its own", async () => {
    const resources = ["0", "1", "2"].map((app) => ({ ...all, matchLabels: { app } }));
    const { call, lists, targets } = start([receiver("a", { resources })], helmCharts(40));

    assert.equal(await call(), 200);
    assert.equal(targets[0]?.length, 40);
    assert.equal(lists.length, 1);
  });

  test("is a few pages at a time for all calls of a namespace", async () => {
    const { call, gate, reading } = start(
      Array.from({ length: 20 }, (_, at) => receiver(`r-${at}`, { resources: [all] })),
      helmCharts(10),
    );
    const opened = Promise.withResolvers<void>();
    gate.wait = opened.promise;
    const calls: Promise<number>[] = [];
    for (let at = 0; at < 20; at += 1) {
      const answer = call(at);
      calls.push(answer);
      for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
    }
    opened.resolve();

    assert.deepEqual(new Set(await Promise.all(calls)), new Set([200]));
    assert.equal(reading.most, 4);
  });

  test("is nothing beyond the limit of entries", async () => {
    const resources = Array.from({ length: maxResources + 1 }, () => all);
    const { call, lists } = start([receiver("a", { resources })], helmCharts(1));

    assert.equal(await call(), 503);
    assert.deepEqual(lists, []);
  });
});

describe("the work of the calls of a namespace", () => {
  const slow =
    "[0,1,2,3,4,5,6,7,8,9].all(a, [0,1,2,3,4,5,6,7,8,9].all(b, [0,1,2,3,4,5,6,7,8,9].all(c, a + b + c >= 0)))";
  const filtered = (at: number, namespace = "hostile") =>
    receiver(`r-${at}`, { resources: [{ ...all, filter: slow }] }, namespace);

  test("is limited over time for filters, over all its Receivers and for it alone", async () => {
    const receivers = [
      ...Array.from({ length: 20 }, (_, at) => filtered(at)),
      filtered(0, "other"),
    ];
    const { call, clock } = start(receivers, helmCharts(500));
    const round = async (): Promise<number[]> => {
      const statuses: number[] = [];
      for (let at = 0; at < 200; at += 1) statuses.push(await call(at % 20));
      return statuses;
    };

    const first = await round();
    const done = first.filter((status) => status !== 429).length;
    assert.ok(done < 30, `${done} calls`);
    assert.equal(first.at(-1), 429);
    assert.notEqual(await call(20), 429);

    clock.advanceNow(1_000);
    const later = (await round()).filter((status) => status !== 429).length;
    assert.ok(later > 0 && later < 5, `${later} calls after a second`);
  });

  test("is limited before a body is parsed", async () => {
    const body = JSON.stringify({ text: "x".repeat(2 * 1024 * 1024) });
    const acr = Array.from({ length: 20 }, (_, at) => receiver(`r-${at}`, { type: "acr" }));
    const { call } = start(acr, []);

    const statuses: number[] = [];
    for (let at = 0; at < 60; at += 1) statuses.push(await call(at % 20, body));

    const parsed = statuses.filter((status) => status === 200).length;
    assert.ok(parsed > 10 && parsed < 40, `${parsed} bodies`);
  });

  test("is limited by the bodies in memory", async () => {
    const body = JSON.stringify({ text: "x".repeat(2 * 1024 * 1024) });
    const receivers = Array.from({ length: 30 }, (_, at) =>
      receiver(`r-${at}`, { resources: [all] }),
    );
    const { call, gate } = start(receivers, helmCharts(1));
    const opened = Promise.withResolvers<void>();
    gate.wait = opened.promise;
    const calls: Promise<number>[] = [];
    for (let at = 0; at < 30; at += 1) {
      calls.push(call(at, body));
      for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
    }
    opened.resolve();

    const refused = (await Promise.all(calls)).filter((status) => status === 429).length;
    assert.ok(refused > 10, `${refused} calls`);
    assert.equal(await call(0, body), 200);
  });
});
