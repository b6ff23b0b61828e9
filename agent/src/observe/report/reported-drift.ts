/** What is reported of the drift of a release: bounded lists, without values. Pure. */
import type { DeploymentState, DriftedObject, DriftRecord } from "@flotilla/proto";
import { formatTime } from "@flotilla/shared/time";
import type { DriftEvent, ObjectDrift } from "../drift/drift.ts";
import type { ReleaseDrift } from "../drift/release-drift.ts";

/** The objects in a state that have drifted. */
export const maxDrifted = 10;
const maxFields = 4;

/** Absent while there is nothing to report. */
export function toReportedDrift({
  objects,
  history,
  mode,
  isChosen,
}: Pick<ReleaseDrift, "objects" | "history" | "mode" | "isChosen">): Pick<
  DeploymentState,
  "drift"
> {
  if (objects.length === 0 && history.length === 0) return {};
  return {
    drift: {
      objects: objects.slice(0, maxDrifted).map(toObject),
      count: objects.length,
      // Unset means the same for the comparison, but with Fleet's result: the deployment is not ready.
      ...(isChosen && mode === "warn" && { isWarning: true as const }),
      history: history.map(toRecord),
    },
  };
}

function toObject({ object, what, fields, patch = "" }: ObjectDrift): DriftedObject {
  const last = fields
    .filter(({ manager }) => manager !== undefined)
    .toSorted((a, b) => ((a.time ?? "") < (b.time ?? "") ? 1 : -1))[0];
  return {
    ...named(object),
    missing: what === "missing",
    patch,
    fields: fields.slice(0, maxFields).map(({ pointer }) => pointer),
    ...(last?.manager !== undefined && { manager: last.manager }),
    ...(last?.time !== undefined && { time: last.time }),
  };
}

function toRecord({ atMs, object, fields, manager, result }: DriftEvent): DriftRecord {
  return {
    ...named(object),
    time: formatTime(atMs),
    fields,
    result,
    ...(manager !== undefined && { manager }),
  };
}

function named({ apiVersion, kind, namespace, name }: ObjectDrift["object"]) {
  return { apiVersion, kind, ...(namespace !== undefined && { namespace }), name };
}
