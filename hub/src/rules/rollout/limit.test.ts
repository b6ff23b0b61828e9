import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { type CountOrShare, limitOf, limitProblem } from "./limit.ts";

const invalid = undefined;

const textOf = (value: CountOrShare): string =>
  value === undefined ? "unset" : JSON.stringify(value);

describe("a limit of clusters, by default all", () => {
  const rows: readonly (readonly [
    count: number,
    value: CountOrShare,
    limit: number | undefined,
  ])[] = [
    [10, 5, 5],
    [10, 15, 10],
    [0, 15, 1],
    [10, -1, 0],
    [10, 0, 0],
    [10, undefined, 10],
    [10, null, 10],
    [10, "50%", 5],
    [11, "100%", 11],
    [10, "150%", 10],
    [10, "10%", 1],
    [5, "10%", 1],
    [10, "49%", 4],
    [3, "33.4%", 1],
    [3, "33.3%", 1],
    [7, "14.3%", 1],
    [200, "0.4%", 1],
    [230, "25%", 57],
    [999, "12.5%", 124],
    [99, "1%", 1],
    [10, "25", 25],
    [10, "1e1%", 1],
    [10, "0%", 1],
    [10, "-10%", 1],
    [10, "0", invalid],
    [10, "abc", invalid],
    [10, "abc%", invalid],
    [10, " 10%", invalid],
    [10, "", invalid],
    [10, "%", invalid],
    [10, 1.5, invalid],
    [0, "abc", invalid],
  ];
  for (const [count, value, limit] of rows)
    test(`${textOf(value)} of ${count} is ${limit ?? "invalid"}`, () => {
      assert.equal(limitOf(value, count, "100%"), limit);
    });
});

describe("a limit of partitions, by default none", () => {
  const rows: readonly (readonly [count: number, value: CountOrShare, limit: number])[] = [
    [10, "20%", 2],
    [4, "25%", 1],
    [4, 1, 1],
    [4, 10, 4],
    [4, -1, 0],
    [4, undefined, 0],
    [1, "0%", 1],
  ];
  for (const [count, value, limit] of rows)
    test(`${textOf(value)} of ${count} is ${limit}`, () => {
      assert.equal(limitOf(value, count, 0), limit);
    });
});

test("an invalid limit is named with its field and value", () => {
  assert.equal(
    limitProblem("spec.rolloutStrategy.maxUnavailable", "abc%"),
    'spec.rolloutStrategy.maxUnavailable is "abc%": write a whole number, or a percentage that ends with %',
  );
  assert.equal(limitProblem("spec.rolloutStrategy.maxUnavailable", undefined), undefined);
  assert.equal(limitProblem("spec.rolloutStrategy.maxUnavailable", "0%"), undefined);
});
