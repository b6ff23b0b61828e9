/** The windows that the strategy of a rollout names or has: Schedules of its namespace, and expressions. */
import type { Cluster, Schedule, StageWindow } from "@flotilla/shared/api";
import type { Store } from "@flotilla/shared/kube/cache";
import { keyOf } from "@flotilla/shared/kube/objects";
import { type Window, windowAt } from "@flotilla/shared/quartz";
import {
  anyOpen,
  createInlineWindows,
  nextOpening,
  type Opening,
  type Schedules,
} from "../../rules/index.ts";
import {
  conditionsOf,
  openingOf,
  type WindowFacts,
  type WindowOf,
  type WindowState,
} from "./stage-windows.ts";

export interface RolloutWindowsDeps {
  readonly schedules: Pick<Store<Schedule>, "get">;
  readonly rules: Pick<Schedules, "judge" | "windowsOf">;
}

export interface RolloutWindows {
  /** For rollouts of a namespace. It decides from the Schedules that there are and the time alone. */
  in(namespace: string): NamespaceWindows;
}

export interface NamespaceWindows extends WindowFacts {
  /**
   * Whether the windows of a stage and the Schedules of a cluster are never open together. False where one of them alone is the
   * reason, which is said elsewhere.
   */
  isNeverOpenIn(cluster: Cluster, windows: readonly StageWindow[], atMs: number): boolean;
}

/** Openings that are kept, the newest ones. */
const mostKept = 1_000;

/** An opening, and from when on it was looked for: until then it stays the same. */
interface KnownOpening {
  readonly fromMs: number;
  readonly opening: Opening;
}

export function createRolloutWindows({ schedules, rules }: RolloutWindowsDeps): RolloutWindows {
  const inline = createInlineWindows();
  const ids = new WeakMap<Window, number>();
  const openings = new Map<string, KnownOpening>();
  let lastId = 0;

  function scheduleIn(namespace: string, name: string): Schedule | undefined {
    const schedule = schedules.get(keyOf({ namespace, name }));
    return schedule?.metadata.deletionTimestamp === undefined ? schedule : undefined;
  }

  function scheduleAt(namespace: string, name: string, atMs: number): WindowState {
    const schedule = scheduleIn(namespace, name);
    if (schedule === undefined)
      return unknown(
        `there is no Schedule ${name} in namespace ${namespace}, so window ${name} stays closed: create it, or change the strategy`,
      );
    const { window, problem = "" } = rules.judge(schedule);
    if (window === undefined)
      return unknown(
        `the Schedule ${name} is invalid, so window ${name} stays closed: ${problem}; correct it`,
      );
    return stateOf(window, atMs);
  }

  function inlineAt(window: StageWindow, atMs: number): WindowState {
    const state = inline.windowAt(window, atMs);
    return (
      state ??
      unknown(`window ${window.cron} stays closed: ${inline.problemOf(window) ?? "it is invalid"}`)
    );
  }

  /** A parsed window belongs to one spec of a Schedule, so that another id is another spec. */
  function idOf(window: Window | undefined): number | undefined {
    if (window === undefined) return undefined;
    const id = ids.get(window) ?? lastId + 1;
    lastId = Math.max(lastId, id);
    ids.set(window, id);
    return id;
  }

  /** What windows of stages depend on besides the time. */
  function sourcesOf(namespace: string, windows: readonly StageWindow[]): readonly unknown[] {
    return windows.map((window) => {
      if (window.schedule === undefined) return window;
      const schedule = scheduleIn(namespace, window.schedule);
      return [window, schedule && (idOf(rules.judge(schedule).window) ?? null)];
    });
  }

  function kept(sources: readonly unknown[], atMs: number, find: () => Opening): Opening {
    const key = JSON.stringify(sources);
    const found = openings.get(key);
    const known =
      found !== undefined && holdsAt(found, atMs) ? found : { fromMs: atMs, opening: find() };
    openings.delete(key);
    openings.set(key, known);
    for (const oldest of openings.keys()) {
      if (openings.size <= mostKept) break;
      openings.delete(oldest);
    }
    return known.opening;
  }

  return {
    in(namespace) {
      const windowOf: WindowOf = (window, atMs) =>
        window.schedule === undefined
          ? inlineAt(window, atMs)
          : scheduleAt(namespace, window.schedule, atMs);
      const stageOpening: WindowFacts["openingOf"] = (windows, atMs) =>
        kept(sourcesOf(namespace, windows), atMs, () => openingOf(windows, windowOf, atMs));
      return {
        windowOf,
        openingOf: stageOpening,
        isNeverOpenIn(cluster, windows, atMs) {
          const own = rules.windowsOf(cluster);
          if (windows.length === 0 || own.length === 0) return false;
          const ownOpens = anyOpen(own, stateOf);
          if (ownOpens(atMs) === undefined || isNever(stageOpening(windows, atMs))) return false;
          const sources = [own.map(idOf), sourcesOf(namespace, windows)];
          const conditions = [...conditionsOf(windows, windowOf), ownOpens];
          return isNever(kept(sources, atMs, () => nextOpening(conditions, atMs)));
        },
      };
    },
  };
}

function isNever(opening: Opening): boolean {
  return opening.kind === "closed" && opening.isNever;
}

function holdsAt({ fromMs, opening }: KnownOpening, atMs: number): boolean {
  const untilMs = opening.kind === "opens" ? opening.atMs : opening.untilMs;
  return atMs >= fromMs && atMs < (untilMs ?? Number.POSITIVE_INFINITY);
}

function stateOf(window: Window, atMs: number): WindowState {
  const { isOpen, changesAtMs } = windowAt(window, atMs);
  return { isOpen, changesAtMs };
}

function unknown(problem: string): WindowState {
  return { isOpen: false, changesAtMs: undefined, problem };
}
