import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { maxPlanLineBytes, maxPlanTextBytes, type PlanResult, parsePlanAnswer } from "./index.ts";

const digest = `sha256:${"a".repeat(64)}`;
const none: PlanResult = {
  result: "none",
  counts: { create: 0, update: 0, replace: 0, delete: 0 },
  digest,
  shape: digest,
  applied: digest,
  revision: 3,
  remarks: ["Hooks"],
  hooks: 1,
  failures: 0,
};
const answer = (result: unknown, text = "") =>
  parsePlanAnswer(Buffer.from(`${JSON.stringify(result)}\n${text}`));

describe("the answer to a plan", () => {
  test("is a line, and the text after it", () => {
    assert.deepEqual(answer(none, "# a\n-b\n"), { result: none, text: "# a\n-b\n" });
    assert.deepEqual(parsePlanAnswer(Buffer.from(JSON.stringify(none))), {
      result: none,
      text: "",
    });
  });

  test("has no characters that a terminal acts on", () => {
    const fails = { ...none, result: "fails", code: "HELM_FAILED", message: "a\u001b[2Jb" };

    const read = answer(fails, "\u202ec\tok\n");

    assert.equal(read?.result.message, "a\ufffd[2Jb");
    assert.equal(read.text, "\ufffdc\tok\n");
  });

  test("may have remarks and fields of a newer agent", () => {
    const newer = { ...none, remarks: ["SomethingNew"], other: 1 };

    assert.deepEqual(answer(newer)?.result, { ...none, remarks: ["SomethingNew"] });
  });

  const invalid: readonly (readonly [string, unknown])[] = [
    ["without a result", { ...none, result: "maybe" }],
    ["with a digest that is not one", { ...none, digest: "sha256:a" }],
    ["with an id that is not a digest", { ...none, applied: "x" }],
    ["with negative counts", { ...none, counts: { ...none.counts, create: -1 } }],
    ["with a code that is a sentence", { ...none, code: "it failed" }],
    ["with more remarks than there can be", { ...none, remarks: Array(33).fill("Hooks") }],
    ["with a longer line", { ...none, message: "x".repeat(maxPlanLineBytes) }],
    ["of something else", "text"],
  ];
  for (const [name, result] of invalid)
    test(`${name} is not read`, () => assert.equal(answer(result), undefined));

  test("with a longer text is not read", () => {
    assert.notEqual(answer(none, "x".repeat(maxPlanTextBytes)), undefined);
    assert.equal(answer(none, "x".repeat(maxPlanTextBytes + 1)), undefined);
  });

  test("of any other bytes is not read", () => {
    for (const bytes of [[], [0x0a], [0xff, 0xfe], [0x7b]])
      assert.equal(parsePlanAnswer(Uint8Array.from(bytes)), undefined);
  });
});
