/** What phases, counts and gates of rollouts are called. Pure. */
import type { Rollout, RolloutGate, RolloutStageView } from "@flotilla/shared/dashboard";
import { plural } from "../fleet/index.ts";
import type { Tone } from "../state/index.ts";

export interface Words {
  readonly word: string;
  readonly tone: Tone;
}

const phases: Readonly<Record<Rollout["phase"], Words>> = {
  Progressing: { word: "In progress", tone: "busy" },
  Waiting: { word: "Waiting", tone: "warn" },
  Halted: { word: "Halted", tone: "bad" },
  RollingBack: { word: "Rolling back", tone: "warn" },
  RolledBack: { word: "Rolled back", tone: "off" },
  Completed: { word: "Completed", tone: "good" },
  Superseded: { word: "Superseded", tone: "off" },
  Cancelled: { word: "Cancelled", tone: "off" },
};

const stagePhases: Readonly<Record<RolloutStageView["phase"], Words>> = {
  Pending: { word: "Not begun", tone: "off" },
  Gated: { word: "At its gate", tone: "warn" },
  Progressing: { word: "In progress", tone: "busy" },
  Soaking: { word: "Soaking", tone: "busy" },
  Verifying: { word: "Verifying", tone: "busy" },
  Completed: { word: "Completed", tone: "good" },
  Skipped: { word: "Skipped", tone: "off" },
  Halted: { word: "Halted", tone: "bad" },
  RolledBack: { word: "Rolled back", tone: "off" },
};

export function phaseWords(phase: Rollout["phase"]): Words {
  return phases[phase];
}

export function stageWords(phase: RolloutStageView["phase"]): Words {
  return stagePhases[phase];
}

type Counts = Pick<
  Rollout,
  | "total"
  | "done"
  | "inFlight"
  | "failed"
  | "pending"
  | "offline"
  | "paused"
  | "skipped"
  | "offSchedule"
>;

export interface Part {
  readonly name: string;
  readonly count: number;
  /** The class of its colour; the bar is never the only one that says it. */
  readonly tone: Tone | "none";
}

/** The parts of a bar that have clusters, in the order in which clusters go through them. */
export function partsOf(counts: Counts): readonly Part[] {
  const parts: readonly Part[] = [
    { name: "done", count: counts.done, tone: "good" },
    { name: "in flight", count: counts.inFlight, tone: "busy" },
    { name: "failed", count: counts.failed, tone: "bad" },
    { name: "offline", count: counts.offline, tone: "off" },
    { name: "paused", count: counts.paused, tone: "off" },
    { name: "skipped", count: counts.skipped, tone: "off" },
    { name: "waiting for a window", count: counts.offSchedule, tone: "warn" },
    { name: "pending", count: counts.pending, tone: "none" },
  ];
  return parts.filter(({ count }) => count > 0);
}

export function countsText(counts: Counts): string {
  if (counts.total === 0) return "no clusters";
  const parts = partsOf(counts).filter(({ name }) => name !== "done");
  return [
    `${number(counts.done)} of ${plural(counts.total, "cluster")} done`,
    ...parts.map(({ name, count }) => `${number(count)} ${name}`),
  ].join(", ");
}

/** What a gate asks. */
export function questionOf(
  { type, when, name, version, clusters }: RolloutGate,
  stage: string,
): string {
  const what = version ?? "this revision";
  const where = clusters === undefined ? `stage ${stage}` : plural(clusters.count, "cluster");
  switch (type) {
    case "Approval":
      return when === "Before" ? `May ${what} go to ${where}?` : `May stage ${stage} be left?`;
    case "External":
      return `Does ${name} say yes?`;
    case "Soak":
      return "Has nothing failed for long enough?";
    case "Test":
      return "Have the tests of the chart succeeded?";
    case "Window":
      return "Is the window open?";
    case "Lifecycle":
      return "Is the lifecycle completed?";
    case "Rollout":
      return "Has the rollout of the other app come so far?";
  }
}

export function resultWord({ result, startedAt }: RolloutGate): string {
  if (result === "Waiting" && startedAt === undefined) return "its turn comes later";
  return result === "Waiting" ? "waiting" : result.toLowerCase();
}

export function number(count: number): string {
  return count.toLocaleString("en");
}

/** Cut as digests are elsewhere. */
export function shortDigest(digest: string): string {
  return `${digest.slice(0, 19)}…`;
}
