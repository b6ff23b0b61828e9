/** The windows that the strategy of a rollout names or has: Schedules of its namespace, and expressions. */
import type { Schedule, StageWindow } from "@flotilla/shared/api";
import type { Store } from "@flotilla/shared/kube/cache";
import { keyOf } from "@flotilla/shared/kube/objects";
import { windowAt } from "@flotilla/shared/quartz";
import { createInlineWindows, type Schedules } from "../../rules/index.ts";
import type { WindowOf, WindowState } from "./stage-windows.ts";

export interface RolloutWindowsDeps {
  readonly schedules: Pick<Store<Schedule>, "get">;
  readonly rules: Pick<Schedules, "judge">;
}

export interface RolloutWindows {
  /** For rollouts of a namespace. It decides from the Schedules that there are and the time alone. */
  in(namespace: string): WindowOf;
}

export function createRolloutWindows({ schedules, rules }: RolloutWindowsDeps): RolloutWindows {
  const inline = createInlineWindows();

  function scheduleAt(namespace: string, name: string, atMs: number): WindowState {
    const schedule = schedules.get(keyOf({ namespace, name }));
    if (schedule === undefined || schedule.metadata.deletionTimestamp !== undefined)
      return unknown(
        `there is no Schedule ${name} in namespace ${namespace}, so window ${name} stays closed: create it, or change the strategy`,
      );
    const { window, problem = "" } = rules.judge(schedule);
    if (window === undefined)
      return unknown(
        `the Schedule ${name} is invalid, so window ${name} stays closed: ${problem}; correct it`,
      );
    const { isOpen, changesAtMs } = windowAt(window, atMs);
    return { isOpen, changesAtMs };
  }

  function inlineAt(window: StageWindow, atMs: number): WindowState {
    const state = inline.windowAt(window, atMs);
    return (
      state ??
      unknown(`window ${window.cron} stays closed: ${inline.problemOf(window) ?? "it is invalid"}`)
    );
  }

  return {
    in: (namespace) => (window, atMs) =>
      window.schedule === undefined
        ? inlineAt(window, atMs)
        : scheduleAt(namespace, window.schedule, atMs),
  };
}

function unknown(problem: string): WindowState {
  return { isOpen: false, changesAtMs: undefined, problem };
}
