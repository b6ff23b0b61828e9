/** A short history of the drift of a release: when, what and by whom. Pure. */
import {
  type DriftEvent,
  type DriftResult,
  type ForeignField,
  type ObjectDrift,
  objectKey,
} from "./drift.ts";

/** The newest ones. */
export const maxEvents = 5;
const maxFields = 4;

export function driftEvent(drift: ObjectDrift, atMs: number, result: DriftResult): DriftEvent {
  const { object, fields } = drift;
  const manager = fields.find((field) => field.manager !== undefined)?.manager;
  return {
    atMs,
    object,
    result,
    fields: fields.slice(0, maxFields).map(({ pointer }) => pointer),
    ...(manager !== undefined && { manager }),
  };
}

/** Newest first. What is known of the same changes is replaced: they were detected once. */
export function withEvent(
  history: readonly DriftEvent[],
  event: DriftEvent,
): readonly DriftEvent[] {
  const at = history.findIndex((each) => isSameDrift(each, event));
  const known = history[at];
  return known === undefined || isFinal(known)
    ? [event, ...history].slice(0, maxEvents)
    : history.with(at, { ...event, atMs: known.atMs });
}

function isFinal({ result }: DriftEvent): boolean {
  return result === "Corrected" || result === "Foreign";
}

function isSameDrift(a: DriftEvent, b: DriftEvent): boolean {
  return (
    objectKey(a.object) === objectKey(b.object) &&
    a.manager === b.manager &&
    a.fields.join(" ") === b.fields.join(" ")
  );
}

/** One entry for each manager. */
export function foreignEvents(
  fields: readonly ForeignField[],
  atMs: number,
): readonly DriftEvent[] {
  const managers = [...new Set(fields.map(({ manager }) => manager))];
  return managers.flatMap((manager) => {
    const own = fields.filter((field) => field.manager === manager);
    const [first] = own;
    if (first === undefined) return [];
    const times = own.flatMap(({ time }) => (time === undefined ? [] : [Date.parse(time)]));
    return [
      {
        object: first.object,
        manager,
        result: "Foreign" as const,
        atMs: times.length > 0 ? Math.max(...times) : atMs,
        fields: own.slice(0, maxFields).map(({ pointer }) => pointer),
      },
    ];
  });
}
