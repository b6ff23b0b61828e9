import assert from "node:assert/strict";
import type { Alert, Provider } from "@flotilla/shared/flux";
import { secrets } from "@flotilla/shared/kube/objects";
import { createMemoryApiServer } from "@flotilla/shared/kube/testing";
import { silentLog } from "@flotilla/shared/log";
import { createFakeClock } from "@flotilla/shared/time/testing";
import { Registry } from "prom-client";
import { describe, onTestFinished, test } from "vitest";
import { longestAgeMs, runDelivery } from "./delivery.ts";
import { createNotificationMetrics } from "./metrics.ts";
import type { OutboxEntry } from "./outbox-record.ts";
import type { SendResult } from "./sender.ts";

const alert: Alert = { metadata: { namespace: "prod", name: "on-call" } };

function provider(name: string, more: Partial<NonNullable<Provider["spec"]>> = {}): Provider {
  return {
    metadata: { namespace: "prod", name },
    spec: { type: "generic", address: `https://${name}.example.com`, ...more },
  };
}

/** Sent to the Providers `a` and `b`, unless others are given. */
function start(
  answer: (id: string, name: string) => SendResult,
  objects: Readonly<Record<string, Provider>> = { a: provider("a"), b: provider("b") },
  secretType?: string,
) {
  // `secretType`: of the only Secret that there is, whatever its name.
  const rest = createMemoryApiServer();
  if (secretType !== undefined)
    rest.put(secrets, {
      metadata: { namespace: "prod", name: "login" },
      type: secretType,
      data: { token: Buffer.from("secret-token").toString("base64") },
    });
  const clock = createFakeClock();
  const registry = new Registry();
  const waiting = new Map<string, OutboxEntry[]>();
  const listeners = new Set<(provider: string) => void>();
  const sent: string[] = [];
  const notes: string[] = [];
  const tokens: string[] = [];
  const ending = new AbortController();
  const running = runDelivery(
    {
      outbox: {
        entries: (key) => waiting.get(key) ?? [],
        remove(key, id) {
          waiting.set(
            key,
            (waiting.get(key) ?? []).filter((each) => each.id !== id),
          );
        },
        providers: () => [...waiting.keys()],
        onChange(listener) {
          listeners.add(listener);
          return () => void listeners.delete(listener);
        },
      },
      alerts: { get: (key) => (key === "prod/on-call" ? alert : undefined) },
      providers: { get: (key) => objects[key.replace("prod/", "")] },
      rest,
      send: (event, _, { settings }) => {
        tokens.push(settings.token);
        const [name = ""] = settings.address.hostname.split(".");
        sent.push(`${event.message} to ${name}`);
        return Promise.resolve(answer(event.message, name));
      },
      events: { record: (_, { note }) => void notes.push(note), flush: () => Promise.resolve() },
      metrics: createNotificationMetrics(registry, () => 0),
      clock,
      log: silentLog(),
    },
    ending.signal,
  );
  onTestFinished(async () => {
    ending.abort();
    await running;
  });
  return {
    ...{ clock, sent, notes, waiting, tokens },
    async add(id: string, name: string, alertKey = "prod/on-call") {
      const key = `prod/${name}`;
      const entry: OutboxEntry = {
        ...{ id, alert: alertKey },
        event: {
          involvedObject: {
            apiVersion: "v1",
            kind: "HelmOp",
            name: "web",
            namespace: "prod",
            uid: "1",
          },
          ...{ severity: "info", message: id, reason: "Ready" },
          timestamp: new Date(clock.now()).toISOString(),
          ...{ reportingController: "hub", reportingInstance: "hub-0" },
        },
      };
      waiting.set(key, [...(waiting.get(key) ?? []), entry]);
      for (const listener of listeners) listener(key);
      await clock.advance(0);
    },
    async dropped(why: string) {
      const metric = await registry
        .getSingleMetric("flotilla_hub_notifications_dropped_total")
        ?.get();
      return metric?.values.find(({ labels }) => labels["why"] === why)?.value ?? 0;
    },
  };
}

