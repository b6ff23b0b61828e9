import assert from "node:assert/strict";
import { parseWindow, type Window, windowAt } from "@flotilla/shared/quartz";
import { describe, test } from "vitest";
import { anyOpen, closed, nextOpening } from "./next-opening.ts";

const at = Date.parse("2026-03-01T12:00:00Z");

function window(schedule: string, duration: string, location = "UTC"): Window {
  return parseWindow({ schedule, duration, location });
}

function stateOf(each: Window, atMs: number) {
  const { isOpen, changesAtMs } = windowAt(each, atMs);
  return { isOpen, changesAtMs };
}

/** The next time at which one of `permits` is open and none of `denies`. */
function openingOf(permits: readonly Window[], denies: readonly Window[]) {
  const conditions = [anyOpen(permits, stateOf), ...denies.map((each) => closed(each, stateOf))];
  return nextOpening(conditions, at);
}

const nights = window("0 0 22 * * ?", "4h");

describe("conditions hold together next", () => {
  // biome-ignore format: a table
  const rows: readonly (readonly [what: string, permits: readonly Window[], denies: readonly Window[], opens: string | undefined])[] = [
    ["at once where they do", [window("0 0 11 * * ?", "2h")], [], "2026-03-01T12:00:00Z"],
    ["when the first that permits opens", [nights, window("0 0 21 * * ?", "1h")], [], "2026-03-01T21:00:00Z"],
    ["when one that denies closes while another permits", [nights], [window("0 0 20 * * ?", "3h")], "2026-03-01T23:00:00Z"],
    ["when the last of several that deny closes", [nights], [window("0 0 20 * * ?", "3h"), window("0 0 22 * * ?", "3h")], "2026-03-02T01:00:00Z"],
    ["after a freeze of two years", [nights], [window("0 0 0 1 1 ? 2026", "17520h")], "2028-01-01T00:00:00Z"],
    ["never where one always denies what another permits", [nights], [window("0 0 21 * * ?", "6h")], undefined],
    ["never after the last start", [window("0 0 0 1 1 ? 2025", "1h")], [], undefined],
    ["never where two deny at any time", [nights], [window("0 0 0 * * ?", "12h"), window("0 0 12 * * ?", "12h")], undefined],
  ];
  for (const [what, permits, denies, opens] of rows) {
    test(what, () => {
      const opening = openingOf(permits, denies);

      if (opens === undefined) assert.ok(opening.kind === "closed" && opening.isNever);
      else assert.deepEqual(opening, { kind: "opens", atMs: Date.parse(opens) });
    });
  }

  test("not before a time where they change too often to be followed for a year", () => {
    const opening = openingOf(
      [window("0 30 * * * ?", "10m")],
      [window("0 20 * ? JAN-NOV *", "30m")],
    );

    assert.ok(opening.kind === "closed" && !opening.isNever);
    assert.ok((opening.untilMs ?? 0) > at + 7 * 24 * 3_600_000);
  });
});

test("the next opening is that of a search minute by minute", () => {
  const permits = [window("0 15 0/5 * * ?", "2h"), window("0 0 9 ? * MON,TUE", "30m")];
  const denies = [window("0 0 0/3 * * ?", "100m"), window("0 0 0 ? * SUN", "23h59m")];
  const opening = openingOf(permits, denies);
  assert.ok(opening.kind === "opens");
  const isOpenAt = (atMs: number) =>
    permits.some((each) => windowAt(each, atMs).isOpen) &&
    !denies.some((each) => windowAt(each, atMs).isOpen);

  let atMs = at;
  while (!isOpenAt(atMs)) atMs += 60_000;

  assert.equal(opening.atMs, atMs);
});
