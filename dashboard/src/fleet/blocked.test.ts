import assert from "node:assert/strict";
import type { App, AppRef } from "@flotilla/shared/dashboard";
import { test } from "vitest";
import { blockerOf } from "./blocked.ts";
import { blockerText } from "./blocker-text.ts";
import { inNamespace } from "./in-namespace.ts";
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
  ["that may be hidden", waiting({ waitsFor: [{ ...base, hidden: true }] }), [], undefined],
  [
    "that does not exist in another namespace",
    waiting({ waitsFor: [{ kind: "HelmRelease", namespace: "other", name: "db" }] }),
    [],
    "db absent",
  ],
  [
    "that is in progress in another namespace",
    waiting({ waitsFor: [{ ...base, namespace: "other" }] }),
    [app("base", "WaitApplied", { namespace: "other" })],
    undefined,
  ],
  [
    "that no Bundle matches",
    waiting({ waitsFor: [], unmatched: ["tier=base"] }),
    [],
    "web unmatched",
  ],
  [
    "that no Bundle matches, since a moment ago",
    waiting({ waitsFor: [], unmatched: ["tier=base"], since: "2026-01-01T11:59:30Z" }),
    [],
    undefined,
  ],
  [
    "that waits for what no Bundle matches",
    waiting(),
    [app("base", "WaitApplied", { unmatched: ["tier=base"] })],
    "base unmatched",
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

test("an app is not blocked by what is only outside of the namespace that is shown", () => {
  const own = waiting({ waitsFor: [{ ...base, namespace: "other" }] });
  const other = app("base", "WaitApplied", { namespace: "other" });
  const shown = inNamespace(fleet([own, other], [cluster("paris", "Ready")]), "ns");

  assert.equal(blockerOf(shown, own, nowMs), undefined);
  const rejected = fleet([own, { ...other, state: "NotAccepted" }], [cluster("paris", "Ready")]);
  assert.equal(blockerOf(inNamespace(rejected, "ns"), own, nowMs)?.why, "rejected");
});

test("the selectors that no Bundle matches are named", () => {
  const own = waiting({ waitsFor: [], unmatched: ["tier=base", "!old"] });
  const found = blockerOf(fleet([own], []), own, nowMs);

  assert.equal(
    found && blockerText(found, "ns"),
    "HelmOp web depends on a Bundle that matches tier=base, and on one that matches !old, and there is none.",
  );
});

test("a suspended app is not blocked where all clusters have it", () => {
  const own = waiting({ suspended: true });
  const all = fleet([own], [cluster("paris", "Ready")], { installed: ["web"] });

  assert.equal(blockerOf(all, own, nowMs), undefined);
});
