import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { nextStarts, parseQuartz, zoneOf } from "./index.ts";

/** An expression, its zone, a time, and the starts that follow, in the offset of the zone. */
type Row = readonly [
  expression: string,
  zone: string,
  after: string,
  starts: readonly string[],
  /** Whether these are all that there are. */
  end?: "end",
];

// biome-ignore format: a table
const rows: readonly Row[] = [
  ["0 0 22 * * *", "UTC", "2026-03-01T21:59:59Z", ["2026-03-01T22:00:00Z", "2026-03-02T22:00:00Z"]],
  ["0 0 22 * * *", "UTC", "2026-03-01T22:00:00Z", ["2026-03-02T22:00:00Z"]],
  ["0 0 */3 * * *", "UTC", "2026-03-01T22:00:00Z", ["2026-03-02T00:00:00Z", "2026-03-02T03:00:00Z", "2026-03-02T06:00:00Z"]],
  ["*/5 * * * * *", "UTC", "2026-03-01T22:58:57Z", ["2026-03-01T22:59:00Z", "2026-03-01T22:59:05Z"]],
  ["0 0/15 8-10/2 * * ?", "UTC", "2026-03-02T08:46:00Z", ["2026-03-02T10:00:00Z", "2026-03-02T10:15:00Z", "2026-03-02T10:30:00Z"]],
  ["0 15 10 ? * MON-FRI", "UTC", "2026-03-06T11:00:00Z", ["2026-03-09T10:15:00Z"]],
  ["0 15 10 ? * 2-6", "UTC", "2026-03-06T11:00:00Z", ["2026-03-09T10:15:00Z"]],
  ["0 15 10 ? * 1", "UTC", "2026-03-06T11:00:00Z", ["2026-03-08T10:15:00Z"]],
  ["0 0 8-10,20 ? * mon,Wed", "UTC", "2026-03-02T09:00:00Z", ["2026-03-02T10:00:00Z", "2026-03-02T20:00:00Z", "2026-03-04T08:00:00Z"]],
  ["0 15 10 ? * 6L", "UTC", "2026-03-06T00:00:00Z", ["2026-03-27T10:15:00Z", "2026-04-24T10:15:00Z", "2026-05-29T10:15:00Z"]],
  ["0 15 10 ? * L", "UTC", "2026-03-06T00:00:00Z", ["2026-03-28T10:15:00Z", "2026-04-25T10:15:00Z"]],
  ["0 15 10 ? * 6#3", "UTC", "2026-03-06T00:00:00Z", ["2026-03-20T10:15:00Z", "2026-04-17T10:15:00Z"]],
  ["0 15 10 ? * FRI#5", "UTC", "2026-03-06T00:00:00Z", ["2026-05-29T10:15:00Z", "2026-07-31T10:15:00Z"]],
  ["0 15 10 L * ?", "UTC", "2026-02-01T00:00:00Z", ["2026-02-28T10:15:00Z", "2026-03-31T10:15:00Z"]],
  ["0 15 10 L-2 * ?", "UTC", "2026-02-01T00:00:00Z", ["2026-02-26T10:15:00Z", "2026-03-29T10:15:00Z"]],
  ["0 0 9 15W * ?", "UTC", "2026-02-01T00:00:00Z", ["2026-02-16T09:00:00Z"]],
  ["0 0 9 1W * ?", "UTC", "2026-07-31T00:00:00Z", ["2026-08-03T09:00:00Z"]],
  ["0 0 9 LW * ?", "UTC", "2026-05-01T00:00:00Z", ["2026-05-29T09:00:00Z"]],
  ["@weekly", "UTC", "2026-01-31T12:00:00Z", ["2026-02-01T00:00:00Z", "2026-02-08T00:00:00Z"]],
  ["@daily", "UTC", "2026-01-31T12:00:00Z", ["2026-02-01T00:00:00Z"]],
  ["@hourly", "UTC", "2026-01-31T12:00:00Z", ["2026-01-31T13:00:00Z"]],
  ["@monthly", "UTC", "2026-01-31T12:00:00Z", ["2026-02-01T00:00:00Z", "2026-03-01T00:00:00Z"]],
  ["@yearly", "UTC", "2026-01-31T12:00:00Z", ["2027-01-01T00:00:00Z"]],
  ["0 0 0 1 1 ? 2027", "UTC", "2026-01-31T00:00:00Z", ["2027-01-01T00:00:00Z"], "end"],
  ["0 30 2 * * ?", "Europe/Berlin", "2026-03-28T12:00:00Z", ["2026-03-29T03:30:00+02:00", "2026-03-30T02:30:00+02:00"]],
  ["0 0 2 * * ?", "Europe/Berlin", "2026-03-28T12:00:00Z", ["2026-03-29T03:00:00+02:00", "2026-03-30T02:00:00+02:00"]],
  ["0 30 2 * * ?", "Europe/Berlin", "2026-10-24T12:00:00Z", ["2026-10-25T02:30:00+01:00", "2026-10-26T02:30:00+01:00"]],
  ["0 0 * * * ?", "Europe/Berlin", "2026-10-24T23:30:00Z", ["2026-10-25T02:00:00+01:00", "2026-10-25T03:00:00+01:00"]],
  ["0 0 22 * * ?", "Asia/Kolkata", "2026-03-07T12:00:00Z", ["2026-03-07T16:30:00Z", "2026-03-08T16:30:00Z"]],
  ["  0   0\t22 *  * *  ", "", "2026-03-01T21:59:59.999Z", ["2026-03-01T22:00:00Z"]],
];

