/** Which rollout of a Bundle makes the next step, and whether a new one starts. Pure. */
import type { RolloutStrategy } from "@flotilla/shared/api";
import type { BundleRollout, BundleRolloutStatus } from "@flotilla/shared/api/rollout";
import { isStaged } from "../../rules/index.ts";

/** A revision that is to be rolled out. */
export interface DesiredRevision {
  readonly revision: string;
  /** The version of its chart; undefined: the targets have several. */
  readonly version: string | undefined;
}

export type RolloutChoice =
  | {
      /** Makes its next step. */
      readonly kind: "step";
      readonly rollout: BundleRollout;
      /** The desired revision is the one before it. */
      readonly goesBack: boolean;
      /** Another revision starts in its place. */
      readonly isSuperseded: boolean;
      readonly next: DesiredRevision | undefined;
    }
  /** `stable`: the revision before, which is known to be good. */
  | { readonly kind: "start"; readonly stable: string | undefined };

/**
 * `rollouts`: the Bundle's that count, by number. Only the newest revision that waits is remembered, and a revision whose rollout
 * has halted or ended is not started again by itself.
 */
export function chooseRollout(
  rollouts: readonly BundleRollout[],
  desired: DesiredRevision,
  strategy: RolloutStrategy,
): RolloutChoice {
  const newest = rollouts.at(-1);
  if (newest === undefined) return { kind: "start", stable: undefined };
  const { status, spec } = newest;
  const phase = status?.phase ?? "Progressing";
  const stable = status?.stable;
  const step = { kind: "step", rollout: newest, goesBack: false, isSuperseded: false } as const;
  if (spec.revision === desired.revision)
    return phase === "Superseded" ? start(stable, desired) : { ...step, next: undefined };
  const isStable = stable === desired.revision;
  switch (phase) {
    case "Progressing":
    case "Waiting":
      if (isStable) return { ...step, goesBack: true, next: undefined };
      return restarts(strategy)
        ? { ...step, isSuperseded: true, next: undefined }
        : { ...step, next: desired };
    case "RollingBack":
      return { ...step, goesBack: isStable, next: isStable ? undefined : desired };
    case "Halted":
      return { ...step, goesBack: isStable, isSuperseded: !isStable, next: undefined };
    case "RolledBack":
      return isStable ? { ...step, goesBack: true, next: undefined } : start(stable, desired);
    case "Cancelled":
      return isStable ? { ...step, goesBack: true, next: undefined } : start(stable, desired);
    case "Completed":
      return start(spec.revision, desired);
    case "Superseded": {
      const before = isStable ? completedOf(rollouts, desired.revision) : undefined;
      return before === undefined
        ? start(stable, desired)
        : { ...step, rollout: before, next: undefined };
    }
  }
}

function start(stable: string | undefined, { revision }: DesiredRevision): RolloutChoice {
  return { kind: "start", stable: stable === revision ? undefined : stable };
}

/** Whether a newer revision takes over at once. */
function restarts(strategy: RolloutStrategy): boolean {
  const { onNewRevision, stages } = strategy;
  if (onNewRevision !== undefined) return onNewRevision === "Restart";
  return isStaged(strategy) && (stages ?? []).length === 0;
}

/** The rollout of a revision that was completed, whose contents its clusters may still need. */
export function completedOf(
  rollouts: readonly BundleRollout[],
  revision: string | undefined,
): BundleRollout | undefined {
  return rollouts.findLast(
    (rollout) => rollout.spec.revision === revision && rollout.status?.phase === "Completed",
  );
}

const endedPhases: ReadonlySet<BundleRolloutStatus["phase"]> = new Set([
  "RolledBack",
  "Completed",
  "Superseded",
  "Cancelled",
]);

/** Without `historyLimit`. */
const defaultHistory = 5;

/** Ended ones beyond the limit, oldest first; never the newest, nor one whose contents may still be needed. */
export function outdatedRollouts(
  rollouts: readonly BundleRollout[],
  { historyLimit = defaultHistory }: RolloutStrategy,
): readonly BundleRollout[] {
  const newest = rollouts.at(-1);
  const stable = completedOf(rollouts, newest?.status?.stable);
  const ended = rollouts.filter(
    (rollout) =>
      rollout !== newest &&
      rollout !== stable &&
      endedPhases.has(rollout.status?.phase ?? "Progressing"),
  );
  return ended.slice(0, Math.max(0, ended.length - historyLimit));
}
