import assert from "node:assert/strict";
import * as fc from "fast-check";
import { test } from "vitest";
import { parseConstraint, satisfies } from "./constraint.ts";
import { isStaticVersion, selectVersion } from "./select.ts";
import { strictVersionText } from "./testing/index.ts";
import { compareVersions, parseVersion } from "./version.ts";

const available = ["1.0.0", "1.2.0", "2.0.0-rc.1", "v1.1.0", "latest", "0.9"];

function chosen(
  constraintText: string,
  from: readonly string[] = available,
  kind: "index" | "tags" = "index",
): string {
  const selection = selectVersion(from, constraintText, { kind });
  return selection.kind === "found" ? selection.text : selection.kind;
}

for (const kind of ["index", "tags"] as const) {
  test(`without a version the newest release is selected (${kind})`, () => {
    assert.equal(chosen("", available, kind), "1.2.0");
    assert.equal(chosen("*", available, kind), "1.2.0");
  });

  test(`the identical text is selected even if it is a pre-release or has an equal version (${kind})`, () => {
    assert.equal(chosen("2.0.0-rc.1", available, kind), "2.0.0-rc.1");
    assert.equal(chosen("v1.0.0", ["1.0.0", "v1.0.0"], kind), "v1.0.0");
  });
}

test("the highest version that satisfies the constraint is selected", () => {
  assert.equal(chosen("^1.0.0 <1.2.0"), "v1.1.0");
  assert.equal(chosen(">=1.0.0-0"), "2.0.0-rc.1");
});

test("a version without an identical text falls back to an equal one", () => {
  assert.equal(chosen("1.1.0"), "v1.1.0");
});

test("tags have an underscore instead of the plus of their version", () => {
  const tags = ["1.0.0_b", "1.0.0_a"];

  assert.equal(chosen("1.0.0+b", tags, "tags"), "1.0.0_b");
  const selection = selectVersion(tags, "^1", { kind: "tags" });
  assert.ok(selection.kind === "found");
  assert.deepEqual([selection.text, selection.version.text], ["1.0.0_a", "1.0.0+a"]);
});

test("of equal versions the first in an index and the first tag by text are selected", () => {
  assert.equal(chosen("1.0.0", ["1.0.0+b", "1.0.0+a"], "index"), "1.0.0+b");
  assert.equal(chosen("1.0.0", ["1.0.0_b", "1.0.0_a"], "tags"), "1.0.0_a");
});

test("without a match the highest available versions are listed", () => {
  assert.deepEqual(selectVersion(available, "^3", { kind: "index" }), {
    kind: "none",
    highest: ["2.0.0-rc.1", "1.2.0", "v1.1.0", "1.0.0", "0.9"],
  });
  assert.deepEqual(selectVersion([], "", { kind: "tags" }), { kind: "none", highest: [] });
});

test("an invalid constraint results in its error", () => {
  const selection = selectVersion(available, "latest", { kind: "tags" });

  assert.ok(selection.kind === "invalid");
  assert.equal(selection.error.code, "VERSION_CONSTRAINT_INVALID");
});

test("the selected version satisfies the constraint and no higher one does", () => {
  const constraint = fc.constantFrom(
    "*",
    "^1",
    "~1.1",
    ">=0.0.0-0",
    "!=1.1 <3",
    "<2 || >2.1",
    "1 - 2",
    ">=1.0.0-rc.1 <2",
  );

  fc.assert(
    fc.property(fc.array(strictVersionText), constraint, (versions, constraintText) => {
      const read = versions.flatMap((text) => parseVersion(text) ?? []);
      const satisfying = read.filter((version) =>
        satisfies(parseConstraint(constraintText), version),
      );
      const selection = selectVersion(versions, constraintText, { kind: "index" });

      if (selection.kind !== "found") return satisfying.length === 0;
      return (
        satisfying.some(({ text }) => text === selection.text) &&
        satisfying.every((other) => compareVersions(selection.version, other) >= 0)
      );
    }),
    { numRuns: 1000 },
  );
});

test("only a full version without a v is static", () => {
  for (const text of ["1.2.3", "1.2.3-rc.1+b"]) assert.ok(isStaticVersion(text), text);
  for (const text of ["", "*", "v1.2.3", "1.2", "=1.2.3", "1.x", "latest"])
    assert.ok(!isStaticVersion(text), text);
});
