import assert from "node:assert/strict";
import { maxPlanLineBytes, maxPlanTextBytes, parsePlanAnswer } from "@flotilla/shared/plan";
import { describe, test } from "vitest";
import {
  cutPlanText,
  type Found,
  failedPlan,
  planAnswer,
  planLine,
  unchangedPlan,
} from "./plan-answer.ts";
import { type PlannedAction, type PlannedObject, sha256 } from "./planned-object.ts";

function planned(
  name: string,
  action: PlannedAction,
  more: Partial<PlannedObject> = {},
): PlannedObject {
  const object = { apiVersion: "v1", kind: "ConfigMap", namespace: "shop", name };
  return {
    ...{ object, action, remarks: [], digest: sha256(`${name} ${action}`), shape: sha256(action) },
    text: action === "none" ? "" : `# ConfigMap shop/${name}: ${action}\n`,
    ...more,
  };
}
const nothing: Found = {
  ...{ isInstall: false, objects: [], crds: [], hooks: [], remarks: [], applied: "", revision: 3 },
};
const answerTo = (found: Partial<Found>) =>
  planAnswer({ ...nothing, ...found }, "UPGRADE_REJECTED");
const resultOf = (found: Partial<Found>) => answerTo(found).result;

describe("the result of a plan", () => {
  const cases: readonly (readonly [string, Partial<Found>, string])[] = [
    ["no objects", {}, "none"],
    ["objects that stay as they are", { objects: [planned("a", "none")] }, "none"],
    ["an object that Helm keeps", { objects: [planned("a", "keep")] }, "none"],
    [
      "an object that changes",
      { objects: [planned("a", "none"), planned("b", "update")] },
      "changes",
    ],
    ["a deleted object", { objects: [planned("a", "delete")] }, "changes"],
    ["a definition that is replaced", { crds: [{ action: "update", text: "" }] }, "changes"],
    ["a first installation", { isInstall: true, objects: [planned("a", "create")] }, "install"],
    [
      "an object that would fail",
      { isInstall: true, objects: [planned("a", "create"), planned("b", "fails", { why: "no" })] },
      "fails",
    ],
  ];
  for (const [name, found, expected] of cases)
    test(`of ${name} is ${expected}`, () => assert.equal(resultOf(found).result, expected));

  test("counts objects by what happens to them, and names the first ones that fail", () => {
    const failing = ["1", "2", "3", "4"].map((name) => planned(name, "fails", { why: "no" }));
    const objects = [
      ...failing,
      planned("c", "create"),
      planned("u", "update", { remarks: ["Generated"] }),
      planned("r", "replace"),
      planned("d", "delete"),
    ];

    const { counts, failures, code, message, remarks } = resultOf({
      objects,
      crds: [{ action: "create", text: "" }],
      hooks: [{ kind: "Job", name: "migrate", events: ["pre-upgrade"] }],
    });

    assert.deepEqual(counts, { create: 2, update: 1, replace: 1, delete: 1 });
    assert.deepEqual([failures, code], [4, "UPGRADE_REJECTED"]);
    const [one, two, three] = ["1", "2", "3"].map((name) => `ConfigMap shop/${name}: no`);
    assert.equal(message, `4 objects would fail: ${one}; ${two}; ${three}; and 1 more`);
    assert.deepEqual(remarks, ["CrdsApplied", "Generated", "Hooks"]);
  });

  test("has a digest that neither the order nor what stays, hooks nor definitions change", () => {
    const [a, b] = [planned("a", "update"), planned("b", "create")];
    const { digest, shape } = resultOf({ objects: [a, b] });

    for (const found of [
      { objects: [b, planned("c", "none"), a, planned("d", "keep")] },
      { objects: [a, b], crds: [{ action: "update", text: "# x\n" }] as const },
      { objects: [a, b], hooks: [{ kind: "Job", name: "m", events: ["pre-upgrade"] }] },
    ])
      assert.deepEqual([resultOf(found).digest, resultOf(found).shape], [digest, shape]);
    assert.notEqual(resultOf({ objects: [a] }).digest, digest);
    assert.notEqual(resultOf({ objects: [a, b], isInstall: true }).digest, digest);
  });

  test("of what prevents the plan differs by the code, and not by the sentence", () => {
    const known = { applied: "", revision: 0 };
    const digests = [
      { code: "HELM_FAILED", message: "a" },
      { code: "HELM_FAILED", message: "b" },
      { code: "TEMPLATES_DENIED", message: "a" },
    ].map((error) => failedPlan(error, known).result.digest);

    assert.equal(digests[0], digests[1]);
    assert.notEqual(digests[0], digests[2]);
  });

  test("of a release that is in sync is that of a plan without changes", () => {
    const { digest } = resultOf({ objects: [planned("a", "none")] });

    assert.equal(unchangedPlan({ applied: "", revision: 1 }).result.digest, digest);
  });
});

describe("the text of a plan", () => {
  test("has what fails first, and hooks last", () => {
    const { text } = answerTo({
      objects: [planned("a", "update"), planned("b", "fails", { why: "no" })],
      hooks: [{ kind: "Job", name: "migrate", events: ["pre-upgrade", "post-upgrade"] }],
    });

    assert.equal(
      text,
      "# ConfigMap shop/b: fails\n# ConfigMap shop/a: update\n# Job migrate: hook pre-upgrade, post-upgrade\n",
    );
  });

  test("is cut at the end of a line, with a sentence, within its limit", () => {
    const line = `${"é".repeat(50)}\n`;

    const cut = cutPlanText(["# a\n", line.repeat(1_000), "# b\n"]);
    const answer = answerTo({ objects: [planned("a", "update", { text: line.repeat(1_000) })] });

    assert.ok(cut.isCut);
    assert.ok(Buffer.byteLength(cut.text) <= maxPlanTextBytes);
    assert.match(
      cut.text,
      /é\n# the text of the changes is longer than 64 KiB; the rest is left out\n$/,
    );
    assert.deepEqual(answer.result.remarks, ["TextCut"]);
  });

  test("that fits is not cut", () => {
    const text = "x".repeat(maxPlanTextBytes);

    assert.deepEqual(cutPlanText([text]), { text, isCut: false });
  });
});

describe("the line of a plan", () => {
  for (const [name, message] of [
    ["plain", "x".repeat(20_000)],
    ["escaped", "\u0001".repeat(5_000)],
    ["wide", "𝕏".repeat(5_000)],
    ["short", "it fails"],
  ] as const)
    test(`with a ${name} message is read within its limit`, () => {
      const { result } = failedPlan({ code: "HELM_FAILED", message }, { applied: "", revision: 0 });

      const line = planLine(result);

      assert.ok(Buffer.byteLength(line) <= maxPlanLineBytes);
      assert.equal(parsePlanAnswer(Buffer.from(line))?.result.code, "HELM_FAILED");
    });
});
