/** The history of drift in the status of a BundleDeployment. Pure. */
import type { DeploymentState, DriftRecord } from "@flotilla/proto";
import type { BundleDeploymentStatus, DriftEvent } from "@flotilla/shared/api";
import { idOf } from "../../rules/index.ts";

const maxEvents = 5;

/** Characters of JSON, see `deployedObjects`: two entries while nothing is wrong, and five otherwise. */
const historyChars = { inSync: 400, drifted: 1_000 };

/** An agent knows only what has happened since its start, so what it reports is merged with what was known. */
export function driftHistory(
  { driftHistory: known = [] }: BundleDeploymentStatus,
  { drift, ready }: DeploymentState,
): Pick<BundleDeploymentStatus, "driftHistory"> {
  const reported = (drift?.history ?? []).map(toEvent);
  const ids = new Set(reported.map(eventId));
  const merged = [...reported, ...known.filter((event) => !ids.has(eventId(event)))]
    .toSorted((a, b) => (a.time < b.time ? 1 : a.time > b.time ? -1 : 0))
    .slice(0, maxEvents);
  const isInSync = ready && (drift?.count ?? 0) === 0;
  const chars = isInSync ? historyChars.inSync : historyChars.drifted;
  const end = merged.findIndex(
    (_, index) => JSON.stringify(merged.slice(0, index + 1)).length > chars,
  );
  const kept = end < 0 ? merged : merged.slice(0, end);
  return kept.length === 0 ? {} : { driftHistory: kept };
}

/** The result of the same changes may be another one later. */
function eventId(event: DriftEvent): string {
  return `${event.time} ${idOf(event)} ${(event.fields ?? []).join(" ")}`;
}

function toEvent({ time, fields, manager, result, ...object }: DriftRecord): DriftEvent {
  const { apiVersion, kind, namespace, name } = object;
  return {
    time,
    apiVersion,
    kind,
    ...(namespace !== undefined && { namespace }),
    name,
    ...(fields.length > 0 && { fields }),
    ...(manager !== undefined && { manager }),
    result,
  };
}
