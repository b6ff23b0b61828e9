import assert from "node:assert/strict";
import { type BundleDeploymentStatus, type BundleState, bundleStates } from "@flotilla/shared/api";
import { describe, test } from "vitest";
import { aDeployment, digestA, digestB } from "../testing/index.ts";
import { deploymentMessage, stateOf, stateWhileOffline } from "./deployment-state.ts";

const applied = { appliedDeploymentID: digestA };
const failed = { conditions: [{ type: "Deployed", status: "False" }] } as const;

describe("a deployment in a cluster of which nothing is heard", () => {
  const cases: Readonly<Record<BundleState, BundleState>> = {
    Ready: "Ready",
    OutOfSync: "OutOfSync",
    Pending: "Pending",
    WaitApplied: "Offline",
    ErrApplied: "Offline",
    Modified: "Offline",
    NotReady: "Offline",
    Offline: "Offline",
  };
  for (const state of bundleStates) {
    test(`that was ${state} counts as ${cases[state]}`, () => {
      assert.equal(stateWhileOffline(state), cases[state]);
    });
  }
});

describe("the state of a deployment", () => {
  const cases: readonly (readonly [
    what: string,
    status: BundleDeploymentStatus | undefined,
    staged: string,
    state: BundleState,
  ])[] = [
    ["of which nothing was reported", undefined, digestA, "WaitApplied"],
    [
      "that runs something older",
      { appliedDeploymentID: digestB, ready: true },
      digestA,
      "WaitApplied",
    ],
    [
      "that runs something older and could not be changed",
      { appliedDeploymentID: digestB, ready: true, ...failed },
      digestA,
      "ErrApplied",
    ],
    [
      "that could never be installed",
      { appliedDeploymentID: "", ...failed },
      digestA,
      "ErrApplied",
    ],
    ["that is installed and not ready", { ...applied, ready: false }, digestA, "NotReady"],
    ["that is installed, with no word about ready", applied, digestA, "NotReady"],
    [
      "that is ready and has a change waiting",
      { ...applied, ready: true, nonModified: false },
      digestB,
      "OutOfSync",
    ],
    [
      "that is not ready and has a change waiting",
      { ...applied, ready: false },
      digestB,
      "NotReady",
    ],
    ["that somebody changed", { ...applied, ready: true, nonModified: false }, digestA, "Modified"],
    ["that is as it should be", { ...applied, ready: true, nonModified: true }, digestA, "Ready"],
    ["that is ready, with no word about changes", { ...applied, ready: true }, digestA, "Ready"],
  ];
  for (const [what, status, stagedDeploymentID, state] of cases) {
    test(`${what} is ${state}`, () => {
      assert.equal(stateOf(aDeployment("paris", { status, spec: { stagedDeploymentID } })), state);
    });
  }
});

describe("what a person is told of a deployment", () => {
  const no = (type: string, message: string) => ({ type, status: "False", message }) as const;
  const cases = [
    ["nothing when nothing is known", undefined, ""],
    ["nothing of conditions that hold", [{ type: "Ready", status: "True", message: "fine" }], ""],
    [
      "why it could not be deployed, before why it is not ready",
      [no("Ready", "waiting"), no("Deployed", "no chart")],
      "no chart",
    ],
    ["why it is not ready", [no("Ready", "0 of 2 ready")], "0 of 2 ready"],
    ["the next that says something", [no("Deployed", ""), no("Ready", "waiting")], "waiting"],
  ] as const;
  for (const [what, conditions, message] of cases) {
    test(what, () => {
      const status = conditions === undefined ? {} : { conditions };

      assert.equal(deploymentMessage(aDeployment("paris", { status })), message);
    });
  }
});
