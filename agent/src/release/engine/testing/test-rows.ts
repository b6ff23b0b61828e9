/** Tables of the driver: what is there, what happens, and what comes of it. */
import assert from "node:assert/strict";
import { test } from "vitest";
import { play, type Scenario } from "./scenario.ts";
import { endOf, reasonsOf } from "./test-agent.ts";

export interface Row extends Scenario {
  readonly name: string;
  /** The runs of Helm, for the last step, all in the namespace `shop` unless it is said. */
  readonly runs: readonly string[];
  /** The decisions that are logged, as `outOfSync (ChartChanged): upgrade`; not that nothing is to be done. */
  readonly decisions: readonly string[];
  /** What is reported, with the code of an error. */
  readonly result: string;
  /** By namespace: the newest record, and what is applied. */
  readonly installed: readonly string[];
  /** What the inventory counts. */
  readonly failures?: number;
  /** The reasons of the newest revision; absent: none is known. */
  readonly reasons?: readonly string[];
}

/** A test of each row, with one agent, and with another one for each step: no step may need what an agent has in its memory. */
export function testRows(rows: readonly Row[]): void {
  for (const row of rows)
    for (const restarts of [false, true])
      test(restarts ? `${row.name}, with a new agent for each step` : row.name, async () => {
        const { agent, cluster, runs, decisions, result } = await play(row, { restarts });

        const { installed, failures } = endOf(cluster, agent);
        const reasons = reasonsOf(agent);
        const { runs: expectedRuns, decisions: decided, result: reported, installed: left } = row;
        assert.deepEqual(
          { runs: runs.map(withoutNamespace), decisions, result, installed, failures, reasons },
          {
            ...{ runs: expectedRuns, decisions: decided, result: reported, installed: left },
            ...{ failures: row.failures, reasons: row.reasons },
          },
        );
      });
}

function withoutNamespace(run: string): string {
  return run.replace(/ in shop$/, "");
}
