import assert from "node:assert/strict";
import { seed } from "@flotilla/shared/testing";
import fc from "fast-check";
import { test } from "vitest";
import { type PassKind, passKind } from "./pass-kind.ts";

const cases: readonly (readonly [string, Parameters<typeof passKind>[0], PassKind])[] = [
  ["a deployment is deployed", { withdrawing: false, paused: false }, "deploy"],
  ["a paused or suspended one is observed", { withdrawing: false, paused: true }, "observe"],
  ["a deleted one is uninstalled", { withdrawing: true, paused: false }, "uninstall"],
  ["a paused one that is deleted is uninstalled", { withdrawing: true, paused: true }, "uninstall"],
  [
    "a suspended one that is deleted is left",
    { withdrawing: true, paused: true, keepsRelease: true },
    "leave",
  ],
];

for (const [what, assignment, expected] of cases)
  test(what, () => assert.equal(passKind(assignment), expected));

test("nothing is changed for what is suspended, whatever else it is", () => {
  const suspended = fc.oneof(
    fc.record({ withdrawing: fc.constant(false), paused: fc.constant(true) }),
    fc.record({
      ...{ withdrawing: fc.constant(true), paused: fc.boolean() },
      keepsRelease: fc.constant(true as const),
    }),
  );
  fc.assert(
    fc.property(suspended, (assignment) => {
      assert.ok(["observe", "leave"].includes(passKind(assignment)));
    }),
    { seed },
  );
});
