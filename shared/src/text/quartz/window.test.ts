import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { parseWindow, windowAt } from "./index.ts";

describe("a window", () => {
  // biome-ignore format: a table
  const rows: readonly (readonly [
    expression: string, zone: string, duration: string, at: string, isOpen: boolean, nextStart?: string,
  ])[] = [
    ["0 0 22 * * *", "UTC", "1h", "2026-03-01T21:59:59Z", false],
    ["0 0 22 * * *", "UTC", "1h", "2026-03-01T22:00:00Z", true],
    ["0 0 22 * * *", "UTC", "1h", "2026-03-01T22:59:59Z", true],
    ["0 0 22 * * *", "UTC", "1h", "2026-03-01T23:00:00Z", false],
    ["0 0 22 * * *", "UTC", "4h", "2026-03-02T01:30:00Z", true, "2026-03-02T22:00:00Z"],
    ["0 0 22 ? * FRI", "UTC", "48h", "2026-03-08T12:00:00Z", true, "2026-03-13T22:00:00Z"],
    ["0 0 22 ? * FRI", "UTC", "48h", "2026-03-08T22:00:00Z", false, "2026-03-13T22:00:00Z"],
    ["0 30 2 * * ?", "Europe/Berlin", "1h", "2026-03-29T00:45:00Z", false, "2026-03-29T01:30:00Z"],
    ["0 30 2 * * ?", "Europe/Berlin", "1h", "2026-03-29T01:45:00Z", true],
    ["0 30 2 * * ?", "Europe/Berlin", "1h", "2026-10-25T00:45:00Z", false, "2026-10-25T01:30:00Z"],
    ["0 30 2 * * ?", "Europe/Berlin", "1h", "2026-10-25T01:45:00Z", true],
    ["0 0 0 L * ?", "UTC", "24h", "2026-02-28T13:00:00Z", true, "2026-03-31T00:00:00Z"],
    ["0 0 0 1 1 ? 2027", "UTC", "1h", "2027-01-01T00:30:00Z", true],
    ["0 0 0 1 1 ? 2027", "UTC", "1h", "2027-01-01T01:30:00Z", false],
  ];
  for (const [expression, location, duration, at, isOpen, nextStart] of rows) {
    test(`${expression} in ${location} of ${duration} is ${isOpen ? "open" : "closed"} at ${at}`, () => {
      const state = stateOf(expression, { location, duration, at });

      assert.equal(state.isOpen, isOpen);
      if (nextStart !== undefined) assert.equal(state.nextStartMs, Date.parse(nextStart));
    });
  }

  test("that has no further start changes once more, when it closes", () => {
    const once = { location: "UTC", duration: "1h" };
    const during = stateOf("0 0 0 1 1 ? 2027", { ...once, at: "2027-01-01T00:30:00Z" });
    const after = stateOf("0 0 0 1 1 ? 2027", { ...once, at: "2027-01-01T01:00:00Z" });

    assert.deepEqual(during, { isOpen: true, changesAtMs: Date.parse("2027-01-01T01:00:00Z") });
    assert.deepEqual(after, { isOpen: false });
  });

  test("has at each time on its own the state that it has when nothing before was asked", () => {
    const window = parseWindow({ schedule: "0 0/20 * * * ?", duration: "7m" });
    const from = Date.parse("2026-03-01T00:00:00Z");
    for (let at = from; at < from + 3_600_000; at += 30_000) {
      const { isOpen, changesAtMs } = windowAt(window, at);
      assert.equal(isOpen, ((at - from) / 60_000) % 20 < 7);
      assert.ok(changesAtMs !== undefined && changesAtMs > at);
      assert.equal(windowAt(window, changesAtMs).isOpen, !isOpen);
      assert.equal(windowAt(window, changesAtMs - 1).isOpen, isOpen);
    }
  });
});

describe("a window is refused", () => {
  // biome-ignore format: a table
  const rows: readonly (readonly [what: string, schedule: string, duration: string, problem: RegExp])[] = [
    ["without a duration", "0 0 22 * * *", "", /duration is missing: write for example 4h/],
    ["of no length", "0 0 22 * * *", "0s", /not longer than zero/],
    ["that opens and closes each second", "* * * * * *", "500ms", /shorter than a minute/],
    ["of a negative length", "0 0 22 * * *", "-1h", /not longer than zero/],
    ["in days", "0 0 22 * * *", "2d", /"2d" is not one of Go/],
    ["that ends when it starts again", "0 0 22 * * *", "24h", /duration is too long and overlaps with the next execution time: it is 24h, and two starts are only 24h apart$/],
    ["that overlaps on some days only", "0 0 8,20,22 * * *", "3h", /two starts are only 2h apart/],
    ["that overlaps on some days of the week only", "0 0 22 ? * MON,TUE", "30h", /two starts are only 24h apart/],
  ];
  for (const [what, schedule, duration, problem] of rows) {
    test(what, () => {
      assert.throws(() => parseWindow({ schedule, duration }), problem);
    });
  }

  test("where clocks are put forward in it, since two starts are an hour closer then", () => {
    const daily = { schedule: "0 30 2 * * ?", location: "Europe/Berlin" };

    assert.throws(() => parseWindow({ ...daily, duration: "23h" }), /only 23h apart/);
    assert.equal(parseWindow({ ...daily, duration: "22h59m" }).durationMs, (23 * 60 - 1) * 60_000);
  });
});

function stateOf(
  schedule: string,
  { location, duration, at }: Readonly<Record<"location" | "duration" | "at", string>>,
) {
  return windowAt(parseWindow({ schedule, location, duration }), Date.parse(at));
}
