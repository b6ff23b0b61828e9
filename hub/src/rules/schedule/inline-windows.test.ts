import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { createInlineWindows, type InlineWindow } from "./inline-windows.ts";

const nights: InlineWindow = { cron: "0 0 22 * * ?", duration: "4h" };
const longer: InlineWindow = { cron: "0 0 23 * * ?", duration: "5h" };
/** From 20 December on, in a zone ahead of UTC. */
const freeze: InlineWindow = {
  ...{ cron: "0 0 0 20 12 ?", duration: "336h", location: "Europe/Berlin", deny: true },
};
const wrong: InlineWindow = { cron: "0 0 25 * * ?", duration: "4h" };

describe("windows of a stage are", () => {
  // biome-ignore format: a table
  const rows: readonly (readonly [what: string, windows: readonly InlineWindow[], at: string, isOpen: boolean, changesAt: string | undefined])[] = [
    ["open without any", [], "2026-03-01T12:00:00Z", true, undefined],
    ["closed before one", [nights], "2026-03-01T12:00:00Z", false, "2026-03-01T22:00:00Z"],
    ["open in one", [nights], "2026-03-02T01:00:00Z", true, "2026-03-02T02:00:00Z"],
    ["open until the last of those closes that follow each other", [nights, longer], "2026-03-01T22:30:00Z", true, "2026-03-02T04:00:00Z"],
    ["open where only a window that denies exists, until it opens", [freeze], "2026-12-01T00:00:00Z", true, "2026-12-19T23:00:00Z"],
    ["closed while one that denies is open, whatever else is", [nights, freeze], "2026-12-24T23:00:00Z", false, "2027-01-02T23:00:00Z"],
    ["closed until the first opening after one that denies", [{ ...nights, duration: "30m" }, freeze], "2026-12-24T23:00:00Z", false, "2027-01-03T22:00:00Z"],
    ["never open where one denies all the time that another permits", [nights, { ...longer, cron: "0 0 21 * * ?", duration: "6h", deny: true }], "2026-03-01T12:00:00Z", false, undefined],
  ];
  for (const [what, windows, at, isOpen, changesAt] of rows) {
    test(what, () => {
      assert.deepEqual(createInlineWindows().windowsAt(windows, Date.parse(at)), {
        isOpen,
        changesAtMs: changesAt === undefined ? undefined : Date.parse(changesAt),
      });
    });
  }

  test("closed where one is invalid, and say what is wrong", () => {
    const inline = createInlineWindows();
    const at = Date.parse("2026-03-01T22:30:00Z");

    const problem = "the hour 25 is not between 0 and 23";
    const closed = { isOpen: false, changesAtMs: undefined, problem };
    assert.deepEqual(inline.windowsAt([nights, wrong], at), closed);
    assert.deepEqual(inline.windowsAt([{ ...wrong, deny: true }], at), closed);
  });
});

test("one window has a state whatever it denies, and none where it is invalid", () => {
  const inline = createInlineWindows();
  const at = Date.parse("2026-03-01T22:30:00Z");

  const open = { isOpen: true, changesAtMs: Date.parse("2026-03-02T02:00:00Z") };
  assert.deepEqual(inline.windowAt(nights, at), open);
  assert.deepEqual(inline.windowAt({ ...nights, deny: true }, at), open);
  assert.equal(inline.windowAt(wrong, at), undefined);
});
