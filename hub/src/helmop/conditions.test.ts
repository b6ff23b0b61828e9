import assert from "node:assert/strict";
import type { BundleDeploymentStatus } from "@flotilla/shared/api/bundle-deployment.ts";
import type { HelmOp } from "@flotilla/shared/api/helm-op.ts";
import { findCondition } from "@flotilla/shared/conditions/condition.ts";
import { describe, test } from "vitest";
import type { HelmOpIntent } from "../status/intent.ts";
import { aBundle, aDeployment, aHelmOp, digestA, digestB, now } from "../testing/objects.ts";
import { tallied } from "../testing/tallied.ts";
import { type HelmOpInputs, helmOpStatus } from "./status.ts";

const intent: HelmOpIntent = { generation: 1, accepted: { ok: true }, version: "1.2.9" };
const targeting = { generation: 1, targets: 1, waiting: 0 };
const refused: HelmOpIntent = {
  generation: 1,
  accepted: { ok: false, message: "no chart" },
  stalled: { reason: "Stalled", message: "no chart" },
};

function paris(status: BundleDeploymentStatus, deploymentID = digestA) {
  return tallied([
    aDeployment("paris", { status, spec: { deploymentID, stagedDeploymentID: deploymentID } }),
  ]);
}
const waiting = paris({});
const starting = paris({ appliedDeploymentID: digestA, ready: false });
const ready = paris({ appliedDeploymentID: digestA, ready: true });
const failed = paris({ conditions: [{ type: "Deployed", status: "False", message: "no" }] });
const upgrading = paris({ appliedDeploymentID: digestA, ready: true }, digestB);

const made = { bundle: aBundle(), targeting };
const unmade = { bundle: undefined, targeting: undefined, ...tallied([]) };
const pollFailed: HelmOpIntent = {
  ...intent,
  polled: { at: now, error: "500" },
  stalled: { reason: "Stalled", message: "500" },
};

type Step = readonly [
  what: string,
  inputs: Omit<HelmOpInputs, "helmOp" | "now" | "intent"> & { readonly intent?: HelmOpIntent },
  reconciling: "True" | "False",
  stalled: "True" | "False",
];

/** What happens to one HelmOp, one after the other, and what Reconciling and Stalled say of each. */
const stories: readonly (readonly [story: string, steps: readonly Step[]])[] = [
  [
    "that is installed, fails later and mends",
    [
      ["its chart is looked for", { ...unmade, intent: { generation: 1 } }, "True", "False"],
      ["its Bundle is made", unmade, "True", "False"],
      ["it is handed out", { ...made, ...waiting }, "True", "False"],
      ["its workloads start", { ...made, ...starting }, "True", "False"],
      ["it is ready", { ...made, ...ready }, "False", "False"],
      ["a workload fails", { ...made, ...starting }, "False", "False"],
      ["it mends", { ...made, ...ready }, "False", "False"],
    ],
  ],
  [
    "that is upgraded",
    [
      ["it is ready", { ...made, ...ready }, "False", "False"],
      ["a newer version is handed out", { ...made, ...upgrading }, "True", "False"],
      ["its workloads start", { ...made, ...starting }, "True", "False"],
      ["it is ready", { ...made, ...ready }, "False", "False"],
    ],
  ],
  [
    "whose repository is away for a while",
    [
      ["it is ready", { ...made, ...ready }, "False", "False"],
      ["a poll fails", { ...made, ...ready, intent: pollFailed }, "False", "True"],
      ["another fails", { ...made, ...ready, intent: pollFailed }, "False", "True"],
      [
        "a poll goes well",
        { ...made, ...ready, intent: { ...intent, polled: { at: now } } },
        "False",
        "False",
      ],
    ],
  ],
  [
    "whose repository is away while it is rolled out",
    [
      ["it is handed out", { ...made, ...waiting }, "True", "False"],
      ["a poll fails", { ...made, ...waiting, intent: pollFailed }, "False", "True"],
      ["a poll goes well", { ...made, ...waiting }, "True", "False"],
    ],
  ],
  [
    "whose chart is not there at first",
    [
      ["its chart is looked for", { ...unmade, intent: { generation: 1 } }, "True", "False"],
      ["it is not there", { ...unmade, intent: refused }, "False", "True"],
      ["it is still not there", { ...unmade, intent: refused }, "False", "True"],
      ["it is found", unmade, "True", "False"],
      ["it is ready", { ...made, ...ready }, "False", "False"],
    ],
  ],
  [
    "that cannot be installed",
    [
      ["it is handed out", { ...made, ...waiting }, "True", "False"],
      ["the cluster refuses it", { ...made, ...failed }, "False", "False"],
    ],
  ],
  [
    "that goes nowhere",
    [
      [
        "no cluster matches",
        { bundle: aBundle(), targeting: { ...targeting, targets: 0 }, ...tallied([]) },
        "False",
        "False",
      ],
    ],
  ],
];

for (const [story, steps] of stories) {
  test(`a HelmOp ${story}`, () => {
    let helmOp: HelmOp = aHelmOp();
    for (const [what, inputs, reconciling, stalled] of steps) {
      const status = helmOpStatus({ intent, ...inputs, helmOp, now });
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

describe("what programs wait for", () => {
  test("Stalled says why, as Polled does", () => {
    const status = helmOpStatus({ ...made, ...ready, intent: pollFailed, helmOp: aHelmOp(), now });
    const { reason, message } = findCondition(status.conditions, "Stalled") ?? {};
    assert.deepEqual([reason, message], ["Stalled", "500"]);
  });

  test("Reconciling says what is under way, as Ready does", () => {
    const { conditions } = helmOpStatus({ ...made, ...waiting, intent, helmOp: aHelmOp(), now });
    const told = ["Ready", "Reconciling"].map((type) => findCondition(conditions, type));
    assert.equal(told[1]?.reason, "WaitApplied");
    assert.equal(told[1].message, told[0]?.message);
  });

  test("a change that has not been looked at is under way", () => {
    const helmOp = aHelmOp({}, { generation: 2 });
    const status = helmOpStatus({ ...made, ...ready, intent, helmOp, now });
    assert.equal(findCondition(status.conditions, "Reconciling")?.status, "True");
    assert.equal(status.observedGeneration, 1);
  });
});
