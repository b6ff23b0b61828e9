/** The drift of a release, and what of it is to be corrected now. Pure. */
import type { DriftContent } from "@flotilla/shared/content";
import { type Correction, planCorrection } from "./back-off.ts";
import {
  type DriftEvent,
  type ForeignField,
  type ObjectComparison,
  type ObjectDrift,
  objectKey,
} from "./drift.ts";

/** A correction of an object that failed. */
export interface CorrectionFailure {
  readonly count: number;
  readonly message: string;
  /** ms since 1970. */
  readonly retryAtMs: number;
}

/** Fields of an object that were corrected too often. */
export interface BackedOff {
  readonly drift: ObjectDrift;
  readonly manager?: string | undefined;
  readonly pointer: string;
  readonly untilMs: number;
}

export interface ReleaseDrift {
  readonly mode: NonNullable<DriftContent["mode"]>;
  /** A user has chosen the mode. */
  readonly isChosen: boolean;
  /** In the order of Helm. */
  readonly objects: readonly ObjectDrift[];
  readonly foreign: readonly ForeignField[];
  readonly history: readonly DriftEvent[];
  readonly backedOff: readonly BackedOff[];
  readonly failures: readonly { readonly drift: ObjectDrift; readonly message: string }[];
  /** What is to be corrected now. */
  readonly correctable: readonly ObjectDrift[];
  readonly corrects: boolean;
  /** Why objects could not be compared. */
  readonly uncompared: readonly string[];
  /** When more may be corrected, ms since 1970. */
  readonly nextAtMs?: number | undefined;
}

export interface DriftFacts {
  readonly options: DriftContent;
  /** By object. */
  readonly comparisons: ReadonlyMap<string, ObjectComparison>;
  readonly failed: ReadonlyMap<string, CorrectionFailure>;
  readonly uncompared: ReadonlyMap<string, string>;
  readonly history: readonly DriftEvent[];
  readonly corrections: readonly Correction[];
  /** The keys of objects in the order of Helm. */
  readonly order: () => readonly string[];
  readonly nowMs: number;
}

export function releaseDrift(facts: DriftFacts): ReleaseDrift {
  const { options, comparisons, failed, history, corrections, nowMs } = facts;
  const { mode = "warn" } = options;
  const all = [...comparisons].flatMap(([key, { drift }]) =>
    drift === undefined ? [] : [[key, drift] as const],
  );
  const drifted = all.length > 1 ? inOrder(all, facts.order()) : all;
  const plans = drifted.map(([key, drift]) => ({
    drift,
    failure: failed.get(key),
    plan: planCorrection(drift, corrections, nowMs),
  }));
  const isEnabled = mode === "enabled";
  const correctable = plans.flatMap(({ drift, failure, plan }) =>
    isEnabled && plan.corrects && (failure === undefined || failure.retryAtMs <= nowMs)
      ? [drift]
      : [],
  );
  const backedOff = plans.flatMap(({ drift, plan }) =>
    isEnabled ? plan.backedOff.map((field) => ({ ...field, drift })) : [],
  );
  const times = [
    ...backedOff.map(({ untilMs }) => untilMs),
    ...plans.flatMap(({ failure }) => (failure === undefined ? [] : [failure.retryAtMs])),
  ];
  return {
    mode,
    isChosen: options.mode !== undefined,
    history,
    backedOff,
    correctable,
    objects: drifted.map(([, drift]) => drift),
    foreign: [...comparisons.values()].flatMap(({ foreign }) => foreign),
    failures: plans.flatMap(({ drift, failure }) =>
      failure === undefined ? [] : [{ drift, message: failure.message }],
    ),
    corrects: correctable.length > 0,
    uncompared: [...facts.uncompared.values()],
    ...(isEnabled && times.length > 0 && { nextAtMs: Math.min(...times) }),
  };
}

function inOrder(
  drifted: readonly (readonly [string, ObjectDrift])[],
  order: readonly string[],
): readonly (readonly [string, ObjectDrift])[] {
  const positions = new Map(order.map((key, index) => [key, index]));
  const of = ([key, drift]: readonly [string, ObjectDrift]): number =>
    positions.get(key) ?? positions.get(objectKey(drift.object)) ?? positions.size;
  return drifted.toSorted((a, b) => of(a) - of(b));
}
