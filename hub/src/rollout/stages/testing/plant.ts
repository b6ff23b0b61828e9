/** How faults are planted in the step of a staged rollout: it gets other inputs, or something else follows than it has found. */
import type { RolloutStage, RolloutStrategy } from "@flotilla/shared/api";
import type { BundleRolloutStatus, GateRecord, StageStatus } from "@flotilla/shared/api/rollout";
import { hasRevision, type Member } from "../member.ts";
import type { StepResult } from "../staged-step.ts";
import type { StepInputs } from "../step-inputs.ts";
import type { Simulation } from "./simulation.ts";

export interface Mutation {
  readonly fault: string;
  /** The number of the invariant that finds it. */
  readonly invariant: number;
  readonly plant: (simulation: Simulation) => void;
}

type Plant = Mutation["plant"];

/** The step gets other inputs than there are. */
export function given(change: (inputs: StepInputs) => Partial<StepInputs>): Plant {
  return (simulation) => {
    const { step } = simulation;
    simulation.step = (inputs) => step({ ...inputs, ...change(inputs) });
  };
}

/** Something else follows than the step has found. */
export function found(
  change: (result: StepResult, inputs: StepInputs, step: Simulation["step"]) => Partial<StepResult>,
): Plant {
  return (simulation) => {
    const { step } = simulation;
    simulation.step = (inputs) => {
      const result = step(inputs);
      return { ...result, ...change(result, inputs, step) };
    };
  };
}

export const members = (change: (member: Member, inputs: StepInputs) => Partial<Member>): Plant =>
  given((inputs) => ({
    members: inputs.members.map((member) => ({ ...member, ...change(member, inputs) })),
  }));

export const strategy = (change: (strategy: RolloutStrategy) => RolloutStrategy): Plant =>
  given((inputs) => ({ strategy: change(inputs.strategy) }));

/** `total`: the clusters of the stage. */
export function stages(change: (stage: RolloutStage, total: number) => RolloutStage): Plant {
  return given(({ strategy: given, assignment }) => {
    const names = [...assignment.values()];
    const totalOf = (stage: string) => names.filter((name) => name === stage).length;
    return {
      strategy: {
        ...given,
        stages: (given.stages ?? []).map((stage) => change(stage, totalOf(stage.name))),
      },
    };
  });
}

export const facts = (
  change: (facts: StepInputs["facts"]) => Partial<StepInputs["facts"]>,
): Plant => given((inputs) => ({ facts: { ...inputs.facts, ...change(inputs.facts) } }));

export const status = (
  change: (status: BundleRolloutStatus, inputs: StepInputs) => Partial<BundleRolloutStatus>,
): Plant =>
  found((result, inputs) => ({ status: { ...result.status, ...change(result.status, inputs) } }));

/** The records of gates as they are stored. */
export function records(
  change: (record: GateRecord, stage: StageStatus, inputs: StepInputs) => GateRecord,
): Plant {
  return status((current, inputs) => ({
    stages: (current.stages ?? []).map((stage) => ({
      ...stage,
      ...(stage.gates && { gates: stage.gates.map((each) => change(each, stage, inputs)) }),
    })),
  }));
}

type Limit = number | string | null | undefined;

export const oneMore = (limit: Limit) => (typeof limit === "number" ? limit + 1 : limit);

/** A share of clusters, rounded up where it is to be rounded down. */
export function roundedUp(limit: Limit, total: number): Limit {
  if (typeof limit !== "string") return limit;
  return Math.ceil((total * Number.parseInt(limit, 10)) / 100);
}

export function limited(
  field: "maxUnavailable" | "maxFailures",
  of: (limit: Limit, total: number) => Limit,
): Plant {
  return stages((stage, total) => ({ ...stage, [field]: of(stage[field], total) }));
}

export const isPending = (member: Member) => !hasRevision(member);
