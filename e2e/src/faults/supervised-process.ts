/** Keeps a process up as a kubelet does: when it has ended, however that came, it is started again after a while. */
import { setTimeout as sleep } from "node:timers/promises";
import type { RunningProcess } from "@flotilla/local/process";
import { messageOf } from "@flotilla/shared/errors";
import type { Chronicle } from "./event-log.ts";

export interface Supervised {
  readonly name: string;
  process(): RunningProcess;
  start(): Promise<void>;
}

export interface Keeper {
  readonly name: string;
  readonly isUp: boolean;
  /** kill -9, and again what it is kept up with after `awayMs`; false when there was nothing left to kill. */
  kill(awayMs: number): boolean;
  /** Resolves when it is up. */
  up(): Promise<void>;
  /** How often it has ended. */
  readonly ends: number;
  /** Starts it no more; resolves when nothing is being started. */
  stop(): Promise<void>;
}

/** What a process waits that has ended by itself or did not come up. */
const restartMs = 1_000;

export function keepUp(kept: Supervised, chronicle: Pick<Chronicle, "note">): Keeper {
  let isUp = true;
  let isStopped = false;
  let awayMs = restartMs;
  let ends = 0;
  let waiting: (() => void)[] = [];

  /** Looks again: it may have been stopped while something was awaited. */
  function hasStopped(): boolean {
    return isStopped;
  }

  async function watch(): Promise<void> {
    while (!isStopped) {
      const { code, signal } = await kept.process().exited;
      isUp = false;
      ends += 1;
      if (hasStopped()) return;
      chronicle.note(`${kept.name} has ended: ${signal ?? `code ${code}`}`);
      await startAgain();
    }
  }

  async function startAgain(): Promise<void> {
    while (!isStopped) {
      await sleep(awayMs);
      awayMs = restartMs;
      if (hasStopped()) return;
      try {
        await kept.start();
        isUp = true;
        chronicle.note(`${kept.name} is up`);
        for (const resolve of waiting) resolve();
        waiting = [];
        return;
      } catch (thrown) {
        chronicle.note(`${kept.name} did not come up: ${messageOf(thrown).split("\n")[0]}`);
      }
    }
  }

  const watching = watch();

  return {
    name: kept.name,
    get isUp() {
      return isUp;
    },
    get ends() {
      return ends;
    },
    kill(forMs) {
      awayMs = forMs;
      const running = kept.process();
      return running.exit() === undefined && process.kill(running.identity.pid, "SIGKILL");
    },
    up: () => (isUp ? Promise.resolve() : new Promise((resolve) => void waiting.push(resolve))),
    async stop() {
      isStopped = true;
      // A process that is up is the fleet's to end.
      if (!isUp) await watching;
    },
  };
}
