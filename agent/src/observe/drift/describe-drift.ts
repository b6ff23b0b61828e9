/** The drift of a release in sentences, with Flux's reasons. Pure. */
import { fluxReason } from "@flotilla/shared/flux/reasons";
import { formatTime } from "@flotilla/shared/time";
import type { ChangedField, DriftObject, ObjectDrift } from "./drift.ts";
import type { ReleaseDrift } from "./release-drift.ts";

export interface DriftText {
  readonly status: "True" | "False";
  readonly reason: (typeof fluxReason)[
    | "driftDetected"
    | "noDriftDetected"
    | "driftCorrected"
    | "driftCorrectionFailed"];
  readonly message: string;
}

const maxObjects = 3;
const maxFields = 2;

/** Undefined: nobody has asked for it, and there is nothing to say. */
export function describeDrift(found: ReleaseDrift): DriftText | undefined {
  const { objects, failures, foreign, history, isChosen, uncompared } = found;
  const kept = [...uncomparedText(found), ...foreignText(found)];
  if (objects.length > 0) {
    const reason =
      failures.length > 0 ? fluxReason.driftCorrectionFailed : fluxReason.driftDetected;
    const message = [driftText(objects), ...failureTexts(found), ...backOffTexts(found), ...kept];
    return { status: "True", reason, message: message.join("; ") };
  }
  const corrected = history.find(({ result }) => result === "Corrected");
  if (corrected !== undefined) {
    const { object, fields, manager } = corrected;
    const what = fields.length === 0 ? "" : `: ${fields.join(", ")}`;
    const by = manager === undefined ? "" : ` changed by ${manager}`;
    const message = `corrected ${objectText(object)}${what}${by}`;
    return {
      status: "False",
      reason: fluxReason.driftCorrected,
      message: [message, ...kept].join("; "),
    };
  }
  if (!isChosen && foreign.length === 0 && uncompared.length === 0) return undefined;
  const which = uncompared.length > 0 ? "the other objects" : "the objects";
  const message = [`${which} are as desired`, ...kept].join("; ");
  return { status: "False", reason: fluxReason.noDriftDetected, message };
}

function driftText(objects: readonly ObjectDrift[]): string {
  const shown = objects.slice(0, maxObjects).map(objectDriftText);
  const more = objects.length - shown.length;
  return [...shown, ...(more > 0 ? [`${more} more objects have drift`] : [])].join("; ");
}

function objectDriftText({ object, what, fields, message }: ObjectDrift): string {
  const name = objectText(object);
  if (what === "missing") return `${name} is missing`;
  if (what === "rejected") return `${name} cannot be changed back: ${message ?? ""}`;
  const shown = fields.slice(0, maxFields).map(fieldText);
  const more = fields.length - shown.length;
  return `${name}: ${[...shown, ...(more > 0 ? [`${more} more fields`] : [])].join(", ")}`;
}

function fieldText({ pointer, manager, time }: ChangedField): string {
  if (manager === undefined) return `${pointer} was changed`;
  return `${pointer} was changed by ${manager}${time === undefined ? "" : ` at ${time}`}`;
}

function failureTexts({ failures }: ReleaseDrift): readonly string[] {
  const [first] = failures;
  return first === undefined
    ? []
    : [`${objectText(first.drift.object)} was not corrected: ${first.message}`];
}

function backOffTexts({ backedOff }: ReleaseDrift): readonly string[] {
  const [first] = backedOff;
  if (first === undefined) return [];
  const { pointer, manager, untilMs } = first;
  const what = pointer === "" ? "it" : pointer;
  const who = manager === undefined ? "something" : manager;
  const times = "was corrected three times in ten minutes";
  return [
    `${what} ${times} and ${who} changed it back each time: not corrected before ${formatTime(untilMs)}`,
  ];
}

function uncomparedText({ uncompared }: ReleaseDrift): readonly string[] {
  const [first] = uncompared;
  if (first === undefined) return [];
  const count = uncompared.length === 1 ? "1 object" : `${uncompared.length} objects`;
  return [`${count} could not be compared: ${first}`];
}

function foreignText({ foreign }: ReleaseDrift): readonly string[] {
  const [first] = foreign;
  if (first === undefined) return [];
  const { object, pointer, manager, time } = first;
  const when = time === undefined ? "" : ` at ${time}`;
  const more = foreign.length > 1 ? ` and ${foreign.length - 1} more fields of others` : "";
  return [`kept: ${objectText(object)} ${pointer}, added by ${manager}${when}${more}`];
}

function objectText({ kind, namespace, name }: DriftObject): string {
  return `${kind} ${namespace === undefined ? "" : `${namespace}/`}${name}`;
}

/** The fields that others have changed, with who did; the first ones. */
export function changedFields(found: ReleaseDrift | undefined): readonly string[] {
  return (found?.objects ?? [])
    .flatMap(({ object, fields }) =>
      fields.flatMap(({ pointer, manager }) =>
        manager === undefined ? [] : [`${pointer} of ${objectText(object)} from ${manager}`],
      ),
    )
    .slice(0, maxTaken);
}

const maxTaken = 10;
