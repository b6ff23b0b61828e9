import assert from "node:assert/strict";
import type { BundleDeployment, Promotion } from "@flotilla/shared/api";
import { describe, test } from "vitest";
import { aCluster, aDeployment, digestA, digestB } from "../../testing/index.ts";
import type { MemberPlan } from "./member.ts";
import { memberOf } from "./members.ts";
import { plannedIn } from "./plan-gates.ts";
import { isRefused, plannedAgainAt, refusalsOf, takenBack } from "./refusals.ts";

const at = "2026-12-01T10:00:00.000Z";
const atMs = Date.parse(at);
const promotion: Promotion = {
  ...{ rollout: "web-7", at, from: digestB, wasReady: true },
  planned: "AAAAAAAAAAAAAAAA",
};

function promoted(
  more: Partial<Promotion> = {},
  status: BundleDeployment["status"] = { appliedDeploymentID: digestB, refusedAt: at },
): BundleDeployment {
  return aDeployment("paris", {
    spec: { deploymentID: digestA, promotion: { ...promotion, ...more } },
    status,
  });
}

describe("a promotion", () => {
  const cases: readonly (readonly [string, BundleDeployment, boolean])[] = [
    ["was refused by its time", promoted(), true],
    [
      "was not refused when an earlier one was",
      promoted({ at: "2026-12-01T11:00:00.000Z" }),
      false,
    ],
    ["was not refused where nothing is verified", promoted({ planned: undefined }), false],
    [
      "was not refused once it is applied",
      promoted({}, { appliedDeploymentID: digestA, refusedAt: at }),
      false,
    ],
    ["was not refused before anything was reported", promoted({}, {}), false],
    ["was not refused by an agent that fails", promoted({}, { cause: "PLAN_STALE" }), false],
  ];
  for (const [what, deployment, expected] of cases)
    test(what, () => {
      assert.equal(isRefused(deployment), expected);
      assert.equal(refusalsOf(deployment), expected ? 1 : 0);
    });

  test("is taken back with what was refused, and how often", () => {
    assert.deepEqual(takenBack({ ...promotion, refused: 2 }, digestA, atMs), {
      ...{ rollout: "web-7", at, from: digestA },
      ...{ wasReady: true, refused: 3 },
    });
  });
});

describe("a cluster whose agent has refused what was promoted", () => {
  const source = {
    ...{ cluster: aCluster("paris"), content: digestA, isHeld: false, skip: new Set<string>() },
    key: "fleet-default/paris",
    plan: undefined,
  };

  test("has what it had before", () => {
    const member = memberOf({ ...source, deployment: promoted(), isSigned: true });

    assert.deepEqual([member.desired, member.refused], [digestB, digestA]);
  });

  test("is believed only where the hub wrote the promotion", () => {
    const member = memberOf({ ...source, deployment: promoted(), isSigned: false });

    assert.deepEqual([member.desired, member.refused], [digestA, undefined]);
  });

  test("waits longer each time, but for the first", () => {
    const again = (refused: number) =>
      plannedAgainAt(takenBack({ ...promotion, refused: refused - 1 }, digestA, atMs));
    const waits = [1, 2, 3, 4, 5, 6, 60].map((refused) => {
      const untilMs = again(refused);
      return untilMs === undefined ? undefined : (untilMs - atMs) / 60_000;
    });

    assert.deepEqual(waits, [undefined, 1, 2, 4, 8, 15, 15]);
    assert.equal(plannedAgainAt({ ...promotion, refused: 5 }), undefined);
    assert.equal(plannedAgainAt(undefined), undefined);
  });
});

describe("what an agent verifies", () => {
  const known = { kind: "known", diff: "AAAAAAAAAAAAAAAA", fails: false } as const;
  const cases: readonly (readonly [string, boolean, MemberPlan | undefined, string | undefined])[] =
    [
      ["is the diff that was approved", true, known, known.diff],
      ["is that nothing changes", true, { ...known, diff: "" }, "none"],
      ["is that everything is new", true, { ...known, isFirst: true }, "install"],
      ["is nothing where the stage does not say so", false, known, undefined],
      ["is nothing where nothing was planned", true, undefined, undefined],
    ];
  for (const [what, verify, plan, expected] of cases)
    test(what, () => {
      const before = [{ name: "board", approval: { plan: true, verify } }];

      assert.equal(plannedIn({ before }, plan), expected);
    });
});
