import assert from "node:assert/strict";
import {
  type BundleDeploymentStatus,
  type BundleState,
  bundleStates,
  type HelmOp,
  type HelmOpStatus,
} from "@flotilla/shared/api";
import { findCondition } from "@flotilla/shared/conditions";
import { describe, test } from "vitest";
import {
  aBundle,
  aCluster,
  accepted,
  aDeployment,
  aggregated,
  aHelmOp,
  decidedBundle,
  decidedHelmOp,
  digestA,
  digestB,
  type HelmOpDecision,
  now,
} from "../../testing/index.ts";
import { type HelmOpInputs, helmOpStatus } from "./status.ts";

const resolving: HelmOpDecision = {};
const rejected: HelmOpDecision = { accepted: "no chart" };

function paris(status: BundleDeploymentStatus, deploymentID = digestA) {
  return aggregated([
    aDeployment("paris", { status, spec: { deploymentID, stagedDeploymentID: deploymentID } }),
  ]);
}
const waiting = paris({});
const starting = paris({ appliedDeploymentID: digestA, ready: false });
const ready = paris({ appliedDeploymentID: digestA, ready: true });
const failed = paris({ conditions: [{ type: "Deployed", status: "False", message: "no" }] });
const exceeded = paris({
  conditions: [
    { type: "Deployed", status: "False", message: "no" },
    { type: "Stalled", status: "True", reason: "RetriesExceeded", message: "no" },
  ],
});
const upgrading = paris({ appliedDeploymentID: digestA, ready: true }, digestB);

const made = { bundle: decidedBundle(aBundle()) };
const withoutBundle = { bundle: undefined, ...aggregated([]) };
const pollFailed: HelmOpDecision = {
  ...accepted,
  lastPollingTriggered: now,
  polling: { failures: 1, error: "500" },
};

const polled = aHelmOp({ pollingInterval: "5m" });

type Step = readonly [
  what: string,
  inputs: Omit<HelmOpInputs, "helmOp" | "now"> & { readonly decision?: HelmOpDecision },
  reconciling: "True" | "False",
  stalled: "True" | "False",
];

/** The events of one HelmOp in order, with the Reconciling and Stalled conditions after each. */
const stories: readonly (readonly [story: string, steps: readonly Step[]])[] = [
  [
    "that is installed, fails later and recovers",
    [
      ["its chart is being resolved", { ...withoutBundle, decision: resolving }, "True", "False"],
      ["its Bundle is created", withoutBundle, "True", "False"],
      ["it is dispatched", { ...made, ...waiting }, "True", "False"],
      ["its workloads start", { ...made, ...starting }, "True", "False"],
      ["it is ready", { ...made, ...ready }, "False", "False"],
      ["a workload fails", { ...made, ...starting }, "False", "False"],
      ["it recovers", { ...made, ...ready }, "False", "False"],
    ],
  ],
  [
    "that is upgraded",
    [
      ["it is ready", { ...made, ...ready }, "False", "False"],
      ["a newer version is dispatched", { ...made, ...upgrading }, "True", "False"],
      ["its workloads start", { ...made, ...starting }, "True", "False"],
      ["it is ready", { ...made, ...ready }, "False", "False"],
    ],
  ],
  [
    "whose repository is unavailable for a while",
    [
      ["it is ready", { ...made, ...ready }, "False", "False"],
      ["a poll fails", { ...made, ...ready, decision: pollFailed }, "False", "True"],
      ["another fails", { ...made, ...ready, decision: pollFailed }, "False", "True"],
      [
        "a poll succeeds",
        { ...made, ...ready, decision: { ...accepted, lastPollingTriggered: now } },
        "False",
        "False",
      ],
    ],
  ],
  [
    "whose repository is unavailable during its rollout",
    [
      ["it is dispatched", { ...made, ...waiting }, "True", "False"],
      ["a poll fails", { ...made, ...waiting, decision: pollFailed }, "False", "True"],
      ["a poll succeeds", { ...made, ...waiting }, "True", "False"],
    ],
  ],
  [
    "whose chart does not exist at first",
    [
      ["its chart is being resolved", { ...withoutBundle, decision: resolving }, "True", "False"],
      ["the chart does not exist", { ...withoutBundle, decision: rejected }, "False", "True"],
      ["the chart still does not exist", { ...withoutBundle, decision: rejected }, "False", "True"],
      ["it is found", withoutBundle, "True", "False"],
      ["it is ready", { ...made, ...ready }, "False", "False"],
    ],
  ],
  [
    "that cannot be installed",
    [
      ["it is dispatched", { ...made, ...waiting }, "True", "False"],
      ["the cluster rejects it, and it is retried", { ...made, ...failed }, "True", "False"],
      ["it is ready", { ...made, ...ready }, "False", "False"],
    ],
  ],
  [
    "whose retries are exceeded",
    [
      ["it is dispatched", { ...made, ...waiting }, "True", "False"],
      ["it is retried", { ...made, ...failed }, "True", "False"],
      ["no retries are left", { ...made, ...exceeded }, "False", "True"],
      ["a newer version is dispatched", { ...made, ...upgrading }, "True", "False"],
    ],
  ],
  [
    "without a matching cluster",
    [
      [
        "no cluster matches",
        { bundle: decidedBundle(aBundle(), { targets: 0 }), ...aggregated([]) },
        "False",
        "False",
      ],
    ],
  ],
];

