import assert from "node:assert/strict";
import type { DeploymentState } from "@flotilla/proto";
import { describe, test } from "vitest";
import { composeStates, type ReportedRelease } from "./compose-states.ts";

const deployment = {
  owner: { name: "web", uid: "u" },
  deploymentId: "whole",
  withdrawing: false,
};
const counts = { desiredReady: 1, ready: 1, notReady: 0, missing: 0, unknown: 0 };

function release(name: string, state: Partial<DeploymentState> = {}): ReportedRelease {
  return {
    release: {
      owner: { ...deployment.owner, id: `web/apps/${name}` },
      deploymentId: name,
      withdrawing: state.phase === "withdrawing",
    },
    state: {
      ...{ ...deployment.owner, deploymentId: name, phase: "deployed", message: "", ready: true },
      ...{ notReady: [], resources: [], incomplete: false, counts },
      ...state,
    },
  };
}

const failed: Partial<DeploymentState> = {
  ...{ phase: "failed", ready: false, message: "broken; retrying soon", cause: "broken" },
  ...{ code: "HELM_FAILED", retryAt: "2026-01-01T00:00:05Z" },
};
const pending = { phase: "pending", ready: false, message: "waiting for db" } as const;
const withdrawing = { phase: "withdrawing", ready: false, message: "" } as const;

describe("the state of a deployment", () => {
  test("is that of its only release", () => {
    const only = release("a", { message: "a warning", failures: 2 });

    assert.deepEqual(composeStates(deployment, [only]), { ...only.state, deploymentId: "whole" });
  });

  test("is unknown without releases", () => {
    assert.equal(composeStates(deployment, []), undefined);
  });

  const cases: readonly (readonly [
    what: string,
    releases: readonly ReportedRelease[],
    expected: Partial<DeploymentState>,
  ])[] = [
    [
      "is deployed and ready if all are",
      [release("a"), release("b")],
      { phase: "deployed", ready: true, deploymentId: "whole", message: "" },
    ],
    [
      "is deployed and not ready if one is not ready",
      [release("a"), release("b", { ready: false })],
      { phase: "deployed", ready: false },
    ],
    [
      "waits if one waits",
      [release("a"), release("b", pending)],
      { phase: "pending", ready: false, message: "web/apps/b: waiting for db" },
    ],
    [
      "has failed if one has, whatever the others do",
      [release("a", pending), release("b", failed), release("c")],
      { ...failed, message: "web/apps/b: broken; retrying soon, web/apps/a: waiting for db" },
    ],
    [
      "is that of a deployment that stays while one of its releases is uninstalled",
      [release("a"), release("b", withdrawing)],
      { phase: "pending", ready: false },
    ],
    [
      "has failed if one of its releases cannot be uninstalled",
      [release("a", pending), release("b", { ...withdrawing, code: "HELM_FAILED" })],
      { phase: "failed", code: "HELM_FAILED" },
    ],
    [
      "is about another content until all releases are about their own",
      [release("a"), release("b", { deploymentId: "before" })],
      { deploymentId: "before" },
    ],
    [
      "counts the objects and the failures of all",
      [
        release("a", { failures: 1, failuresBy: { install: 1, upgrade: 0 } }),
        release("b", { failures: 2, failuresBy: { install: 0, upgrade: 2 } }),
      ],
      {
        counts: { ...counts, desiredReady: 2, ready: 2 },
        failures: 3,
        failuresBy: { install: 1, upgrade: 2 },
      },
    ],
    [
      "has no drift that only warns once one of its releases has another one",
      [
        release("a", { drift: { objects: [], count: 1, isWarning: true, history: [] } }),
        release("b", { drift: { objects: [], count: 2, history: [] } }),
      ],
      { drift: { objects: [], count: 3, history: [] } },
    ],
    [
      "has the answer to a request that leaves most to be done",
      [
        release("a", { request: { token: "t", result: "Upgraded" } }),
        release("b", { request: { token: "t", result: "DriftLeft" } }),
      ],
      { request: { token: "t", result: "DriftLeft" } },
    ],
  ];
  for (const [what, releases, expected] of cases)
    test(what, () => {
      const state = composeStates(deployment, releases);

      assert.partialDeepStrictEqual(state, { name: "web", uid: "u", ...expected });
    });

  test("has no answer to a request before all have answered the same one", () => {
    const answered = release("a", { request: { token: "t", result: "InSync" } });
    for (const other of [release("b"), release("b", { request: { token: "s", result: "InSync" } })])
      assert.equal(composeStates(deployment, [answered, other])?.request, undefined);
  });

  test("is withdrawing if the deployment is", () => {
    const state = composeStates({ ...deployment, withdrawing: true }, [
      release("a", withdrawing),
      release("b", { ...withdrawing, message: "a hook failed", code: "HELM_FAILED" }),
    ]);

    assert.partialDeepStrictEqual(state, {
      phase: "withdrawing",
      message: "web/apps/b: a hook failed",
      code: "HELM_FAILED",
    });
  });

  test("has no more objects than that of one release", () => {
    const resource = { apiVersion: "v1", kind: "ConfigMap", name: "c", state: "ready" } as const;
    const resources = Array.from({ length: 40 }, () => resource);

    const state = composeStates(deployment, [
      release("a", { resources }),
      release("b", { resources }),
    ]);

    assert.deepEqual([state?.resources.length, state?.incomplete], [64, true]);
  });
});
