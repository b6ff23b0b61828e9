import assert from "node:assert/strict";
import type { StageWindow } from "@flotilla/shared/api";
import { describe, test } from "vitest";
import { createInlineWindows } from "../../rules/index.ts";
import { closedWindowText, type WindowOf, windowsAt } from "./stage-windows.ts";

const nights: StageWindow = { cron: "0 0 22 * * ?", duration: "4h" };
const longer: StageWindow = { cron: "0 0 23 * * ?", duration: "5h" };
/** From 20 December on, in a zone ahead of UTC. */
const freeze: StageWindow = {
  ...{ cron: "0 0 0 20 12 ?", duration: "336h", location: "Europe/Berlin", deny: true },
};
const gone: StageWindow = { schedule: "gone" };
/** Permits until it begins to deny, at the same times. */
const always: StageWindow = { cron: "0 0 21 * * ?", duration: "6h", deny: true };

const inline = createInlineWindows();
const missing = {
  isOpen: false,
  changesAtMs: undefined,
  problem: "there is no Schedule gone",
} as const;
const windowOf: WindowOf = (window, atMs) =>
  window.schedule === undefined ? (inline.windowAt(window, atMs) ?? missing) : missing;

/** Closed: the sentence. */
type Row = readonly [
  what: string,
  windows: readonly StageWindow[],
  at: string,
  closed: string | undefined,
  looksAt: string | undefined,
];

describe("windows of a stage are", () => {
  // biome-ignore format: a table
  const rows: readonly Row[] = [
    ["open without any", [], "2026-03-01T12:00:00Z", undefined, undefined],
    ["closed before one", [nights], "2026-03-01T12:00:00Z", "window 0 0 22 * * ? opens at 2026-03-01T22:00:00Z", "2026-03-01T22:00:00Z"],
    ["open in one", [nights], "2026-03-02T01:00:00Z", undefined, "2026-03-02T02:00:00Z"],
    ["open while one of several is", [nights, longer], "2026-03-02T03:00:00Z", undefined, "2026-03-02T04:00:00Z"],
    ["closed until the first of several opens", [longer, nights], "2026-03-01T12:00:00Z", "window 0 0 22 * * ? opens at 2026-03-01T22:00:00Z", "2026-03-01T22:00:00Z"],
    ["open where only a window that denies exists, until it opens", [freeze], "2026-12-01T00:00:00Z", undefined, "2026-12-19T23:00:00Z"],
    ["closed while one that denies is open, whatever else is", [nights, freeze], "2026-12-24T23:00:00Z", "window 0 0 0 20 12 ? (Europe/Berlin) denies changes until 2027-01-02T23:00:00Z", "2027-01-02T23:00:00Z"],
    ["closed until the first opening after one that denies", [{ ...nights, duration: "30m" }, freeze], "2026-12-24T23:00:00Z", "window 0 0 0 20 12 ? (Europe/Berlin) denies changes until 2027-01-03T22:00:00Z", "2027-01-03T22:00:00Z"],
    ["closed where a Schedule does not exist", [gone], "2026-03-01T22:30:00Z", "there is no Schedule gone", undefined],
    ["closed where one that denies does not exist", [nights, { ...gone, deny: true }], "2026-03-01T22:30:00Z", "there is no Schedule gone", undefined],
    ["open in one beside another that does not exist", [nights, gone], "2026-03-01T22:30:00Z", undefined, "2026-03-02T02:00:00Z"],
    ["closed between the openings of one beside another that does not exist, which is named", [nights, gone], "2026-03-01T12:00:00Z", "there is no Schedule gone; another window opens at 2026-03-01T22:00:00Z", "2026-03-01T22:00:00Z"],
    ["closed for good after the last start", [{ cron: "0 0 0 1 1 ? 2027", duration: "1h" }], "2027-01-01T01:30:00Z", "window 0 0 0 1 1 ? 2027 does not open any more", undefined],
  ];
  for (const [what, windows, at, closed, looksAt] of rows) {
    test(what, () => {
      const found = windowsAt(windows, windowOf, Date.parse(at));

      assert.equal(found.closed && closedWindowText(found.closed), closed);
      assert.equal(found.isOpen, closed === undefined);
      const { changesAtMs } = found;
      assert.equal(changesAtMs, looksAt === undefined ? undefined : Date.parse(looksAt));
    });
  }
});

test("where one window denies all the time that another permits, it is looked at again much later", () => {
  const at = Date.parse("2026-03-01T12:00:00Z");

  const { isOpen, closed, changesAtMs = 0 } = windowsAt([nights, always], windowOf, at);

  assert.equal(isOpen, false);
  assert.equal(closed?.opensAtMs, undefined);
  assert.ok(changesAtMs > at + 30 * 24 * 3_600_000);
});
