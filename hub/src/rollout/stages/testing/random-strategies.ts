/** Random strategies, and what somebody changes of one while a rollout runs. */
import type { RolloutStage, RolloutStrategy, StageGate } from "@flotilla/shared/api";
import { pick, type Random } from "./random.ts";
import { minutes, type SimulatedWindow, type Simulation } from "./simulation.ts";

export const regions = ["a", "b", "c"] as const;

export const windowNames = ["nights", "days", "freeze"] as const;

const windowLists: readonly NonNullable<RolloutStage["windows"]>[] = [
  [{ schedule: "nights" }],
  [{ schedule: "nights" }, { schedule: "days" }],
  [{ schedule: "freeze", deny: true }],
  [{ schedule: "nights" }, { schedule: "freeze", deny: true }],
];

export function randomWindow(random: Random): SimulatedWindow {
  const everyMs = pick(random, [60, 120, 300]) * minutes;
  const forMs = everyMs * pick(random, [0.1, 0.5, 0.9]);
  const repeated = { everyMs, forMs, offsetMs: pick(random, [0, 7, 45]) * minutes };
  return pick(random, ["open", "closed", "missing", repeated, repeated, repeated]);
}

type Tests = Simulation["tests"];

const deadlines = ["5m", "15m", "1h"] as const;

const otherApp = { name: "base", rollout: { kind: "HelmOp", name: "base" } } as const;

function randomAfter(random: Random, tests: Tests): readonly StageGate[] {
  const checks: readonly StageGate[] =
    // A chart without tests has no such gate: the strategy is refused.
    tests === "None" ? [] : [{ name: "tests", test: {}, timeout: "2h" }];
  return pick<readonly StageGate[]>(random, [
    [],
    [],
    [{ name: "soak", soak: { for: "30m" } }],
    [{ name: "check", external: {}, timeout: "2h" }],
    [{ name: "night", window: { schedule: "nights" } }],
    [
      { name: "soak", soak: { for: "10m" } },
      { name: "check", external: {}, timeout: "2h" },
    ],
    checks,
    [...checks, { name: "soak", soak: { for: "10m" } }],
  ]);
}

function randomBefore(random: Random): readonly StageGate[] {
  return pick<readonly StageGate[]>(random, [
    [],
    [],
    [],
    [{ name: "board", approval: {}, timeout: "2h" }],
    [{ name: "opening", window: { schedule: "days" }, timeout: "3h" }],
    [{ ...otherApp, timeout: "3h" }],
    [{ name: "plan", approval: { plan: true, validFor: "3h" }, timeout: "2h" }],
    [{ name: "plan", approval: { plan: true } }],
    [{ name: "plan", approval: { plan: true, verify: true } }],
    [{ name: "plan", approval: { plan: true, verify: true, validFor: "3h" }, timeout: "2h" }],
  ]);
}

/** The last one mostly takes all clusters that are left. */
function randomCriteria(random: Random, isLast: boolean): Partial<RolloutStage> {
  const selects = { clusterSelector: { matchLabels: { region: pick(random, regions) } } };
  const isWave = random() < (isLast ? 0.08 : 0.2);
  const wave = { upTo: pick(random, [1, "34%", "50%"]) };
  return {
    ...(random() < (isLast ? 0.08 : 0.85) && selects),
    ...(isWave && wave),
    ...(isWave && random() < 0.5 && { spreadBy: "region" }),
  };
}

interface StagePlace {
  readonly name: string;
  readonly isLast: boolean;
  readonly tests: Tests;
}

function randomStage(random: Random, { name, isLast, tests }: StagePlace): RolloutStage {
  const [after, before] = [randomAfter(random, tests), randomBefore(random)];
  return {
    name,
    ...randomCriteria(random, isLast),
    ...(random() < 0.6 && { maxUnavailable: pick(random, [1, 2, "34%"]) }),
    ...(random() < 0.4 && { maxFailures: pick(random, [0, 1, "34%", "50%"]) }),
    ...(random() < 0.1 && { allowEmpty: true }),
    ...(random() < 0.1 && { minSuccess: pick(random, [0, 2]) }),
    ...(random() < 0.1 && { progressDeadline: pick(random, deadlines) }),
    ...(random() < 0.25 && { windows: pick(random, windowLists) }),
    ...(before.length > 0 && { before }),
    ...(after.length > 0 && { after }),
  };
}

export function randomStrategy(random: Random, tests: Tests): RolloutStrategy {
  const count = 1 + Math.floor(random() * 3);
  return {
    stages: Array.from({ length: count }, (_, index) =>
      randomStage(random, { name: `s${index}`, isLast: index === count - 1, tests }),
    ),
    ...(random() < 0.3 && { maxUnavailable: pick(random, [1, "50%"]) }),
    ...(random() < 0.2 && { progressDeadline: pick(random, deadlines) }),
    ...(random() < 0.6 && { onFailure: pick(random, ["Halt", "Rollback", "Continue"] as const) }),
    ...(random() < 0.2 && { onNewRevision: "Restart" as const }),
    ...(random() < 0.2 && {
      rollback: pick(random, [{ maxUnavailable: 1 }, { respectWindows: true }]),
    }),
  };
}

/** Limits and gates of a stage change, a stage comes or goes, or what a failure leads to. */
export function editedStrategy(
  random: Random,
  { strategy, tests }: Pick<Simulation, "strategy" | "tests">,
): RolloutStrategy {
  const { stages = [] } = strategy;
  const index = Math.floor(random() * stages.length);
  const stage = stages[index];
  if (stage === undefined) return strategy;
  const isLast = index === stages.length - 1;
  const other = randomStage(random, { name: stage.name, isLast, tests });
  const roll = random();
  if (roll < 0.4) {
    const { maxUnavailable: _, maxFailures: _failures, progressDeadline: _late, ...kept } = stage;
    const { maxUnavailable, maxFailures, progressDeadline } = other;
    return replaced(strategy, index, {
      ...kept,
      ...(maxUnavailable !== undefined && { maxUnavailable }),
      ...(maxFailures !== undefined && { maxFailures }),
      ...(progressDeadline !== undefined && { progressDeadline }),
    });
  }
  if (roll < 0.6) {
    const { before: _, after: _after, ...kept } = stage;
    const { before, after } = other;
    return replaced(strategy, index, {
      ...kept,
      ...(before && { before }),
      ...(after && { after }),
    });
  }
  if (roll < 0.7) return replaced(strategy, index, other);
  if (roll < 0.85) {
    const name = pick(random, ["x0", "x1"]);
    if (stages.some((each) => each.name === name)) return strategy;
    const added = randomStage(random, { name, isLast: false, tests });
    return { ...strategy, stages: stages.toSpliced(index, 0, added) };
  }
  if (roll < 0.95) return isLast ? strategy : { ...strategy, stages: stages.toSpliced(index, 1) };
  return { ...strategy, onFailure: pick(random, ["Halt", "Rollback", "Continue"] as const) };
}

function replaced(strategy: RolloutStrategy, index: number, stage: RolloutStage): RolloutStrategy {
  return { ...strategy, stages: (strategy.stages ?? []).with(index, stage) };
}
