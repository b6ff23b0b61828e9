import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { type RequestFacts, type Result, requestResult } from "./request-result.ts";

const asInstalled: RequestFacts = {
  request: { before: "apps/web:4" },
  mustCorrect: false,
  release: { namespace: "apps", name: "web", revision: 4 },
  mode: "warn",
  compared: { isCorrected: false, corrected: 0 },
  drift: { objects: [], failures: [], uncompared: [] },
};
const two = { objects: ["a", "b"], failures: [], uncompared: [] };
const refused = { objects: ["a"], failures: [{ message: "no" }], uncompared: [] };
const done = { isCorrected: true, corrected: 2 };

const cases: readonly (readonly [string, Partial<RequestFacts>, Result | "compare" | "again"])[] = [
  ["nothing to do", {}, { result: "InSync", revision: 4 }],
  [
    "that the objects are to be compared first: they may have changed since a watch has read them",
    { compared: undefined },
    "compare",
  ],
  ["that as long as the release is not followed yet", { drift: undefined }, "compare"],
  [
    "drift that stays, with the number of objects",
    { drift: two },
    { result: "DriftLeft", objects: 2, revision: 4 },
  ],
  [
    "drift that stays although it is corrected, because it was corrected too often",
    { mode: "enabled", drift: two },
    { result: "DriftLeft", objects: 2, revision: 4 },
  ],
  [
    "drift that is corrected in any case, since the request",
    { mode: "enabled", compared: { isCorrected: false, corrected: 3 } },
    { result: "DriftCorrected", objects: 3, revision: 4 },
  ],
  [
    "that drift is not detected, whatever is requested",
    { mode: "disabled", mustCorrect: true, compared: undefined, drift: undefined },
    { result: "NotCompared", revision: 4 },
  ],
  [
    "an upgrade, without a comparison",
    {
      compared: undefined,
      drift: undefined,
      release: { namespace: "apps", name: "web", revision: 5 },
    },
    { result: "Upgraded", revision: 5 },
  ],
  [
    "an upgrade where drift is not detected",
    { mode: "disabled", release: { namespace: "apps", name: "web", revision: 5 } },
    { result: "Upgraded", revision: 5 },
  ],
  [
    "an installation",
    { request: {}, release: { namespace: "apps", name: "web", revision: 1 } },
    { result: "Installed", revision: 1 },
  ],
  [
    "a release that has moved as an upgrade, whatever its revision",
    { release: { namespace: "shop", name: "web", revision: 1 } },
    { result: "Upgraded", revision: 1 },
  ],
  [
    "a requested correction",
    { mustCorrect: true, compared: done },
    { result: "DriftCorrected", objects: 2, revision: 4 },
  ],
  [
    "a requested correction that had nothing to correct",
    { mustCorrect: true },
    { result: "InSync", revision: 4 },
  ],
  [
    "drift that was found after the action was decided: again",
    { mustCorrect: true, drift: two },
    "again",
  ],
  [
    "what could not be corrected on request, with the reason",
    { mustCorrect: true, compared: { isCorrected: true, corrected: 1 }, drift: refused },
    { result: "CorrectionFailed", objects: 1, revision: 4, message: "no" },
  ],
  [
    "an earlier failure to correct as drift that stays",
    { drift: refused },
    { result: "DriftLeft", objects: 1, revision: 4 },
  ],
  [
    "drift that came back after its correction, which was done once",
    { mustCorrect: true, compared: done, drift: two },
    { result: "DriftCorrected", objects: 2, revision: 4 },
  ],
  [
    "why an object could not be compared",
    { drift: { objects: [], failures: [], uncompared: ["forbidden"] } },
    { result: "InSync", revision: 4, message: "forbidden" },
  ],
];

describe("the result of a request says", () => {
  for (const [what, facts, expected] of cases)
    test(what, () => {
      const found = requestResult({ ...asInstalled, ...facts });

      assert.deepEqual(found, expected);
    });
});
