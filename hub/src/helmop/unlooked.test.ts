/** A HelmOp whose Bundle nobody has looked at yet: what whoever leads anew tells of it before that is done. */
import assert from "node:assert/strict";
import { findCondition, type NewCondition } from "@flotilla/shared/conditions/condition.ts";
import { describe, test } from "vitest";
import { aBundle, aDeployment, aHelmOp, digestA, now } from "../testing/objects.ts";
import { tallied } from "../testing/tallied.ts";
import { type HelmOpInputs, helmOpStatus } from "./status.ts";

const differing = "clusters got different archives of web";

/** What whoever led before told of this generation of the HelmOp. */
const told = (observedGeneration: number) => ({
  conditions: (
    [
      { type: "Accepted", status: "True", message: differing },
      { type: "Ready", status: "False", reason: "ErrApplied", message: "ErrApplied(1)" },
    ] satisfies NewCondition[]
  ).map((condition) => ({ ...condition, observedGeneration })),
});

const untouched = aBundle({}, {}, { observedGeneration: 1 });

/** As after the first look at the HelmOp, before any at its Bundle; the cluster is Ready by now. */
const inputs: HelmOpInputs = {
  helmOp: aHelmOp({}, {}, told(1)),
  intent: { generation: 1, accepted: { ok: true }, version: "1.2.9" },
  bundle: untouched,
  targeting: undefined,
  ...tallied([aDeployment("paris", { status: { appliedDeploymentID: digestA, ready: true } })]),
  now,
};

function said(changed: Partial<HelmOpInputs>, type: string): string {
  const { status, reason, message } =
    findCondition(helmOpStatus({ ...inputs, ...changed }).conditions, type) ?? {};
  return [status, reason, message].filter(Boolean).join(" ");
}

describe("a HelmOp whose Bundle nobody has looked at yet", () => {
  test("is as it was told to be, while it and its Bundle are what they were then", () => {
    assert.equal(said({}, "Ready"), "False ErrApplied ErrApplied(1)");
    assert.equal(said({}, "Accepted"), `True ${differing}`);
  });

  const changes: readonly (readonly [what: string, changed: Partial<HelmOpInputs>])[] = [
    ["was changed since", { helmOp: aHelmOp({}, {}, told(0)) }],
    ["was never told of", { helmOp: aHelmOp() }],
    [
      "has a Bundle that was written anew since",
      { bundle: aBundle({}, { generation: 2 }, { observedGeneration: 1 }) },
    ],
    ["has a Bundle that was never told of", { bundle: aBundle() }],
  ];
  for (const [what, changed] of changes)
    test(`is under way, where it ${what}`, () => {
      assert.equal(said(changed, "Ready"), "Unknown Progressing choosing the clusters");
      assert.equal(said(changed, "Accepted"), "True");
    });

  test("is not ready any more where a cluster fails meanwhile, although it was told to be", () => {
    const ready = told(1).conditions.map((condition) =>
      condition.type === "Ready"
        ? { ...condition, status: "True" as const, reason: "Ready", message: "" }
        : condition,
    );
    const helmOp = aHelmOp({}, {}, { conditions: ready });
    const fails = aDeployment("paris", {
      status: { conditions: [{ type: "Deployed", status: "False", message: "no chart" }] },
    });

    assert.equal(said({ helmOp }, "Ready"), "True Ready");
    assert.match(said({ helmOp, ...tallied([fails]) }, "Ready"), /^False ErrApplied .*no chart/);
  });

  test("is not accepted where that is found now, and is else as it was told to be", () => {
    const intent = { generation: 1, accepted: { ok: false, message: "forbidden" } } as const;
    assert.equal(said({ intent }, "Accepted"), "False Error forbidden");
    assert.equal(said({ intent }, "Ready"), "False ErrApplied ErrApplied(1)");
  });
});
