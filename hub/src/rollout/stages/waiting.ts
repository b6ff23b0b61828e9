/** What a rollout waits for, as one sentence. Pure. Programs decide by `reason`. */
import type { GateRecord } from "@flotilla/shared/api/rollout";
import { formatTime } from "@flotilla/shared/time";
import { type ClosedWindow, closedWindowText } from "./stage-windows.ts";

/** Why nothing is promoted, or what is in flight. */
export type Waiting =
  | {
      readonly reason: "GateWaiting";
      readonly stage: string;
      readonly gates: readonly GateRecord[];
      /** Clusters that need an approval which the stage began without. */
      readonly unapproved?: Named;
      /** Clusters that are asked what would change in them; absent: none. */
      readonly planning?: Named | undefined;
      /** Clusters in which it is not known what would change, and why; absent: none. */
      readonly unknown?: (Named & { readonly why: string }) | undefined;
      /** Clusters whose agents cannot plan once more right before Helm runs, and why; absent: none. */
      readonly unverified?: (Named & { readonly why: string }) | undefined;
      /** Clusters whose agents have refused what was promoted; absent: none. */
      readonly refused?: Named | undefined;
      /** What windows, and gates for other apps, among them wait for, as sentences. */
      readonly details?: readonly string[];
    }
  | {
      readonly reason: "Soaking";
      readonly stage: string;
      readonly duration: string;
      readonly untilMs: number | undefined;
    }
  | {
      readonly reason: "WindowClosed";
      readonly stage: string;
      /** The window that keeps the stage closed; undefined: clusters wait for their own Schedules. */
      readonly window: ClosedWindow | undefined;
      readonly clusters: number;
      /** Clusters whose own Schedules are never open together with the windows of the stage; absent: none is known. */
      readonly shutOut?: Named | undefined;
    }
  | {
      readonly reason: "ClustersMissing";
      readonly stage: string;
      readonly done: number;
      readonly needed: number;
      readonly missing: Named;
    }
  | {
      readonly reason: "DependencyNotReady";
      readonly stage: string;
      readonly clusters: Named;
      /** The deployments that they wait for; none: not known. */
      readonly dependencies: Named;
      /** What keeps the rollouts of the first of these from going on, as sentences. */
      readonly problems: readonly string[];
      readonly isIdle: boolean;
    }
  | {
      readonly reason: "LimitReached";
      readonly stage: string;
      readonly limit: number;
      readonly unavailable: Named;
    }
  | { readonly reason: "StageEmpty"; readonly stage: string; readonly total: number }
  | {
      readonly reason: "Promoting";
      readonly stage: string;
      readonly done: number;
      readonly total: number;
      readonly inFlight: Named;
    }
  | { readonly reason: "Paused" };

/** Some of the clusters that a sentence is about. */
export interface Named {
  readonly count: number;
  readonly first: readonly string[];
}

/** As many as a sentence names. */
const mostNamed = 3;

export function named(keys: readonly string[]): Named {
  return { count: keys.length, first: keys.slice(0, mostNamed) };
}

export function namesText({ count, first }: Named): string {
  return count > first.length ? `${first.join(", ")}, …` : first.join(", ");
}

export function clustersText({ count }: Pick<Named, "count">): string {
  return count === 1 ? "1 cluster" : `${count} clusters`;
}