for (const [story, steps] of stories) {
  test(`a HelmOp ${story}`, () => {
    let helmOp: HelmOp = polled;
    for (const [what, { decision = accepted, ...inputs }, reconciling, stalled] of steps) {
      const status = statusOf(decidedHelmOp(helmOp, decision), inputs);
      const holds = (type: string) => findCondition(status.conditions, type)?.status;
      assert.deepEqual(
        { Reconciling: holds("Reconciling"), Stalled: holds("Stalled") },
        { Reconciling: reconciling, Stalled: stalled },
        what,
      );
      helmOp = { ...helmOp, status };
    }
  });
}

function statusOf(helmOp: HelmOp, inputs: Omit<HelmOpInputs, "helmOp" | "now">): HelmOpStatus {
  const status = helmOpStatus({ ...inputs, helmOp, now });
  assert.ok(status !== undefined);
  return status;
}

const paused = aDeployment("oslo", {
  spec: { deploymentID: digestA, stagedDeploymentID: digestB },
  status: { appliedDeploymentID: digestA, ready: true },
});

/** By the state of the only cluster, as the roll-up makes it; the HelmOp was settled before. */
const inEachState: Readonly<Record<BundleState, readonly [ReturnType<typeof paris>, string]>> = {
  Ready: [ready, "False"],
  ErrApplied: [failed, "True"],
  WaitApplied: [waiting, "True"],
  OutOfSync: [aggregated([paused]), "True"],
  Pending: [aggregated([], 1), "True"],
  NotReady: [starting, "False"],
  Modified: [paris({ appliedDeploymentID: digestA, ready: true, nonModified: false }), "False"],
  Offline: [aggregated([aDeployment("paris")], 0, [aCluster("paris")]), "False"],
};

describe("conditions that programs wait for", () => {
  test.each(bundleStates)("Reconciling while its only cluster is %s", (state) => {
    const [found, expected] = inEachState[state];
    const settled = {
      ...polled,
      status: statusOf(decidedHelmOp(polled, accepted), { ...made, ...ready }),
    };
    const { conditions, display } = statusOf(decidedHelmOp(settled, accepted), {
      ...made,
      ...found,
    });

    assert.equal(display?.state ?? "Ready", state);
    assert.equal(findCondition(conditions, "Reconciling")?.status, expected);
  });

  test("Stalled has the reason of Polled", () => {
    const status = statusOf(decidedHelmOp(polled, pollFailed), { ...made, ...ready });
    const { reason, message } = findCondition(status.conditions, "Stalled") ?? {};
    assert.deepEqual([reason, message], ["Stalled", "could not get a chart version: 500"]);
  });

  test("Stalled has the reason of its releases, unless it has one of its own", () => {
    const of = (decision: HelmOpDecision) =>
      findCondition(
        statusOf(decidedHelmOp(polled, decision), { ...made, ...exceeded }).conditions,
        "Stalled",
      );
    assert.equal(of(accepted)?.reason, "RetriesExceeded");
    assert.match(of(accepted)?.message ?? "", /^1 of 1 clusters; fleet-default\/paris: no$/);
    assert.equal(of(pollFailed)?.reason, "Stalled");
  });

  test("Reconciling has the reason of Ready", () => {
    const { conditions } = statusOf(decidedHelmOp(polled, accepted), { ...made, ...waiting });
    const shown = ["Ready", "Reconciling"].map((type) => findCondition(conditions, type));
    assert.equal(shown[1]?.reason, "WaitApplied");
    assert.equal(shown[1].message, shown[0]?.message);
  });

  test("a change that was not reconciled yet counts as Reconciling", () => {
    const helmOp = decidedHelmOp(aHelmOp({}, { generation: 2 }), accepted);
    const status = statusOf(helmOp, { ...made, ...ready });
    assert.equal(findCondition(status.conditions, "Reconciling")?.status, "True");
    assert.equal(status.observedGeneration, 1);
  });
});
