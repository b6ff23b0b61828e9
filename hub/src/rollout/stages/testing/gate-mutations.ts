/** Faults in each gate, and in approvals of plans. */
import { formatTimeMs, parseTime } from "@flotilla/shared/time";
import { hasRevision } from "../member.ts";
import { facts, found, given, type Mutation, members, records, stages } from "./plant.ts";

export const mutationsOfGates: readonly Mutation[] = [
  {
    fault: "gates before a stage are skipped",
    invariant: 4,
    plant: stages((stage) => ({ ...stage, before: [] })),
  },
  {
    fault: "gates after a stage are skipped",
    invariant: 4,
    plant: stages((stage) => ({ ...stage, after: [] })),
  },
  {
    fault: "one of two gates is enough",
    invariant: 4,
    plant: stages((stage) => ({ ...stage, after: (stage.after ?? []).slice(0, 1) })),
  },
  {
    fault: "a gate that somebody failed counts as passed",
    invariant: 4,
    plant: facts(({ decisionOf }) => ({
      decisionOf: (record) => {
        const decision = decisionOf(record);
        return decision && { ...decision, result: "Passed" };
      },
    })),
  },
  {
    fault: "a decision about another digest counts",
    invariant: 4,
    plant: facts(({ decisionOf }) => ({
      decisionOf: (record) => {
        const decision = decisionOf(record);
        return decision && { ...decision, digest: record.digest };
      },
    })),
  },
  {
    fault: "a decision counts after its deadline",
    invariant: 4,
    plant: given(({ stored }) => ({
      stored: stored && {
        ...stored,
        stages: (stored.stages ?? []).map((stage) => ({
          ...stage,
          ...(stage.gates && { gates: stage.gates.map(({ expiresAt: _, ...record }) => record) }),
        })),
      },
    })),
  },
  {
    fault: "a soak is measured from when its clusters were promoted",
    invariant: 4,
    plant: records((record, stage, inputs) => {
      if (record.result !== "Waiting" || record.soakingSince === undefined) return record;
      const times = inputs.members
        .filter(({ key }) => inputs.assignment.get(key) === stage.name)
        .map(({ promotion }) => parseTime(promotion?.at) ?? 0);
      return { ...record, soakingSince: formatTimeMs(Math.max(0, ...times)) };
    }),
  },
  {
    fault: "a soak goes on while a cluster is not ready",
    invariant: 4,
    plant: members((member) =>
      hasRevision(member) ? { isReady: true, applied: member.desired } : {},
    ),
  },
  {
    fault: "a soak ends after half of its time",
    invariant: 4,
    plant: stages((stage) => ({
      ...stage,
      after: (stage.after ?? []).map((gate) =>
        gate.soak === undefined
          ? gate
          : { ...gate, soak: { for: gate.soak.for === "30m" ? "15m" : "5m" } },
      ),
    })),
  },
  {
    fault: "tests that have failed, or have not run, pass",
    invariant: 4,
    plant: members(() => ({ testsPassed: true })),
  },
  {
    fault: "a gate for another app does not wait for it",
    invariant: 4,
    plant: facts(() => ({ isRolledOut: () => true })),
  },
  {
    fault: "a decision is followed before it is stored",
    invariant: 4,
    plant: found(({ isStored, status: next }, inputs, step) =>
      isStored ? {} : { isStored: true, promotions: step({ ...inputs, stored: next }).promotions },
    ),
  },
  {
    fault: "every plan is one without changes",
    invariant: 14,
    plant: members(({ plan }) =>
      plan === undefined ? {} : { plan: { kind: "known", diff: "", fails: false } },
    ),
  },
  {
    fault: "an approval counts for ever",
    invariant: 14,
    plant: stages((stage) => ({
      ...stage,
      before: (stage.before ?? []).map((gate) =>
        gate.approval === undefined
          ? gate
          : { ...gate, approval: { ...gate.approval, validFor: "9000h" } },
      ),
    })),
  },
  {
    fault: "agents do not verify what was approved",
    invariant: 14,
    plant: found(({ promotions }) => ({
      promotions: promotions.map(({ planned: _, ...promotion }) => promotion),
    })),
  },
  {
    fault: "an agent that cannot verify is promoted",
    invariant: 14,
    plant: members(() => ({ cannotVerify: undefined })),
  },
];
