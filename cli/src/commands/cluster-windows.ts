/** When one cluster may be changed: its Schedules, the windows of the stages that take it, and why it is closed now. Pure. */
import { anyOpen, closed, createSchedules, type HoldsFrom, nextOpening } from "@flotilla/hub/rules";
import type { Cluster, ClusterGroup, Schedule, StageWindow } from "@flotilla/shared/api";
import type { BundleRollout } from "@flotilla/shared/api/rollout";
import { AppError } from "@flotilla/shared/errors";
import { keyOf } from "@flotilla/shared/kube/objects";
import { nextStarts, parseWindow, type Window, windowAt, type Zone } from "@flotilla/shared/quartz";
import { listNames, oneLine } from "@flotilla/shared/text";
import { formatTime } from "@flotilla/shared/time";
import { formatTable } from "./format-table.ts";
import { printable } from "./printable.ts";
import { zonedTime } from "./schedule-table.ts";

/** A stage with windows, of a rollout that has not ended, which takes the cluster. */
export interface WindowedStage {
  readonly rollout: BundleRollout;
  readonly stage: string;
  readonly windows: readonly StageWindow[];
}

export interface ClusterWindowFacts {
  readonly cluster: Cluster;
  /** All of its namespace. */
  readonly schedules: readonly Schedule[];
  /** All of its namespace. */
  readonly groups: readonly ClusterGroup[];
  /** Undefined: the user may not read what says it. */
  readonly stages: readonly WindowedStage[] | undefined;
}

export interface ShownAt {
  readonly nowMs: number;
  /** The zone of the user. */
  readonly here: Zone;
  /** How many windows of the cluster, and of each stage, are listed. */
  readonly count: number;
}

/** A window, or why there is none. */
interface Named {
  readonly name: string;
  readonly deny: boolean;
  readonly window?: Window;
  readonly problem?: string;
}

/** Windows that decide together. */
interface Group {
  /** `the cluster`, or a rollout with its stage. */
  readonly of: string;
  readonly windows: readonly Named[];
}

/** The state now, then the next windows, the ones that are open first. */
export function clusterWindowsText(facts: ClusterWindowFacts, at: ShownAt): string {
  const { cluster, stages } = facts;
  const own: Group = { of: "the cluster", windows: ownWindows(facts) };
  const staged = (stages ?? []).map((each): Group => stageGroup(each, facts.schedules));
  const ownConditions = conditionsOf(own);
  const heads: readonly (readonly [string, string])[] = [
    ["cluster", keyOf(cluster)],
    ["now", stateText(own, ownConditions, at)],
    [
      "paused",
      cluster.spec.paused === true
        ? "spec.paused of the Cluster is true: nothing changes, whatever windows say"
        : "",
    ],
    ...staged.map((group): readonly [string, string] => [
      "rollout",
      `${group.of}: ${stateText(group, [...ownConditions, ...conditionsOf(group)], at)}`,
    ]),
    ["rollout", stages === undefined ? "you may not read which stages take it" : ""],
  ];
  const lines = heads
    .filter(([, text]) => text !== "")
    .map(([name, text]) => `${name.padEnd(10)} ${oneLine(printable(text))}\n`);
  const table = formatTable(
    [
      "WINDOW",
      "OF",
      "STATE",
      "OPENS IN ITS ZONE",
      `OPENS IN ${at.here.name}`,
      `CLOSES IN ${at.here.name}`,
    ],
    [own, ...staged].flatMap((group) => rowsOf(group, at)),
  );
  return [lines.join(""), table].filter((part) => part !== "").join("\n");
}

function ownWindows({ cluster, schedules, groups }: ClusterWindowFacts): readonly Named[] {
  const rules = createSchedules({
    schedules: { byIndex: () => schedules },
    groups: { byIndex: () => groups },
  });
  return schedules
    .filter((schedule) => rules.isFor(schedule, cluster))
    .map((schedule) => ({
      name: schedule.metadata.name,
      deny: false,
      ...rules.judge(schedule),
    }));
}

function stageGroup(
  { rollout, stage, windows }: WindowedStage,
  schedules: readonly Schedule[],
): Group {
  return {
    of: `${rollout.metadata.name}, stage ${stage}`,
    windows: windows.map((window) => stageWindow(window, schedules)),
  };
}

