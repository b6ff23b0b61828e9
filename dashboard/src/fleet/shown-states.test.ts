import assert from "node:assert/strict";
import type { App } from "@flotilla/shared/dashboard";
import { describe, test } from "vitest";
import { objectKey } from "./fleet-state.ts";
import { shownStates } from "./shown-states.ts";
import { app, cluster, fleet, nowMs } from "./testing/index.ts";

const long = "2026-01-01T11:58:00Z";
const absent = { kind: "HelmOp", namespace: "ns", name: "absent" } as const;
const blocked = app("web", "WaitApplied", { since: long, waitsFor: [absent] });
const suspended = app("web", "WaitApplied", { since: long, suspended: true });
const changing = app("db", "WaitApplied", { since: long });
const done = app("db", "Ready");

function shown(apps: readonly App[], unready = 1) {
  const oslo = { ...cluster("oslo", "WaitApplied"), desired: 2, ready: 2 - unready };
  const given = fleet(apps, [oslo]);
  const states = shownStates(given, nowMs);
  return {
    states,
    oslo,
    texts: [...apps.map((each) => states.ofApp(each)), states.ofColumn(0), states.ofCluster(oslo)],
  };
}

describe("an app that waits for what does not end by itself", () => {
  const rows: readonly (readonly [string, readonly App[], number, readonly string[]])[] = [
    ["is Blocked, as its clusters are", [blocked, done], 1, ["Blocked", "Ready", "Blocked"]],
    ["and is suspended is Blocked", [suspended, done], 1, ["Blocked", "Ready", "Blocked"]],
    [
      "leaves a cluster in progress in which another one changes",
      [blocked, changing],
      2,
      ["Blocked", "WaitApplied", "WaitApplied"],
    ],
    [
      "leaves a cluster in progress that has releases that are not seen",
      [blocked],
      2,
      ["Blocked", "WaitApplied"],
    ],
    [
      "is in progress for a minute",
      [{ ...blocked, since: "2026-01-01T11:59:30Z" }, done],
      1,
      ["WaitApplied", "Ready", "WaitApplied"],
    ],
  ];
  test.each(rows)("%s", (_, apps, unready, expected) => {
    assert.deepEqual(shown(apps, unready).texts, [...expected, expected.at(-1)]);
  });

  test("has Blocked releases where they are in progress, and others as they are", () => {
    const { states } = shown([blocked, done]);
    assert.equal(states.ofRelease(blocked, "WaitApplied"), "Blocked");
    assert.equal(states.ofRelease(blocked, "Ready"), "Ready");
    assert.equal(states.ofRelease(done, "WaitApplied"), "WaitApplied");
  });

  test("changes no cluster that has no column, or whose state is another", () => {
    const { states } = shown([blocked]);
    assert.equal(states.ofColumn(7), undefined);
    assert.equal(states.ofCluster({ ...cluster("rome", "Offline") }), "Offline");
    const failing = fleet([blocked], [cluster("oslo", "ErrApplied")]);
    assert.equal(shownStates(failing, nowMs).ofColumn(0), "ErrApplied");
    assert.ok(failing.rows.has(objectKey(blocked)));
  });
});