export function waitingText(waiting: Waiting): string {
  switch (waiting.reason) {
    case "GateWaiting":
      if (waiting.unapproved !== undefined)
        return `stage ${waiting.stage} began without the approval that a Policy requires before ${namesText(waiting.unapproved)}: delete this BundleRollout, and it starts again with its gates`;
      return gateWaitingText(waiting);
    case "Soaking":
      return waiting.untilMs === undefined
        ? `stage ${waiting.stage} soaks for ${waiting.duration} once all of its clusters are ready again`
        : `stage ${waiting.stage} soaks for ${waiting.duration}, until ${formatTime(waiting.untilMs)}`;
    case "WindowClosed": {
      const { stage, window, clusters, shutOut } = waiting;
      const waits = `${clustersText({ count: clusters })} ${clusters === 1 ? "waits" : "wait"} for`;
      const text =
        window === undefined
          ? `stage ${stage}: ${waits} a window of ${clusters === 1 ? "its" : "their"} Schedules`
          : `stage ${stage}: ${closedWindowText(window)}; ${waits} it`;
      return shutOut === undefined
        ? text
        : `${text}; the windows of the stage are never open together with the Schedules of ${namesText(shutOut)}: change one of them, or skip ${shutOut.count === 1 ? "the cluster" : "these clusters"}`;
    }
    case "ClustersMissing": {
      const { stage, done, needed, missing } = waiting;
      const remedy =
        missing.count === 0
          ? ", and it has no more clusters: lower minSuccess, or add clusters to it"
          : `, ${namesText(missing)}: connect or resume enough of them, or change minSuccess`;
      return `stage ${stage}: ${done} of ${needed} done${remedy}`;
    }
    case "DependencyNotReady": {
      const { stage, clusters, dependencies, problems } = waiting;
      const what = dependencies.count === 0 ? "dependencies" : namesText(dependencies);
      const text = `stage ${stage} waits for ${what} in ${clustersText(clusters)}: ${namesText(clusters)}`;
      return [text, ...problems].join("; ");
    }
    case "LimitReached": {
      const { stage, limit, unavailable } = waiting;
      return `stage ${stage}: ${clustersText(unavailable)} of at most ${limit} unavailable: ${namesText(unavailable)}`;
    }
    case "StageEmpty":
      return `stage ${waiting.stage} matches none of ${clustersText({ count: waiting.total })}: correct its selector, or set allowEmpty`;
    case "Promoting": {
      const { stage, done, total, inFlight } = waiting;
      const flying =
        inFlight.count === 0 ? "" : `, ${inFlight.count} in flight: ${namesText(inFlight)}`;
      return `stage ${stage}: ${done} of ${total} done${flying}`;
    }
    case "Paused":
      return "paused: gates, soaks and deadlines stand still";
  }
}

function gateWaitingText({
  stage,
  gates,
  planning,
  unknown,
  unverified,
  refused,
  details = [],
}: Extract<Waiting, { reason: "GateWaiting" }>): string {
  const parts = [
    ...(gates.length === 0 ? [] : [`waits for ${gates.map(gateText).join(" and ")}`]),
    ...(planning === undefined
      ? []
      : [`asks the agents of ${clustersText(planning)} what would change`]),
    ...(unknown === undefined
      ? []
      : [
          `does not know what would change in ${clustersText(unknown)}: ${namesText(unknown)}: ${unknown.why}`,
        ]),
    ...(unverified === undefined
      ? []
      : [`leaves out ${clustersText(unverified)}: ${namesText(unverified)}: ${unverified.why}`]),
    ...(refused === undefined
      ? []
      : [
          `got ${clustersText(refused)} back: something else would have changed by then than was approved (PLAN_STALE): ${namesText(refused)}`,
        ]),
  ];
  const text = parts.length === 0 ? "waits for the approval of a plan" : parts.join("; ");
  const sentence =
    gates.length > 0 && parts.length === 1 ? `${text} of stage ${stage}` : `stage ${stage} ${text}`;
  return details.length === 0 ? sentence : `${sentence}: ${details.join("; ")}`;
}

/** What a plan changes, in numbers. */
function planText({ plan }: GateRecord): string {
  if (plan === undefined) return "";
  const groups = plan.groups === 1 ? "1 group" : `${plan.groups} groups`;
  return `: ${groups} of changes in ${clustersText({ count: plan.changed })}`;
}

function gateText(record: GateRecord): string {
  const { name, type, expiresAt } = record;
  const until = expiresAt === undefined ? "" : ` (until ${expiresAt.slice(0, 19)}Z)`;
  switch (type) {
    case "Approval":
      return `the approval ${name}${until}${planText(record)}`;
    case "Test":
      return `the tests ${name}${until}`;
    case "Window":
      return `the window ${name}${until}`;
    case "Rollout":
      return `the rollout of another app, gate ${name}${until}`;
    case "Soak":
      return `the soak ${name}`;
    default:
      return `the gate ${name}${until}`;
  }
}
