/** Events of a HelmOp, each decided by comparing fields of the status before and after. */
import type { HelmOp, HelmOpStatus } from "@flotilla/shared/api";
import type { AppError } from "@flotilla/shared/errors";
import type { EventRecorder } from "@flotilla/shared/kube/events";
import { unknownFieldRemarks } from "../../rules/index.ts";

/** Names unknown fields once for each generation. */
export function recordRemarks(
  events: EventRecorder,
  helmOp: HelmOp,
  status: HelmOpStatus | undefined,
): void {
  if (status?.observedGeneration === helmOp.metadata.generation) return;
  const remarks = unknownFieldRemarks(helmOp);
  if (remarks.length === 0) return;
  events.record(helmOp, {
    type: "Warning",
    reason: "UnknownField",
    action: "ReadSpec",
    note: remarks.join("; "),
  });
}

export function recordVersion(
  events: EventRecorder,
  helmOp: HelmOp,
  before: HelmOpStatus | undefined,
  { version = "" }: HelmOpStatus,
): void {
  if (version === "" || version === before?.version) return;
  events.record(helmOp, {
    type: "Normal",
    reason: "GotNewChartVersion",
    action: "ResolveChart",
    note: version,
  });
}

export function recordFailure(events: EventRecorder, helmOp: HelmOp, error: AppError): void {
  events.record(helmOp, {
    type: "Warning",
    reason: "FailedToGetNewChartVersion",
    action: "ResolveChart",
    note: error.message,
  });
}
