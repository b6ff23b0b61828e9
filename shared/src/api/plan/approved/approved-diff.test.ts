import assert from "node:assert/strict";
import { describe, test } from "vitest";
import type { PlanCounts, PlanResult } from "../index.ts";
import { diffOf, firstInstallation, isAsApproved, noChange } from "./approved-diff.ts";

const [seen, other] = ["a", "b"].map((digit) => `sha256:${digit.repeat(64)}`) as [string, string];

function aPlan(
  result: PlanResult["result"],
  digest: string,
  counts: Partial<PlanCounts> = {},
): Pick<PlanResult, "result" | "counts" | "digest"> {
  return { result, digest, counts: { create: 0, update: 0, replace: 0, delete: 0, ...counts } };
}

describe("a plan right before the upgrade", () => {
  const cases: readonly (readonly [
    what: string,
    approved: string,
    plan: ReturnType<typeof aPlan>,
    expected: boolean,
  ])[] = [
    ["is approved with the same diff", diffOf(seen), aPlan("changes", seen), true],
    ["is not approved with another diff", diffOf(seen), aPlan("changes", other), false],
    ["is approved where nothing would change any more", diffOf(seen), aPlan("none", other), true],
    ["is approved where nothing was to change", noChange, aPlan("none", seen), true],
    ["is not approved where nothing was to change", noChange, aPlan("changes", seen), false],
    ["is approved where it was to fail in this way", diffOf(seen), aPlan("fails", seen), true],
    ["is not approved where it fails by now", diffOf(seen), aPlan("fails", other), false],
    [
      "is a first installation of new objects",
      firstInstallation,
      aPlan("install", seen, { create: 7 }),
      true,
    ],
    ...(["update", "replace", "delete"] as const).map(
      (kind) =>
        [
          `is no first installation that would ${kind} an object`,
          firstInstallation,
          aPlan("install", seen, { create: 7, [kind]: 1 }),
          false,
        ] as const,
    ),
    [
      "is no first installation of what is there",
      firstInstallation,
      aPlan("changes", seen, { create: 1 }),
      false,
    ],
    ["is no first installation that fails", firstInstallation, aPlan("fails", seen), false],
  ];
  for (const [what, approved, plan, expected] of cases)
    test(what, () => {
      assert.equal(isAsApproved(approved, plan), expected);
    });

  test("has a diff that no word stands for", () => {
    for (const word of [noChange, firstInstallation]) assert.notEqual(word.length, 16);
    assert.equal(diffOf(seen).length, 16);
  });
});

test("a diff is stored by the first 12 bytes of its digest", () => {
  const digest = `sha256:${"00".repeat(12)}${"ff".repeat(20)}`;

  assert.equal(diffOf(digest), "AAAAAAAAAAAAAAAA");
  assert.equal(diffOf("sha256:short").length, 16);
});
