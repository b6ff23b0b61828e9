/** Restarts a process as a kubelet does: some time after it has ended, for whatever reason. */
import { setTimeout as sleep } from "node:timers/promises";
import type { RunningProcess } from "@flotilla/local/process";
import { messageOf } from "@flotilla/shared/errors";
import type { EventLog } from "./event-log.ts";

export interface ProcessToSupervise {
  readonly name: string;
  process(): RunningProcess;
  start(): Promise<void>;
}

export interface SupervisedProcess {
  readonly name: string;
  readonly isUp: boolean;
  /** kill -9, and a restart after `downMs`; false when it has ended already. */
  kill(downMs: number): boolean;
  /** Resolves when it is up. */
  up(): Promise<void>;
  /** How often it has ended. */
  readonly ends: number;
  /** Ends the supervision; resolves when no start is in progress. */
  stop(): Promise<void>;
}

/** The delay after a process has ended by itself or has failed to start. */
const restartMs = 1_000;

export function supervise(
  target: ProcessToSupervise,
  log: Pick<EventLog, "note">,
): SupervisedProcess {
  let isUp = true;
  let isStopped = false;
  let downMs = restartMs;
  let ends = 0;
  let waiting: (() => void)[] = [];

  /** Evaluated again: it may have been stopped during an await. */
  function hasStopped(): boolean {
    return isStopped;
  }

  async function watch(): Promise<void> {
    while (!isStopped) {
      const { code, signal } = await target.process().exited;
      isUp = false;
      ends += 1;
      if (hasStopped()) return;
      log.note(`${target.name} has ended: ${signal ?? `code ${code}`}`);
      await startAgain();
    }
  }

  async function startAgain(): Promise<void> {
    while (!isStopped) {
      await sleep(downMs);
      downMs = restartMs;
      if (hasStopped()) return;
      try {
        await target.start();
        isUp = true;
        log.note(`${target.name} is up`);
        for (const resolve of waiting) resolve();
        waiting = [];
        return;
      } catch (thrown) {
        log.note(`${target.name} did not come up: ${messageOf(thrown).split("\n")[0]}`);
      }
    }
  }

  const watching = watch();

  return {
    name: target.name,
    get isUp() {
      return isUp;
    },
    get ends() {
      return ends;
    },
    kill(forMs) {
      downMs = forMs;
      const running = target.process();
      return running.exit() === undefined && process.kill(running.identity.pid, "SIGKILL");
    },
    up: () => (isUp ? Promise.resolve() : new Promise((resolve) => void waiting.push(resolve))),
    async stop() {
      isStopped = true;
      // A process that runs is ended by the fleet.
      if (!isUp) await watching;
    },
  };
}
