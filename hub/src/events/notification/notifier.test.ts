import assert from "node:assert/strict";
import type { Alert } from "@flotilla/shared/flux";
import { createStore } from "@flotilla/shared/kube/cache";
import { createPatterns } from "@flotilla/shared/regex";
import { createFakeClock, growthOf } from "@flotilla/shared/time/testing";
import { Registry } from "prom-client";
import { describe, test } from "vitest";
import { aHelmOp, aPolicy } from "../../testing/index.ts";
import { createNotificationMetrics } from "./metrics.ts";
import { createNotifier, notifyingRecorder } from "./notifier.ts";
import type { OutboxEntry } from "./outbox-record.ts";
import { createRecentEvents, repeatedMs } from "./recent-events.ts";

const note = { type: "Normal", reason: "Ready", action: "Deploy", note: "is ready" } as const;
const helmOp = aHelmOp();

function alert(name: string, provider: string): Alert {
  return {
    metadata: { namespace: "fleet-default", name },
    spec: {
      ...{ providerRef: { name: provider }, eventSeverity: "info" },
      eventSources: [{ kind: "HelmOp", name: "*" }],
    },
  };
}

function start(
  alerts: readonly Alert[] = [alert("one", "a"), alert("two", "b")],
  { crossNamespace = false } = {},
) {
  const clock = createFakeClock();
  const store = createStore<Alert>();
  for (const each of alerts) store.set(each);
  const added: (readonly [string, OutboxEntry])[] = [];
  const remarks: string[] = [];
  const stored = Promise.withResolvers<void>();
  const notifier = createNotifier({
    alerts: store,
    outbox: {
      add(provider, entry) {
        added.push([provider, entry]);
        return stored.promise;
      },
    },
    rules: { crossNamespace, patterns: createPatterns() },
    recent: createRecentEvents(clock),
    reporter: { controller: "hub", instance: "hub-0" },
    events: {
      record: ({ metadata }, { reason }) => void remarks.push(`${metadata.name} ${reason}`),
      flush: () => Promise.resolve(),
    },
    metrics: createNotificationMetrics(new Registry(), () => 0),
    clock,
  });
  return { notifier, added, remarks, clock, stored };
}

describe("the notifier", () => {
  test("stores an event for each Alert that selects it", async () => {
    const { notifier, added, stored } = start();
    stored.resolve();
    notifier.notify(helmOp, note);
    await notifier.stored();

    assert.deepEqual(
      added.map(([provider, { alert }]) => `${alert} to ${provider}`),
      ["fleet-default/one to fleet-default/a", "fleet-default/two to fleet-default/b"],
    );
  });

  for (const microtasks of [0, 1, 2, 3, 4, 5, 6])
    test(`stores an event that is recorded ${microtasks} microtasks after another one`, async () => {
      const { notifier, added, stored } = start([alert("one", "a")]);
      stored.resolve();

      notifier.notify(helmOp, note);
      for (let at = 0; at < microtasks; at += 1) await Promise.resolve();
      notifier.notify(helmOp, { ...note, note: "has failed" });
      await notifier.stored();

      assert.deepEqual(
        added.map(([, { event }]) => event.message),
        ["is ready", "has failed"],
      );
    });

  // 30 ms to compile and 15 ms to compare each: without a budget a minute for each event.
  test("spends on the expressions of a tenant what they may take, and sends to all others", async () => {
    const expressions = (of: number) =>
      Array.from({ length: 32 }, (_, at) => `(a?b?){450}[ab]{0,450}${of}-${at}$`);
    const alerts = Array.from({ length: 80 }, (_, at): Alert => {
      const { spec, metadata } = alert(`slow-${at}`, "a");
      const eventSources = [{ kind: "HelmOp" as const, name: "*", namespace: "*" }];
      return {
        metadata: { ...metadata, namespace: "hostile" },
        ...(spec && { spec: { ...spec, eventSources, inclusionList: expressions(at) } }),
      };
    });
    const notifyWith = (count: number) => {
      const started = start([...alerts.slice(-count), alert("one", "b")], { crossNamespace: true });
      started.notifier.notify(helmOp, { ...note, note: "ab".repeat(100) });
      return started;
    };

    const growth = growthOf({ small: 4, large: 80 }, notifyWith);
    const { notifier, added, remarks, stored } = notifyWith(80);
    stored.resolve();
    await notifier.stored();

    assert.deepEqual(
      added.map(([provider]) => provider),
      ["fleet-default/b"],
    );
    assert.ok(remarks.includes("slow-79 InvalidConfig"));
    assert.ok(growth < 0.5, `it grows with the power of ${growth}`);
  });

  test("ignores kinds that have no notifications", () => {
    const { notifier, added } = start();
    notifier.notify(aPolicy("guard", {}), note);

    assert.deepEqual(added, []);
  });

  test("sends the same event once in five minutes", async () => {
    const { notifier, added, clock, stored } = start([alert("one", "a")]);
    stored.resolve();
    notifier.notify(helmOp, note);
    await notifier.stored();
    await clock.advance(repeatedMs - 1);
    notifier.notify(helmOp, { ...note, type: "Warning", reason: "Other" });
    await notifier.stored();
    assert.equal(added.length, 1);

    notifier.notify(helmOp, { ...note, note: "is not ready" });
    await notifier.stored();
    assert.equal(added.length, 2);
    await clock.advance(1);
    notifier.notify(helmOp, note);
    await notifier.stored();
    assert.equal(added.length, 3);
  });

  test("lets a status wait until its events are stored, and not for ever", async () => {
    const { notifier, clock, stored } = start();
    let isStored = false;
    await notifier.stored();
    notifier.notify(helmOp, note);
    const waiting = notifier.stored().then(() => (isStored = true));
    await clock.advance(1_000);
    assert.equal(isStored, false);

    stored.resolve();
    await waiting;
    assert.equal(isStored, true);

    const { notifier: other, clock: otherClock } = start();
    other.notify(helmOp, note);
    const limited = other.stored();
    await otherClock.advance(5_000);
    await limited;
  });

  test("makes a notification of each Kubernetes Event", () => {
    const { notifier, added } = start([alert("one", "a")]);
    const recorded: string[] = [];
    const recorder = notifyingRecorder(
      { record: (_, { reason }) => void recorded.push(reason), flush: () => Promise.resolve() },
      notifier,
    );
    recorder.record(helmOp, note);

    assert.deepEqual(recorded, ["Ready"]);
    assert.equal(added[0]?.[1].event.message, "is ready");
  });
});