describe("an expression starts", () => {
  for (const [expression, zone, after, starts, end] of rows) {
    test(`${expression} in ${zone || "no zone"} after ${after} at ${starts.join(", ")}`, () => {
      assert.deepEqual(
        startsOf(expression, zone, { after, count: starts.length + (end === undefined ? 0 : 1) }),
        starts.map((start) => new Date(start).toISOString()),
      );
    });
  }
});

describe("where go-quartz is wrong, an expression", () => {
  // biome-ignore format: a table
  const faults: readonly (readonly [what: string, ...Row])[] = [
    ["starts on no other day where a month lacks one", "0 0 0 31 * ?", "UTC", "2026-01-31T12:00:00Z", ["2026-03-31T00:00:00Z", "2026-05-31T00:00:00Z"]],
    ["starts on 29 February in leap years only", "0 0 0 29 2 ?", "UTC", "2026-01-01T00:00:00Z", ["2028-02-29T00:00:00Z", "2032-02-29T00:00:00Z"]],
    ["does not start at midnight after its day of the week", "0 0 * ? * MON", "UTC", "2026-03-02T22:30:00Z", ["2026-03-02T23:00:00Z", "2026-03-09T00:00:00Z"]],
    ["starts in the night when clocks go back, asked in its repeated hour", "0 30 2 * * ?", "Europe/Berlin", "2026-10-25T00:45:00Z", ["2026-10-25T01:30:00Z"]],
    ["starts at each of its times on the day that is nearest to another one", "0 0 8,20 LW * ?", "UTC", "2026-01-30T07:00:00Z", ["2026-01-30T08:00:00Z", "2026-01-30T20:00:00Z", "2026-02-27T08:00:00Z"]],
    ["starts on the first of a month where that is nearest to the second", "0 0 9 2W * ?", "UTC", "2026-12-10T00:00:00Z", ["2027-01-01T09:00:00Z", "2027-02-02T09:00:00Z"]],
    ["does not start after midnight in a month that it does not name", "0 0 * * DEC,JUN ?", "UTC", "2026-12-31T23:30:00Z", ["2027-06-01T00:00:00Z"]],
    ["starts on each fifth day of the week", "0 0 9 ? * FRI#5", "UTC", "2026-01-01T00:00:00Z", ["2026-01-30T09:00:00Z", "2026-05-29T09:00:00Z"]],
    ["starts on a fifth day of the week in February, about which go-quartz never ends", "0 0 9 ? 2 SUN#5", "UTC", "2026-01-01T00:00:00Z", ["2032-02-29T09:00:00Z", "2060-02-29T09:00:00Z"]],
    ["starts on the first day after a year that it does not name", "0 0 9 ? * 2-3 2026-2031/2", "UTC", "2026-12-29T12:00:00Z", ["2028-01-03T09:00:00Z", "2028-01-04T09:00:00Z"]],
    ["starts once, at the second of two equal local times, west of Greenwich too", "0 30 1 * * ?", "America/New_York", "2026-10-31T12:00:00Z", ["2026-11-01T01:30:00-05:00", "2026-11-02T01:30:00-05:00"]],
    ["starts later where its local time does not exist, west of Greenwich too", "0 30 2 * * ?", "America/New_York", "2026-03-07T12:00:00Z", ["2026-03-08T03:30:00-04:00", "2026-03-09T02:30:00-04:00"]],
  ];
  for (const [what, expression, zone, after, starts] of faults) {
    test(what, () => {
      assert.deepEqual(
        startsOf(expression, zone, { after, count: starts.length }),
        starts.map((start) => new Date(start).toISOString()),
      );
    });
  }
});

describe("clocks that change at midnight, and by half an hour", () => {
  // biome-ignore format: a table
  const nights: readonly Row[] = [
    ["0 30 0 * * ?", "Asia/Beirut", "2026-03-28T12:00:00Z", ["2026-03-29T01:30:00+03:00", "2026-03-30T00:30:00+03:00"]],
    ["0 30 23 * * ?", "Asia/Beirut", "2026-10-24T12:00:00Z", ["2026-10-24T23:30:00+02:00", "2026-10-25T23:30:00+02:00"]],
    ["0 15,45 2 * * ?", "Australia/Lord_Howe", "2026-10-03T12:00:00Z", ["2026-10-04T02:45:00+11:00", "2026-10-05T02:15:00+11:00"]],
  ];
  for (const [expression, zone, after, starts] of nights) {
    test(`${expression} in ${zone} starts at ${starts.join(", ")}`, () => {
      assert.deepEqual(
        startsOf(expression, zone, { after, count: starts.length }),
        starts.map((start) => new Date(start).toISOString()),
      );
    });
  }
});

test("an expression of days that no month has never starts", () => {
  const after = "2026-01-01T00:00:00Z";

  assert.deepEqual(startsOf("0 0 0 31 2 ?", "UTC", { after, count: 1 }), []);
  assert.deepEqual(startsOf("0 0 0 1 1 ? 2020", "UTC", { after, count: 1 }), []);
});

function startsOf(
  expression: string,
  zone: string,
  { after, count }: { readonly after: string; readonly count: number },
): readonly string[] {
  const afterMs = Date.parse(after);
  return nextStarts(parseQuartz(expression), zoneOf(zone), { afterMs, count }).map((start) =>
    new Date(start).toISOString(),
  );
}
