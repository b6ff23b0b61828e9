import assert from "node:assert/strict";
import { type BundleDeploymentStatus, type BundleState, bundleStates } from "@flotilla/shared/api";
import { describe, test } from "vitest";
import { aDeployment, digestA, digestB } from "../../testing/index.ts";
import { deploymentMessage, stateOf, stateWhileOffline } from "./deployment-state.ts";

const applied = { appliedDeploymentID: digestA };
const failed = { conditions: [{ type: "Deployed", status: "False" }] } as const;

describe("a deployment in an offline cluster", () => {
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
    ["without a report", undefined, digestA, "WaitApplied"],
    [
      "that runs an earlier content",
      { appliedDeploymentID: digestB, ready: true },
      digestA,
      "WaitApplied",
    ],
    [
      "that runs an earlier content and could not be upgraded",
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
    ["that is installed, without a Ready condition", applied, digestA, "NotReady"],
    [
      "that is ready and has a pending change",
      { ...applied, ready: true, nonModified: false },
      digestB,
      "OutOfSync",
    ],
    [
      "that is not ready and has a pending change",
      { ...applied, ready: false },
      digestB,
      "NotReady",
    ],
    ["that was modified", { ...applied, ready: true, nonModified: false }, digestA, "Modified"],
    [
      "that is ready and not modified",
      { ...applied, ready: true, nonModified: true },
      digestA,
      "Ready",
    ],
    ["that is ready, without a Monitored condition", { ...applied, ready: true }, digestA, "Ready"],
  ];
  for (const [what, status, stagedDeploymentID, state] of cases) {
    test(`${what} is ${state}`, () => {
      assert.equal(stateOf(aDeployment("paris", { status, spec: { stagedDeploymentID } })), state);
    });
  }
});

describe("the message about a deployment", () => {
  const no = (type: string, message: string) => ({ type, status: "False", message }) as const;
  const cases = [
    ["is empty without conditions", undefined, ""],
    [
      "is empty when all conditions are True",
      [{ type: "Ready", status: "True", message: "fine" }],
      "",
    ],
    [
      "is why it could not be deployed, before why it is not ready",
      [no("Ready", "waiting"), no("Deployed", "no chart")],
      "no chart",
    ],
    ["is why it is not ready", [no("Ready", "0 of 2 ready")], "0 of 2 ready"],
    [
      "is of the next condition with a message",
      [no("Deployed", ""), no("Ready", "waiting")],
      "waiting",
    ],
  ] as const;
  for (const [what, conditions, message] of cases) {
    test(what, () => {
      const status = conditions === undefined ? {} : { conditions };

      assert.equal(deploymentMessage(aDeployment("paris", { status })), message);
    });
  }
});

describe("what an agent reported of an earlier content", () => {
  const wanted = { deploymentID: digestB, stagedDeploymentID: digestB };
  const condition = (type: string, reason: string) =>
    ({ type, status: "False", reason, message: "it failed" }) as const;
  const failure = [condition("Deployed", "Error"), condition("Ready", "ErrApplied")];
  const cases: readonly (readonly [
    what: string,
    status: BundleDeploymentStatus,
    state: BundleState,
    message: string,
  ])[] = [
    [
      "a failure of the earlier content is not shown",
      { attemptedDeploymentID: digestA, conditions: failure },
      "WaitApplied",
      "",
    ],
    [
      "a failure of the desired content is shown",
      { attemptedDeploymentID: digestB, conditions: failure },
      "ErrApplied",
      "it failed",
    ],
    [
      "a failure without the content that failed is shown",
      { conditions: failure },
      "ErrApplied",
      "it failed",
    ],
    [
      "objects of the earlier content that are not ready are not shown",
      { appliedDeploymentID: digestA, conditions: [condition("Ready", "NotReady")] },
      "WaitApplied",
      "",
    ],
    [
      "an error of the earlier content in Installed is not shown",
      { appliedDeploymentID: digestA, conditions: [condition("Installed", "")] },
      "WaitApplied",
      "",
    ],
    [
      "an error of the desired content in Installed is shown",
      { appliedDeploymentID: digestB, conditions: [condition("Installed", "")] },
      "NotReady",
      "it failed",
    ],
    [
      "a failed uninstallation is shown, whatever was applied",
      { appliedDeploymentID: digestA, conditions: [condition("Ready", "ErrUninstall")] },
      "WaitApplied",
      "it failed",
    ],
  ];
  for (const [what, status, state, message] of cases) {
    test(what, () => {
      const deployment = aDeployment("paris", { spec: wanted, status });

      assert.equal(stateOf(deployment), state);
      assert.equal(deploymentMessage(deployment), message);
    });
  }
});
