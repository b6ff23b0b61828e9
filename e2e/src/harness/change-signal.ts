/** Waiting for conditions that are evaluated at every change, and for lines of a log. */
import type { Log } from "@flotilla/shared/log";
import { pino } from "pino";
import { hangMs } from "./hang.ts";

export interface ChangeSignal {
  /** Evaluates all conditions that are waited for. */
  changed(): void;
  until(condition: () => boolean, what: string): Promise<void>;
  /** Resolves with what `find` returns once that is not `undefined`. */
  found<T>(find: () => T | undefined, what: string): Promise<T>;
}

/** `detail`: lines for the error of a wait that times out. */
export function createChangeSignal(
  detail: () => readonly string[] = () => [],
  timeoutMs = hangMs,
): ChangeSignal {
  const conditions = new Set<() => void>();

  function found<T>(find: () => T | undefined, what: string): Promise<T> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        conditions.delete(evaluate);
        const lines = [`waited ${timeoutMs / 1_000} s for: ${what}`, ...detail().slice(-20)];
        reject(new Error(lines.join("\n")));
      }, timeoutMs);
      function evaluate(): void {
        const value = find();
        if (value === undefined) return;
        clearTimeout(timer);
        conditions.delete(evaluate);
        resolve(value);
      }
      conditions.add(evaluate);
      evaluate();
    });
  }

  return {
    changed() {
      for (const evaluate of [...conditions]) evaluate();
    },
    found,
    until: async (condition, what) =>
      void (await found(() => (condition() ? true : undefined), what)),
  };
}

/** The lines of a log, which tests wait for. */
export interface TestLog extends ChangeSignal {
  readonly log: Log;
  readonly lines: readonly string[];
}

export function testLog(): TestLog {
  const lines: string[] = [];
  const signal = createChangeSignal(() => lines);
  const log = pino(
    { level: "debug" },
    {
      write(line: string) {
        lines.push(line);
        signal.changed();
      },
    },
  );
  return { log, lines, ...signal };
}
