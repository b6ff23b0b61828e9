/** What the tests of the wire wait for: changes, and what a person would read in a log. */
import type { Log } from "@flotilla/shared/log";
import { pino } from "pino";

/** Something that tests wait on: `until` looks again at every change. */
export interface Watched {
  changed(): void;
  until(condition: () => boolean, what: string): Promise<void>;
}

/** `tell` adds to the message of a test that waits in vain. */
export function watched(tell: () => readonly string[] = () => []): Watched {
  const waiting = new Set<() => void>();
  return {
    changed() {
      for (const look of waiting) look();
    },
    until: (condition, what) =>
      new Promise((resolve, reject) => {
        const timer = setTimeout(() => {
          waiting.delete(look);
          reject(new Error([`waited 20 s for: ${what}`, ...tell().slice(-20)].join("\n")));
        }, 20_000);
        function look(): void {
          if (!condition()) return;
          clearTimeout(timer);
          waiting.delete(look);
          resolve();
        }
        waiting.add(look);
        look();
      }),
  };
}

/** The messages of a log, so that a test can see what a person would read. */
export interface TestLog extends Watched {
  readonly log: Log;
  readonly lines: readonly string[];
}

export function testLog(): TestLog {
  const lines: string[] = [];
  const watch = watched(() => lines);
  const log = pino(
    { level: "debug" },
    {
      write(line: string) {
        lines.push(line);
        watch.changed();
      },
    },
  );
  return { log, lines, ...watch };
}
