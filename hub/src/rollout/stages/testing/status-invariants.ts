/** What must hold for what a step says and stores: that it is the same for all, that it adds up, and that it names what is waited for. */
import assert from "node:assert/strict";
import { isDeepStrictEqual } from "node:util";
import type { RolloutStage } from "@flotilla/shared/api";
import type { StepResult } from "../staged-step.ts";
import type { Pass, Simulation } from "./simulation.ts";

/** Each leader gets the same answer, in all that is stored and written: 11. */
export function checkRepeated({ inputs, result }: Pass, { step }: Simulation): void {
  const isSame = isDeepStrictEqual(shownOf(step(inputs)), shownOf(result));
  assert.ok(isSame, "11: the same state, another answer");
}

function shownOf(result: StepResult): unknown {
  const { status, isStored, promotions, lackingApproval, heldRequests, held, toPlan } = result;
  const asked = toPlan.map(({ key }) => key);
  const { wakesAtMs } = result;
  return { status, isStored, promotions, lackingApproval, heldRequests, held, asked, wakesAtMs };
}

/** Every cluster is counted once, in the stage that takes it: 10, and how `upTo` is rounded: 15. */
export function checkCounts({ inputs, result }: Pass, { clusters }: Simulation): void {
  const { stages = [], unassigned, clusters: all } = result.status;
  assert.equal(all?.total, inputs.members.length, "10: the total is another one");
  const sum = stages.reduce((total, each) => total + each.total, unassigned?.count ?? 0);
  assert.equal(sum, all.total, "10: stages do not add up");
  for (const each of stages) {
    const { done, inFlight, failed, pending, offline, paused, skipped, offSchedule } = each;
    const counts = [done, inFlight, failed, pending, offline, paused, skipped, offSchedule];
    assert.equal(
      counts.reduce((total, count) => total + count, 0),
      each.total,
      "10: classes do not add up",
    );
  }
  const targets = inputs.members
    .filter(({ content }) => content !== "")
    .map(({ key }) => ({ key, region: clusters.get(key)?.labels["region"] ?? "" }));
  const taken = takenBy(inputs.strategy.stages ?? [], targets);
  for (const { name, total } of stages)
    assert.equal(total, taken.get(name) ?? 0, "10: a stage has other clusters");
}

interface Target {
  readonly key: string;
  readonly region: string;
}

/** How many clusters each stage takes. `targets`: in the order of their names. */
function takenBy(
  stages: readonly RolloutStage[],
  targets: readonly Target[],
): ReadonlyMap<string, number> {
  const taken = new Map<string, number>();
  let left = targets;
  for (const { name, clusterSelector, upTo, spreadBy } of stages) {
    const region = clusterSelector?.matchLabels?.["region"];
    const matching = left.filter((each) => region === undefined || each.region === region);
    const share = Number.parseInt(String(upTo ?? "100%"), 10);
    const most =
      typeof upTo === "number" ? upTo : Math.max(1, Math.ceil((matching.length * share) / 100));
    const ordered = spreadBy ? inTurn(matching) : matching;
    const own = new Set(ordered.slice(0, most));
    taken.set(name, own.size);
    left = left.filter((each) => !own.has(each));
  }
  return taken;
}

/** The first of each region, the second of each, and so on. */
function inTurn(targets: readonly Target[]): readonly Target[] {
  const turnOf = (target: Target) =>
    targets.filter(({ region }) => region === target.region).indexOf(target);
  return targets
    .map((target) => ({ target, rank: `${turnOf(target)} ${target.region}` }))
    .toSorted((a, b) => (a.rank < b.rank ? -1 : 1))
    .map(({ target }) => target);
}

/** What is waited for is named, and since when does not move: 12. */
export function checkSentence({ inputs: { stored }, result: { status } }: Pass): void {
  const { phase, reason, stage, since, message = "" } = status;
  if (stored?.phase === phase && stored.reason === reason && stored.stage === stage)
    assert.equal(since, stored.since, "12: since has moved");
  if (phase !== "Waiting" && phase !== "Halted") return;
  assert.ok(message !== "", "12: no sentence");
  assert.ok(reason !== undefined && since !== undefined, "12: no reason");
  if (phase === "Waiting" && reason !== "Paused")
    assert.ok(message.includes(stage ?? ""), "12: the stage is not named");
}
