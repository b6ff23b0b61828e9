import assert from "node:assert/strict";
import { describe, test } from "vitest";
import type { RequestStatus } from "./bundle-deployment.ts";
import { describeRequest } from "./describe-request.ts";

describe("what a request has come to", () => {
  const rows: readonly (readonly [Omit<RequestStatus, "token">, string])[] = [
    [{ result: "InSync" }, "nothing had to be done: the release is in sync"],
    [
      { result: "DriftLeft", objects: 1 },
      "the drift of 1 object was left as it is, because it is only reported, or was corrected too often; `flotilla reconcile --correct-drift` corrects it once",
    ],
    [{ result: "DriftCorrected", objects: 2 }, "the drift of 2 objects was corrected"],
    [
      { result: "CorrectionFailed", objects: 1, message: "forbidden" },
      "the drift of 1 object could not be corrected: forbidden",
    ],
    [
      { result: "NotCompared" },
      "the release is what was asked for; its objects are not compared, because drift is not detected",
    ],
    [{ result: "Installed", revision: 1 }, "the release was installed, revision 1"],
    [{ result: "Upgraded", revision: 7 }, "the release was upgraded, revision 7"],
    [{ result: "Blocked", message: "web is not ready" }, "the release waits: web is not ready"],
    [
      { result: "Failed", code: "HELM_FAILED", message: "no such chart" },
      "it failed: no such chart (HELM_FAILED)",
    ],
    [{ result: "Failed", code: "HELM_FAILED" }, "it failed: (HELM_FAILED)"],
    [{ result: "Teleported" }, "Teleported"],
  ];
  for (const [request, text] of rows)
    test(`${request.result}: ${text}`, () =>
      assert.equal(describeRequest({ token: "now", ...request }), text));
});
