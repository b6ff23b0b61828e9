import assert from "node:assert/strict";
import { describe, it } from "vitest";
import {
  forceRequestAnnotation,
  type RequestTokens,
  reconcileRequestAnnotation,
  requestAnnotations,
  requestOf,
  requestTokens,
  tokensOf,
} from "./request-annotations.ts";

const none = { force: false, reset: false, correctDrift: false };

const cases: readonly (readonly [given: string, RequestTokens, ReturnType<typeof requestOf>])[] = [
  ["no annotation", {}, undefined],
  ["an empty value", { requestedAt: "", forceAt: "" }, undefined],
  ["a flag alone", { forceAt: "1" }, undefined],
  ["a value", { requestedAt: "1" }, { token: "1", ...none }],
  ["a flag of another request", { requestedAt: "2", forceAt: "1" }, { token: "2", ...none }],
  [
    "a flag of this request",
    { requestedAt: "2", forceAt: "2", resetAt: "1" },
    { token: "2", ...none, force: true },
  ],
  [
    "all flags",
    { requestedAt: "2", forceAt: "2", resetAt: "2", correctDriftAt: "2" },
    { token: "2", force: true, reset: true, correctDrift: true },
  ],
];

describe("a request by annotation", () => {
  for (const [given, tokens, request] of cases) {
    it(`is read from ${given}`, () => {
      assert.deepEqual(
        requestOf(requestTokens({ annotations: { ...requestAnnotations(tokens) } })),
        request,
      );
      if (request !== undefined) assert.deepEqual(requestOf(tokensOf(request)), request);
    });
  }

  it("has Flux's annotations", () => {
    const tokens = tokensOf({ token: "now", ...none, force: true, reset: true });
    assert.deepEqual(requestAnnotations(tokens), {
      "reconcile.fluxcd.io/requestedAt": "now",
      "reconcile.fluxcd.io/forceAt": "now",
      "reconcile.fluxcd.io/resetAt": "now",
    });
  });

  it("leaves other annotations out, and values as they are", () => {
    const annotations = {
      "meta.helm.sh/release-name": "x",
      [reconcileRequestAnnotation]: "2",
      [forceRequestAnnotation]: "1",
    };
    assert.deepEqual(requestAnnotations(requestTokens({ annotations })), {
      [reconcileRequestAnnotation]: "2",
      [forceRequestAnnotation]: "1",
    });
  });
});
