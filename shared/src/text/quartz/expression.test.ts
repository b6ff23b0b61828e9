import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { AppError } from "../../runtime/errors/index.ts";
import { parseQuartz, zoneOf } from "./index.ts";

describe("an expression is refused", () => {
  // biome-ignore format: a table
  const rows: readonly (readonly [expression: string, problem: RegExp])[] = [
    ["", /has 0 fields and not 6 or 7/],
    ["   ", /has 0 fields/],
    ["0 22 * * *", /has 5 fields and not 6 or 7: second minute hour/],
    ["0 0 22 * * * 2027 1", /has 8 fields/],
    ["@every 5m", /"@every 5m" is none of @yearly, @monthly, @weekly, @daily, @hourly/],
    ["@Daily", /is none of @yearly/],
    ["@constructor", /is none of @yearly/],
    ["60 0 22 * * *", /second 60 is not between 0 and 59/],
    ["0 60 22 * * *", /minute 60 is not between 0 and 59/],
    ["0 0 25 * * *", /hour 25 is not between 0 and 23/],
    ["0 0 22,25 * * *", /hour 25 is not between 0 and 23/],
    ["0 0 22 32 * ?", /day of month 32 is not between 1 and 31/],
    ["0 0 22 0 * ?", /day of month 0 is not between 1 and 31/],
    ["0 0 22 * 13 ?", /month 13 is not between 1 and 12/],
    ["0 0 22 ? * 0", /day of week 0 is not between 1 and 7/],
    ["0 0 22 ? * 8", /day of week 8 is not between 1 and 7/],
    ["0/0 0 22 * * *", /step of the second "0\/0" is not a number between 1 and 59/],
    ["0/x 0 22 * * *", /step of the second/],
    ["0/5/5 0 22 * * *", /step of the second/],
    ["0 0 22-2 * * *", /range "22-2" of the hour ends before it begins/],
    ["0 0 1-2-3 * * *", /hour "1-2-3" is not a range/],
    ["0 0 22 ? * MON-", /day of week "" is not a number between 1 and 7, or a name such as SUN/],
    ["0 0 22 ? * FOO", /day of week "FOO" is not a number between 1 and 7, or a name/],
    ["0 0 22 * FOO ?", /month "FOO" is not a number between 1 and 12, or a name such as JAN/],
    ["0 0 22 1 * MON", /day field is set twice: the day of month is "1" and the day of week is "MON"/],
    ["0 0 22 L-31 * ?", /day of month 31 is not between 1 and 30/],
    ["0 0 22 32W * ?", /day of month 32/],
    ["0 0 22 1,L * ?", /day of month "L" is not a number/],
    ["0 0 22 ? * 2#6", /number after # in the day of week 6 is not between 1 and 5/],
    ["0 0 22 ? * 8#1", /day of week 8/],
    ["0 0 22 ? * 9L", /day of week 9/],
    ["0 0 22 * * ? 1969", /year 1969 is not between 1970 and 3940/],
    ["0 0 -1 * * *", /hour "" is not a number/],
    ["0 0 1.5 * * *", /hour "1.5" is not a number/],
    ["0".repeat(513), /has 513 characters, more than the limit of 512/],
  ];
  for (const [expression, problem] of rows) {
    test(`${JSON.stringify(expression.slice(0, 30))}: ${problem.source}`, () => {
      assert.throws(
        () => parseQuartz(expression),
        (thrown) =>
          thrown instanceof AppError &&
          thrown.code === "SCHEDULE_INVALID" &&
          problem.test(thrown.message),
      );
    });
  }
});

describe("a location is refused", () => {
  for (const location of ["Invalid/Location", "+01:00", "Europe/Berlin ", "../etc", "a".repeat(80)])
    test(JSON.stringify(location.slice(0, 20)), () => {
      assert.throws(() => zoneOf(location), /is not the name of a time zone/);
    });
});

test("a location that is absent, empty or Local is UTC", () => {
  for (const location of [undefined, null, "", "Local", "UTC"])
    assert.equal(zoneOf(location).name, "UTC");
});

test("names are read in any case, and lists may have ranges and steps", () => {
  const { days, months, hours } = parseQuartz("0 0 1,4-6,10/5 ? jan,Mar-APR mon-Wed,SAT");

  assert.deepEqual(days, { kind: "weekdays", days: [2, 3, 4, 7] });
  assert.deepEqual(months, [1, 3, 4]);
  assert.deepEqual(hours, [1, 4, 5, 6, 10, 15, 20]);
});