describe("delivery", () => {
  const withSecret = { a: provider("a", { secretRef: { name: "login" } }) };

  test("with the token of a Secret", async () => {
    const { add, sent, tokens } = start(() => ({ kind: "delivered" }), withSecret, "Opaque");

    await add("1", "a");

    assert.deepEqual([sent, tokens], [["1 to a"], ["secret-token"]]);
  });

  test.each([
    "kubernetes.io/service-account-token",
    "bootstrap.kubernetes.io/token",
    "helm.sh/release.v1",
    "flotilla.dev/webhook-key",
  ])("never sends what is in a Secret of type %s", async (type) => {
    const { add, sent, notes } = start(() => ({ kind: "delivered" }), withSecret, type);

    await add("1", "a");

    assert.deepEqual(sent, []);
    assert.match(
      notes[0] ?? "",
      /the Secret login of spec\.secretRef does not exist, or is one that/,
    );
  });

  test("sends the events of a Provider in order, and removes them", async () => {
    const { add, sent, waiting } = start(() => ({ kind: "delivered" }));

    await add("1", "a");
    await add("2", "a");

    assert.deepEqual(sent, ["1 to a", "2 to a"]);
    assert.deepEqual(waiting.get("prod/a"), []);
  });

  test("of a Provider that fails holds up no other, and is retried with a backoff", async () => {
    let isDown = true;
    const { add, sent, notes, clock, waiting } = start((_, name) =>
      name === "a" && isDown
        ? { kind: "failed", why: "a.example.com: connection refused" }
        : { kind: "delivered" },
    );

    await add("1", "a");
    await add("2", "a");
    await add("3", "b");
    assert.deepEqual(sent, ["1 to a", "3 to b"]);
    assert.match(
      notes[0] ?? "",
      /^event Ready of HelmOp prod\/web was not delivered to Provider a: a\.example\.com: connection refused/,
    );
    assert.equal(waiting.get("prod/a")?.length, 2);

    isDown = false;
    await clock.advance(60_000);
    assert.deepEqual(sent.slice(2), ["1 to a", "2 to a"]);
    assert.deepEqual(waiting.get("prod/a"), []);
  });

  test("waits as long as the Provider asks for", async () => {
    let answers = 0;
    const { add, sent, clock } = start(() => {
      answers += 1;
      return answers === 1
        ? { kind: "failed", why: "error code: 429", retryAfterMs: 120_000 }
        : { kind: "delivered" };
    });
    await add("1", "a");

    await clock.advance(119_000);
    assert.equal(sent.length, 1);
    await clock.advance(2_000);
    assert.equal(sent.length, 2);
  });

  test("drops what a Provider rejects, and goes on with the next", async () => {
    const { add, sent, notes, dropped } = start((id) =>
      id === "1" ? { kind: "rejected", why: "error code: 400 Bad Request" } : { kind: "delivered" },
    );
    await add("1", "a");
    await add("2", "a");

    assert.deepEqual(sent, ["1 to a", "2 to a"]);
    assert.match(notes[0] ?? "", /error code: 400 Bad Request; not retried$/);
    assert.equal(await dropped("rejected"), 1);
  });

  test("drops an event after six hours of failures", async () => {
    const { add, notes, clock, waiting, dropped } = start(() => ({ kind: "failed", why: "down" }));
    await add("1", "a");

    await clock.advance(longestAgeMs + 600_000);

    assert.deepEqual(waiting.get("prod/a"), []);
    assert.match(notes.at(-1) ?? "", /down; not retried: it is older than 6 hours$/);
    assert.equal(await dropped("expired"), 1);
  });

  test("drops what an Alert that was deleted had selected", async () => {
    const { add, sent, dropped } = start(() => ({ kind: "delivered" }));
    await add("1", "a", "prod/gone");

    assert.deepEqual(sent, []);
    assert.equal(await dropped("removed"), 1);
  });

  test("waits for a Provider that does not exist", async () => {
    const objects: Record<string, Provider> = {};
    const { add, sent, clock, notes } = start(() => ({ kind: "delivered" }), objects);
    await add("1", "a");
    assert.match(notes[0] ?? "", /the Provider does not exist/);

    objects["a"] = provider("a");
    await clock.advance(60_000);
    assert.deepEqual(sent, ["1 to a"]);
  });

  test("sends nothing to a Provider that is suspended, or of another type", async () => {
    const { add, sent, dropped } = start(() => ({ kind: "delivered" }), {
      a: provider("a", { suspend: true }),
      b: provider("b", { type: "nats" }),
    });
    await add("1", "a");
    await add("2", "b");

    assert.deepEqual(sent, []);
    assert.equal(await dropped("unsupported"), 1);
  });

  test("sends a burst of fifty at once, and then five in a second", async () => {
    const { add, sent, clock } = start(() => ({ kind: "delivered" }));
    for (let index = 0; index < 60; index += 1) await add(String(index), "a");

    assert.ok(sent.length >= 50 && sent.length <= 51, `${sent.length} sent`);
    await clock.advance(2_500);
    assert.equal(sent.length, 60);
  });
});
