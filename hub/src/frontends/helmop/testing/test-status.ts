/** A HelmOp that is Ready everywhere, and the statuses of HelmOps that differ from it. */
import assert from "node:assert/strict";
import type { Condition, HelmOpStatus } from "@flotilla/shared/api";
import { findCondition } from "@flotilla/shared/conditions";
import {
  aBundle,
  accepted,
  aDeployment,
  aggregated,
  aHelmOp,
  decidedBundle,
  decidedHelmOp,
  digestA,
  type HelmOpDecision,
  now,
} from "../../../testing/index.ts";
import { type HelmOpInputs, helmOpStatus } from "../status.ts";

export const ready = aDeployment("paris", {
  status: { appliedDeploymentID: digestA, ready: true },
});
export const failed = aDeployment("rome", {
  status: { conditions: [{ type: "Deployed", status: "False", message: "no chart" }] },
});

/** Ready on its only cluster. */
export const settled: HelmOpInputs = {
  helmOp: decidedHelmOp(aHelmOp(), { ...accepted, version: "1.2.9" }),
  bundle: decidedBundle(aBundle()),
  ...aggregated([ready]),
  now,
};

/** The status of a HelmOp that has one. */
export function statusOf(inputs: HelmOpInputs): HelmOpStatus {
  const status = helmOpStatus(inputs);
  assert.ok(status !== undefined);
  return status;
}

/** The condition of the settled HelmOp with other inputs. */
export function conditionOf(inputs: Partial<HelmOpInputs>, type: string): Condition | undefined {
  return findCondition(statusOf({ ...settled, ...inputs }).conditions, type);
}

/** The polled HelmOp, as its reconcile decided. */
export function decided(decision: HelmOpDecision): Pick<HelmOpInputs, "helmOp"> {
  return { helmOp: decidedHelmOp(aHelmOp({ pollingInterval: "5m" }), decision) };
}

/** For `decided`. */
export const pollFailed: HelmOpDecision = {
  ...accepted,
  version: "1.2.9",
  lastPollingTriggered: now,
  polling: { failures: 1, error: "connection refused" },
};
