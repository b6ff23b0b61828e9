import assert from "node:assert/strict";
import { growthOf } from "@flotilla/shared/time/testing";
import * as fc from "fast-check";
import { test } from "vitest";
import { AppError } from "../../runtime/errors/index.ts";
import { parseConstraint, satisfies } from "./constraint.ts";
import { constraintText, groupText, strictVersionText, versionText } from "./testing/index.ts";
import { parseVersion, type Version } from "./version.ts";

function version(text: string): Version {
  const read = parseVersion(text);
  assert.ok(read !== undefined, text);
  return read;
}

function isInvalid(thrown: unknown): boolean {
  return thrown instanceof AppError && thrown.code === "VERSION_CONSTRAINT_INVALID";
}

/** A text that is a constraint; invalid texts have their own property. */
const validGroup = groupText.filter((text) => {
  try {
    return parseConstraint(text).groups.length === 1;
  } catch {
    return false;
  }
});

const rejections: readonly (readonly [text: string, why: string])[] = [
  ["foo", '"foo" is not a version or a comparison'],
  ["", "it is empty"],
  ["1.2.3 ||", 'one side of "||" is empty'],
  [">=1<2", 'a space or a comma is missing before "<2"'],
  ["1.2.3.4", '".4" cannot follow a version'],
  [">=1,,<2", "nothing precedes a comma"],
  ["1,", "nothing follows the comma"],
  ["^1.2.3-01", '"1.2.3-01" is not a version'],
  ["1".repeat(513), "it is longer than 512 bytes"],
  [Array(33).fill("1").join("||"), "it has more than 32 alternatives"],
];
for (const [text, why] of rejections) {
  test(`${JSON.stringify(text.slice(0, 20))} is rejected because ${why}`, () => {
    assert.throws(
      () => parseConstraint(text),
      (thrown) => {
        assert.ok(isInvalid(thrown) && thrown instanceof AppError);
        assert.match(thrown.message, /^improper constraint: .*: .*; write for example "\^1\.2"/);
        assert.ok(thrown.message.includes(`: ${why};`), thrown.message);
        assert.ok(thrown.message.length < 300);
        return true;
      },
    );
  });
}

test("any text is a constraint or is rejected with VERSION_CONSTRAINT_INVALID", () => {
  const anyText = fc.oneof(constraintText, fc.string({ unit: "binary" }), fc.string());

  fc.assert(
    fc.property(anyText, (text) => {
      try {
        assert.equal(parseConstraint(text).text, text);
      } catch (thrown) {
        assert.ok(isInvalid(thrown), String(thrown));
      }
    }),
    { numRuns: 3000 },
  );
});

test("a long text with many gaps is rejected in linear time", () => {
  const growth = growthOf({ small: 64, large: 512 }, (length) => {
    for (const text of [
      `${"1  ".repeat(length / 3)}!`,
      `${" ".repeat(length - 1)}-`,
      "1-1.".repeat(length / 4),
      `${"1 - ".repeat(length / 4 - 1)}!`,
    ]) {
      assert.throws(() => parseConstraint(text), isInvalid);
    }
  });

  assert.ok(growth < 1.5, `it grows with the power of ${growth}`);
});

test("a version satisfies the constraint with its text", () => {
  const readable = fc
    .oneof(versionText, strictVersionText)
    .filter((text) => parseVersion(text) !== undefined);
  // One or two parts leave the rest open, and then "=1-rc" is not about 1.0.0-rc alone.
  const full = readable.filter((text) => /^v?\d+\.\d+\.\d+/.test(text));

  fc.assert(
    fc.property(full, (text) => satisfies(parseConstraint(`=${text}`), version(text))),
    { numRuns: 1000 },
  );
});

test("AND is intersection when both sides accept pre-releases, or neither does", () => {
  fc.assert(
    fc.property(validGroup, validGroup, strictVersionText, (left, right, text) => {
      const [a, b, both] = [left, right, `${left}, ${right}`].map(parseConstraint);
      assert.ok(a !== undefined && b !== undefined && both !== undefined);
      fc.pre(a.groups[0]?.prereleases === b.groups[0]?.prereleases);

      const candidate = version(text);
      return satisfies(both, candidate) === (satisfies(a, candidate) && satisfies(b, candidate));
    }),
    { numRuns: 1000 },
  );
});

test("OR is union, in any order of its sides", () => {
  // With spaces: Go parses the "0||0" of "<0||0 - 1" as one number, and so do we.
  fc.assert(
    fc.property(
      fc.array(validGroup, { minLength: 2, maxLength: 4 }),
      strictVersionText,
      (sides, text) => {
        const candidate = version(text);
        const expected = sides.some((side) => satisfies(parseConstraint(side), candidate));

        assert.equal(satisfies(parseConstraint(sides.join(" || ")), candidate), expected);
        assert.equal(
          satisfies(parseConstraint(sides.toReversed().join(" || ")), candidate),
          expected,
        );
      },
    ),
    { numRuns: 1000 },
  );
});
