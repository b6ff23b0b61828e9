/** Alerts of tenants that want to hold up the hub by what they select. */
import assert from "node:assert/strict";
import { type Alert, type EventSource, maxEventSources } from "@flotilla/shared/flux";
import { createStore } from "@flotilla/shared/kube/cache";
import { createPatterns } from "@flotilla/shared/regex";
import { createFakeClock } from "@flotilla/shared/time/testing";
import { Registry } from "prom-client";
import { describe, test } from "vitest";
import { aHelmOp } from "../../testing/index.ts";
import { alertProblems, type CheckedObject } from "./alert-check.ts";
import { createNotificationMetrics } from "./metrics.ts";
import { createNotifier } from "./notifier.ts";
import type { WrittenAlert } from "./objects.ts";
import { createRecentEvents } from "./recent-events.ts";

const note = { type: "Normal", reason: "Ready", action: "Deploy", note: "is ready" } as const;

function alert(
  name: string,
  eventSources: readonly EventSource[],
  namespace = "hostile",
): WrittenAlert {
  const spec = { providerRef: { name: "chat" }, eventSeverity: "info", eventSources } as const;
  return { metadata: { namespace, name }, spec };
}

function start(alerts: readonly Alert[]) {
  const clock = createFakeClock();
  const store = createStore<Alert>();
  for (const each of alerts) store.set(each);
  const sent: string[] = [];
  const remarks: string[] = [];
  const notifier = createNotifier({
    alerts: store,
    outbox: {
      add: (_, entry) => {
        sent.push(entry.alert);
        return Promise.resolve();
      },
    },
    rules: { crossNamespace: true, patterns: createPatterns() },
    recent: createRecentEvents(clock),
    reporter: { controller: "hub", instance: "hub-0" },
    events: {
      record: ({ metadata }, { note: text }) => void remarks.push(`${metadata.name}: ${text}`),
      flush: () => Promise.resolve(),
    },
    metrics: createNotificationMetrics(new Registry(), () => 0),
    clock,
  });
  let events = 0;
  const notify = (): void => {
    events += 1;
    notifier.notify(aHelmOp(), { ...note, note: `is ready ${events}` });
  };
  return { notifier, notify, sent, remarks };
}

/** Calls `onCompare` when it is compared with an event, which begins with `suspend`. */
function observed({ metadata, spec }: WrittenAlert, onCompare: (name: string) => void): Alert {
  return {
    metadata,
    spec: {
      ...spec,
      get suspend() {
        onCompare(metadata.name);
        return false;
      },
    },
  };
}

const absent = (count: number): readonly EventSource[] =>
  Array.from({ length: count }, (_, at) => ({ kind: "HelmRelease", name: `absent-${at}` }));
/** Sources that are for the object of the event, but for their labels. */
const labelled = (count: number): readonly EventSource[] =>
  Array.from({ length: count }, (_, at) => ({
    ...{ kind: "HelmOp", name: "*", namespace: "*" },
    matchLabels: { absent: `${at}` },
  }));
const everything = [{ kind: "HelmOp", name: "*", namespace: "*" }] as const;

describe("an event", () => {
  test("is compared with the Alerts alone that name its object", async () => {
    const compared: string[] = [];
    const add = (name: string) => void compared.push(name);
    const others = Array.from({ length: 100 }, (_, at) => alert(`a-${at}`, absent(20)));
    const { notifier, notify, sent } = start(
      [...others, alert("good", everything)].map((each) => observed(each, add)),
    );
    notify();
    await notifier.stored();

    assert.deepEqual(sent, ["hostile/good"]);
    assert.deepEqual(compared, ["good"]);
  });

  test("is not compared with more sources than the limit", async () => {
    const { notifier, notify, sent } = start([
      alert("too-many", [...everything, ...absent(maxEventSources)]),
      alert("enough", [...absent(maxEventSources - 1), ...everything]),
    ]);
    notify();
    await notifier.stored();

    assert.deepEqual(sent, ["hostile/enough"]);
  });

  test("is compared with the sources of a namespace for a limited time, and sent to all others", async () => {
    const hostile = Array.from({ length: 4_000 }, (_, at) => alert(`a-${at}`, labelled(500)));
    const { notifier, notify, sent, remarks } = start([
      ...hostile,
      alert("good", everything, "prod"),
    ]);
    notify();
    await notifier.stored();

    assert.deepEqual(sent, ["prod/good"]);
    assert.match(remarks.at(-1) ?? "", /^a-3999: eventSources are ignored: .* takes too long/);
  });

  test("yields to the event loop between Alerts", async () => {
    const order: string[] = [];
    const spin = (name: string): void => {
      const until = performance.now() + 6;
      while (performance.now() < until);
      order.push(name);
    };
    const slow = Array.from({ length: 8 }, (_, at) => observed(alert(`a-${at}`, everything), spin));
    const { notifier, notify } = start(slow);
    notify();
    setImmediate(() => order.push("other"));
    await notifier.stored();

    assert.ok(order.includes("other"));
    assert.ok(order.indexOf("other") < order.indexOf("a-7"), order.join());
  });
});

describe("the check of an Alert", () => {
  const objects: readonly CheckedObject[] = Array.from({ length: 5_000 }, (_, at) => ({
    metadata: { namespace: "hostile", name: `release-${at}`, labels: { app: `${at}` } },
  }));

  function check(eventSources: readonly EventSource[]) {
    const seen = { objects: 0 };
    const found = objects.map((object) => ({
      get metadata() {
        seen.objects += 1;
        return object.metadata;
      },
    }));
    const byName = new Map(found.map((each) => [each.metadata.name, each]));
    seen.objects = 0;
    const problems = alertProblems({
      alert: alert("a", eventSources),
      provider: { metadata: { name: "chat" }, spec: { type: "generic" } },
      crossNamespace: false,
      objectsOf: () => ({
        find: (_, name) => (name === "*" ? found : [byName.get(name) ?? []].flat()),
      }),
    });
    return { problems, seen };
  }

  test("does not look at all objects for each name", async () => {
    const { problems, seen } = check(absent(maxEventSources));

    assert.match((await problems).join(), /HelmRelease hostile\/absent-9: .*; and 490 more$/);
    assert.equal(seen.objects, 0);
  });

  test("rejects more sources than the limit without looking for their objects", async () => {
    const { problems, seen } = check([...absent(15_000), { kind: "HelmRelease", name: "*" }]);

    assert.deepEqual(await problems, [
      "selects no object: eventSources has 15001 entries; the limit is 500: select objects by `*` and their labels, or write several Alerts",
    ]);
    assert.equal(seen.objects, 0);
  });

  test("yields to the event loop while it compares labels", async () => {
    let iterations = 0;
    const count = (): void => {
      iterations += 1;
      next = setImmediate(count);
    };
    let next = setImmediate(count);
    const { problems } = check(
      Array.from({ length: 500 }, (_, at) => ({
        ...{ kind: "HelmRelease", name: "*" },
        matchLabels: { app: `absent-${at}` },
      })),
    );
    await problems;
    clearImmediate(next);

    assert.ok(iterations > 2, `${iterations} iterations`);
  });
});
