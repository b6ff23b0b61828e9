/**
 * When a drifted object is corrected: two controllers that fight over a field must not change it forever. After three corrections
 * of a field in ten minutes it stays as it is until the first of them is older. Pure.
 */
import { type ObjectDrift, objectKey } from "./drift.ts";

/** One correction of one field. */
export interface Correction {
  readonly object: string;
  /** "": the whole object. */
  readonly pointer: string;
  readonly atMs: number;
}

const maxCorrections = 3;
export const correctionWindowMs = 10 * 60_000;

/** A field that is not corrected before a time, ms since 1970. */
export interface BackedOffField {
  readonly pointer: string;
  readonly manager?: string | undefined;
  readonly untilMs: number;
}

export interface CorrectionPlan {
  /** Whether anything of the object is corrected now. */
  readonly corrects: boolean;
  readonly backedOff: readonly BackedOffField[];
}

export function planCorrection(
  drift: ObjectDrift,
  corrections: readonly Correction[],
  nowMs: number,
): CorrectionPlan {
  const object = objectKey(drift.object);
  const fields = correctedFields(drift);
  const backedOff = fields.flatMap(({ pointer, manager }) => {
    const untilMs = backOffUntilMs(
      corrections.filter((each) => each.object === object && each.pointer === pointer),
      nowMs,
    );
    return untilMs === undefined ? [] : [{ pointer, manager, untilMs }];
  });
  return { corrects: backedOff.length < fields.length, backedOff };
}

/** What a correction of the object counts for. */
export function correctionsOf(drift: ObjectDrift, nowMs: number): readonly Correction[] {
  const object = objectKey(drift.object);
  return correctedFields(drift).map(({ pointer }) => ({ object, pointer, atMs: nowMs }));
}

function correctedFields({ what, fields }: ObjectDrift): ObjectDrift["fields"] {
  return what === "changed" ? fields : [{ pointer: "" }];
}

function backOffUntilMs(corrections: readonly Correction[], nowMs: number): number | undefined {
  const recent = corrections
    .map(({ atMs }) => atMs)
    .filter((atMs) => atMs > nowMs - correctionWindowMs);
  const first = recent.toSorted((a, b) => a - b).at(-maxCorrections);
  return first === undefined ? undefined : first + correctionWindowMs;
}
