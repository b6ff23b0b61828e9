import assert from "node:assert/strict";
import type { StageWindow } from "@flotilla/shared/api";
import { describe, test } from "vitest";
import { createInlineWindows } from "../../rules/index.ts";
import {
  closedWindowText,
  openingOf,
  type WindowFacts,
  type WindowOf,
  windowsAt,
} from "./stage-windows.ts";

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

const facts: WindowFacts = {
  windowOf,
  openingOf: (windows, atMs) => openingOf(windows, windowOf, atMs),
};

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
    ["closed for good after the last start", [{ cron: "0 0 0 1 1 ? 2027", duration: "1h" }], "2027-01-01T01:30:00Z", "window 0 0 0 1 1 ? 2027 does not open any more: change it", undefined],
  ];
  for (const [what, windows, at, closed, looksAt] of rows) {
    test(what, () => {
      const found = windowsAt(windows, facts, Date.parse(at));

      assert.equal(found.closed && closedWindowText(found.closed), closed);
      assert.equal(found.isOpen, closed === undefined);
      const { changesAtMs } = found;
      assert.equal(changesAtMs, looksAt === undefined ? undefined : Date.parse(looksAt));
    });
  }
});

describe("windows that are never open together", () => {
  const at = Date.parse("2026-03-01T12:00:00Z");

  test("say so, and are looked at again much later", () => {
    const { isOpen, closed, changesAtMs = 0 } = windowsAt([nights, always], facts, at);

    assert.equal(isOpen, false);
    assert.equal(
      closed && closedWindowText(closed),
      "window 0 0 22 * * ? is closed, and whenever another one permits changes one with deny is open, too: the windows are never open together, change one of them",
    );
    assert.ok(changesAtMs > at + 365 * 24 * 3_600_000);
  });

  test("are not called so where they were followed for a month only", () => {
    const hourly = { cron: "0 30 * * * ?", duration: "10m" };
    const denied = { cron: "0 20 * ? JAN-NOV *", duration: "30m", deny: true };

    const { closed } = windowsAt([hourly, denied], facts, at);

    assert.match(
      (closed && closedWindowText(closed)) ?? "",
      /^window 0 30 \* \* \* \? is closed, and until 2026-03-\d\dT\S+Z one with deny is open whenever another one permits changes: change one of them$/,
    );
  });

  test("but for a part of the year open then", () => {
    // In summer the clocks of Berlin are an hour further from UTC.
    const denied = { cron: "0 30 20 * * ?", duration: "90m", location: "UTC", deny: true };
    const evenings = { cron: "0 0 22 * * ?", duration: "1h", location: "Europe/Berlin" };

    const { closed, changesAtMs } = windowsAt([evenings, denied], facts, at);

    assert.equal(
      closed && closedWindowText(closed),
      "window 0 0 22 * * ? (Europe/Berlin) opens at 2026-03-29T20:00:00Z",
    );
    assert.equal(changesAtMs, Date.parse("2026-03-29T20:00:00Z"));
  });
});
