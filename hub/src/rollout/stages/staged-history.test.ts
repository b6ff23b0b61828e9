/**
 * What holds in every history of a staged rollout: random fleets, strategies and interleavings of reports, labels, clusters that join,
 * leave and return, windows, gates, edits of the strategy, revisions for some clusters only, commands of people, and leaders that begin
 * with an older cache. The seed is printed when one fails.
 */
import assert from "node:assert/strict";
import { seed as first } from "@flotilla/shared/testing";
import { test } from "vitest";
import { randomHistory } from "./testing/index.ts";

const histories = 10_000;

test(`in ${histories} random histories no limit, gate or order is broken`, {
  timeout: 600_000,
}, () => {
  let promotions = 0;
  let byReports = 0;
  let refusals = 0;
  let breaches = 0;
  let leaders = 0;
  let unassigned = 0;
  const gates = new Map<string, number>();
  const phases = new Map<string, number>();
  for (let index = 0; index < histories; index += 1) {
    const seed = (first + index) >>> 0;
    try {
      const outcome = randomHistory(seed);
      const { promoted, promotedByReports, refused, phase } = outcome;
      breaches += outcome.breached;
      leaders += outcome.leaders;
      unassigned += outcome.unassigned;
      for (const type of outcome.passed) gates.set(type, (gates.get(type) ?? 0) + 1);
      promotions += promoted;
      byReports += promotedByReports;
      refusals += refused;
      phases.set(phase, (phases.get(phase) ?? 0) + 1);
    } catch (error) {
      throw new Error(`history with seed ${seed} (FLOTILLA_SEED=${seed})`, { cause: error });
    }
  }

  // The histories have effects.
  assert.ok(promotions > histories);
  assert.ok(byReports > histories / 10, `${byReports} by reports`);
  assert.ok(refusals > histories / 100, `refused: ${refusals}`);
  // After each of them nothing was promoted.
  assert.ok(breaches > 1_000, `${breaches} breaches`);
  assert.ok(leaders > histories / 4, `${leaders} new leaders`);
  assert.ok(unassigned > histories / 4, `clusters in no stage: ${unassigned}`);
  for (const type of ["Soak", "Test", "Window", "Approval", "External", "Rollout"])
    assert.ok((gates.get(type) ?? 0) > histories / 100, `${type}: ${gates.get(type)}`);
  for (const phase of ["Completed", "Halted", "RolledBack", "Superseded", "Cancelled"])
    assert.ok((phases.get(phase) ?? 0) > histories / 500, `${phase}: ${phases.get(phase)}`);
});
