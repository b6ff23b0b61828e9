import assert from "node:assert/strict";
import type { App, AppRef } from "@flotilla/shared/dashboard";
import { test } from "vitest";
import { blockerOf } from "./blocked.ts";
import { app, cluster, fleet, nowMs } from "./testing/index.ts";

const base: AppRef = { kind: "HelmOp", namespace: "ns", name: "base" };
const long = "2026-01-01T11:58:00Z";
const waiting = (more: Partial<App> = {}) =>
  app("web", "WaitApplied", { since: long, waitsFor: [base], ...more });

const rows: readonly (readonly [
  what: string,
  app: App,
  others: readonly App[],
  why: string | undefined,
])[] = [
  ["that does not exist", waiting(), [], "base absent"],
  ["since a moment ago", waiting({ since: "2026-01-01T11:59:30Z" }), [], undefined],
  ["since an unknown time", app("web", "WaitApplied", { waitsFor: [base] }), [], undefined],
  ["when it is ready itself", { ...waiting(), state: "Ready" }, [], undefined],
  [
    "of a namespace that may be hidden",
    waiting({ waitsFor: [{ ...base, namespace: "other" }] }),
    [],
    undefined,
  ],
  [
    "of a kind that may be hidden",
    waiting({ waitsFor: [{ ...base, kind: "HelmRelease" }] }),
    [],
    undefined,
  ],
  ["that is rejected", waiting(), [app("base", "NotAccepted", { desired: 0 })], "base rejected"],
  ["that fails", waiting(), [app("base", "ErrApplied")], "base rejected"],
  [
    "that is rejected but ready everywhere",
    waiting(),
    [app("base", "NotAccepted", { ready: 2 })],
    undefined,
  ],
  ["that is ready", waiting(), [app("base", "Ready", { ready: 2 })], undefined],
  [
    "that is suspended before it is ready",
    waiting(),
    [app("base", "OutOfSync", { suspended: true })],
    "base suspended",
  ],
  ["that is in progress", waiting(), [app("base", "WaitApplied", { ready: 1 })], undefined],
  [
    "that is a Bundle without a HelmOp",
    waiting(),
    [app("base", "NotReady", { kind: "Bundle" })],
    "base rejected",
  ],
  [
    "that waits for something rejected",
    waiting(),
    [
      app("base", "WaitApplied", { waitsFor: [{ ...base, name: "first" }] }),
      app("first", "NotAccepted"),
    ],
    "first rejected",
  ],
  [
    "that waits for it",
    waiting(),
    [app("base", "WaitApplied", { waitsFor: [{ ...base, name: "web" }] })],
    "web blocked",
  ],
  [
    "while it is suspended, and clusters lack it",
    waiting({ suspended: true }),
    [],
    "web suspended",
  ],
];
test.each(rows)("an app that waits for something %s", (_, own, others, why) => {
  const found = blockerOf(fleet([own, ...others], [cluster("paris", "Ready")]), own, nowMs);

  assert.equal(found && `${found.ref.name} ${found.why}`, why);
});

test("an app is blocked by a dependency that is ready, but not deployed to a cluster that waits", () => {
  const own = waiting();
  const base = app("base", "Ready", { ready: 2 });
  const all = fleet([own, base], [cluster("paris", "Ready")]);
  const found = blockerOf({ ...all, rows: new Map([...all.rows].slice(0, 1)) }, own, nowMs);

  assert.deepEqual(found && [found.ref.name, found.why], ["base", "elsewhere"]);
});

test("a suspended app is not blocked where all clusters have it", () => {
  const own = waiting({ suspended: true });
  const all = fleet([own], [cluster("paris", "Ready")], { installed: ["web"] });

  assert.equal(blockerOf(all, own, nowMs), undefined);
});