function stageWindow(window: StageWindow, schedules: readonly Schedule[]): Named {
  const { schedule: name, cron, duration, location, deny = false } = window;
  if (!name) return { name: cron ?? "", deny, ...parsed({ schedule: cron, duration, location }) };
  const found = schedules.find(
    ({ metadata }) => metadata.name === name && metadata.deletionTimestamp === undefined,
  );
  return found === undefined
    ? { name, deny, problem: "there is no Schedule of that name" }
    : { name, deny, ...parsed(found.spec) };
}

function parsed(text: Parameters<typeof parseWindow>[0]): Pick<Named, "window" | "problem"> {
  try {
    return { window: parseWindow(text) };
  } catch (thrown) {
    return { problem: AppError.from(thrown).message };
  }
}

/** What must hold for the windows to let changes through; none where there are no windows. */
function conditionsOf({ windows }: Group): readonly HoldsFrom[] {
  const permitting = windows.filter(({ deny }) => !deny);
  const denying = windows.filter(({ deny }) => deny);
  return [
    ...(permitting.length === 0 ? [] : [anyOpen(permitting, stateOf)]),
    ...denying.map((window) => closed(window, stateOf)),
  ];
}

/** One that cannot be judged stays as it protects. */
function stateOf({ window, deny }: Named, atMs: number) {
  if (window === undefined) return { isOpen: deny, changesAtMs: undefined };
  const { isOpen, changesAtMs } = windowAt(window, atMs);
  return { isOpen, changesAtMs };
}

function stateText(
  group: Group,
  conditions: readonly HoldsFrom[],
  { nowMs, here }: ShownAt,
): string {
  const problems = group.windows
    .filter(({ problem }) => problem !== undefined)
    .map(
      ({ name, problem, deny }) =>
        `; ${name} ${deny ? "always denies" : "is never open"}: ${problem}`,
    )
    .join("");
  if (conditions.length === 0)
    return "open: no Schedule is for it, so that it may be changed at any time";
  const opening = nextOpening(conditions, nowMs);
  if (opening.kind === "opens" && opening.atMs === nowMs)
    return `open: ${openText(group, nowMs)}${problems}`;
  const opens =
    opening.kind === "opens"
      ? `opens at ${formatTime(opening.atMs)}, which is ${zonedTime(here, opening.atMs)} ${here.name}`
      : opening.untilMs === undefined || opening.isNever
        ? "never opens again"
        : `does not open before ${formatTime(opening.untilMs)}`;
  return `closed: ${closedText(group, nowMs)}; ${opens}${problems}`;
}

/** By the windows of one group. */
function openText({ windows }: Group, nowMs: number): string {
  const open = windows.filter((each) => !each.deny && stateOf(each, nowMs).isOpen);
  if (open.length === 0) return "no window denies changes";
  const ends = open.map((each) => stateOf(each, nowMs).changesAtMs);
  const lastMs = Math.max(...ends.map((endMs) => endMs ?? 0));
  return `${listNames(open.map(({ name }) => name))} ${open.length === 1 ? "is" : "are"} active, until ${formatTime(lastMs)}`;
}

function closedText({ windows }: Group, nowMs: number): string {
  const denying = windows.filter((each) => each.deny && stateOf(each, nowMs).isOpen);
  if (denying.length > 0)
    return `${listNames(denying.map(({ name }) => name))} ${denying.length === 1 ? "denies" : "deny"} changes`;
  const permitting = windows.filter(({ deny }) => !deny);
  const isOpen = permitting.some((each) => stateOf(each, nowMs).isOpen);
  if (permitting.length === 0 || isOpen) return "no Schedule of the cluster is active";
  return `of ${listNames(permitting.map(({ name }) => name))} none is active`;
}

/** The windows that are open and the next ones, in the order in which they open. */
function rowsOf(
  { of, windows }: Group,
  { nowMs, here, count }: ShownAt,
): readonly (readonly string[])[] {
  return windows
    .flatMap(({ name, deny, window }) => {
      if (window === undefined) return [];
      const { expression, zone, durationMs } = window;
      const starts = nextStarts(expression, zone, { afterMs: nowMs - durationMs, count });
      return starts.map((startMs) => ({
        startMs,
        cells: [
          name,
          of,
          deny ? "denies" : startMs <= nowMs ? "open" : "",
          `${zonedTime(zone, startMs)} ${zone.name}`,
          zonedTime(here, startMs),
          zonedTime(here, startMs + durationMs),
        ],
      }));
    })
    .toSorted((a, b) => a.startMs - b.startMs)
    .slice(0, count)
    .map(({ cells }) => cells.map((cell) => printable(cell)));
}
