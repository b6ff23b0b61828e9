/** Creates the Gates of a rollout, and writes how they ended for people who wait for them. */
import type { RolloutStage } from "@flotilla/shared/api";
import {
  type BundleRollout,
  type BundleRolloutStatus,
  type Gate,
  type GateRecord,
  type GateSpec,
  gateLabel,
  gates,
  maxNamed,
  type PlanSummary,
  rolloutApiVersion,
  rolloutLabel,
  stageLabel,
} from "@flotilla/shared/api/rollout";
import { findCondition, setCondition } from "@flotilla/shared/conditions";
import type { Store } from "@flotilla/shared/kube/cache";
import {
  isAlreadyExists,
  isConflict,
  isNotFound,
  type KubeRest,
} from "@flotilla/shared/kube/client";
import { keyOf } from "@flotilla/shared/kube/objects";
import { type Clock, formatTimeMs } from "@flotilla/shared/time";

import type { Member } from "./member.ts";

export interface GateWriterDeps {
  readonly rest: KubeRest;
  readonly gates: Store<Gate>;
  readonly clock: Pick<Clock, "now">;
}

export interface GateInputs {
  readonly rollout: BundleRollout;
  /** What is stored: a Gate is created only for a record that is. */
  readonly status: BundleRolloutStatus;
  readonly stages: readonly RolloutStage[];
  /** The clusters of a stage that do not have the revision and that a gate is about. */
  readonly waitingIn: (stage: string, record: GateRecord) => readonly Pick<Member, "key">[];
}

export interface GateWriter {
  /** Creates those that do not exist. Returns the status with their UIDs; the same one (by `===`) where none is new. */
  ensure(inputs: GateInputs): Promise<BundleRolloutStatus>;
  /** Writes the conditions of those that have ended. Level-triggered: what a crash leaves out is written the next time. */
  conclude(inputs: Pick<GateInputs, "rollout" | "status">): Promise<void>;
}

/** Phases in which nobody waits for a Gate any more. */
const ended: ReadonlySet<string> = new Set([
  "RollingBack",
  "RolledBack",
  "Superseded",
  "Cancelled",
]);

export function createGateWriter({ rest, gates: store, clock }: GateWriterDeps): GateWriter {
  /** Only by its UID: somebody else may have created one of that name. */
  function gateOf({ metadata }: BundleRollout, { gate, uid }: GateRecord): Gate | undefined {
    if (uid === undefined) return undefined;
    const found = store.get(keyOf({ namespace: metadata.namespace ?? "", name: gate }));
    return found?.metadata.uid === uid ? found : undefined;
  }

  async function create(inputs: GateInputs, stage: string, record: GateRecord): Promise<Gate> {
    const gate = newGate(inputs, stage, record);
    try {
      return await rest.create(gates, gate);
    } catch (thrown) {
      if (!isAlreadyExists(thrown)) throw thrown;
    }
    const existing = await rest.get(gates, gate.metadata);
    if (existing?.metadata.uid !== undefined) {
      // Ours, which our cache does not have yet; any other one was made by somebody else, or before a crash.
      if (existing.metadata.uid === record.uid) return existing;
      await rest.delete(gates, gate.metadata, { uid: existing.metadata.uid });
    }
    return await rest.create(gates, gate);
  }

  async function concludeOne(
    rollout: BundleRollout,
    record: GateRecord,
    isOver: boolean,
  ): Promise<void> {
    const gate = gateOf(rollout, record);
    if (gate === undefined) return;
    const passed = conclusionOf(record, isOver);
    const before = findCondition(gate.status?.conditions, "Passed");
    if (before?.status === passed.status && before.reason === passed.reason) return;
    const { uid, resourceVersion } = gate.metadata;
    const now = formatTimeMs(clock.now());
    const conditions = setCondition(gate.status?.conditions, { type: "Passed", ...passed }, now);
    const body = { metadata: { uid, resourceVersion }, status: { conditions } };
    try {
      store.wrote(
        await rest.patch(gates, gate.metadata, { type: "merge", body }, { subresource: "status" }),
      );
    } catch (thrown) {
      // It was decided or deleted meanwhile, which reconciles its Bundle again.
      if (!isConflict(thrown) && !isNotFound(thrown)) throw thrown;
    }
  }

  return {
    async ensure(inputs) {
      const { rollout, status } = inputs;
      let isNew = false;
      const withGates: NonNullable<BundleRolloutStatus["stages"]>[number][] = [];
      for (const stage of status.stages ?? []) {
        const records: GateRecord[] = [];
        for (const record of stage.gates ?? []) {
          if (record.result !== "Waiting" || gateOf(rollout, record) !== undefined) {
            records.push(record);
            continue;
          }
          const gate = await create(inputs, stage.name, record);
          store.wrote(gate);
          const { uid } = gate.metadata;
          if (uid === undefined || uid === record.uid) {
            records.push(record);
            continue;
          }
          isNew = true;
          records.push({ ...record, uid });
        }
        withGates.push(stage.gates === undefined ? stage : { ...stage, gates: records });
      }
      return isNew ? { ...status, stages: withGates } : status;
    },
    async conclude({ rollout, status }) {
      for (const stage of status.stages ?? [])
        for (const record of stage.gates ?? [])
          await concludeOne(rollout, record, ended.has(status.phase));
    },
  };
}

function conclusionOf(
  { result, reason, decision, type }: GateRecord,
  isOver: boolean,
): {
  readonly status: "True" | "False" | "Unknown";
  readonly reason: string;
  readonly message: string;
} {
  const message = decision?.message ?? "";
  if (result === "Waiting")
    return isOver
      ? { status: "False", reason: "Superseded", message: "its rollout has ended" }
      : { status: "Unknown", reason: "Waiting", message: "" };
  if (reason === "Obsolete") return { status: "False", reason: "Superseded", message };
  if (reason === "Expired" || reason === "Unverified") return { status: "False", reason, message };
  if (result === "Passed")
    return { status: "True", reason: type === "Approval" ? "Approved" : "Passed", message };
  return { status: "False", reason: type === "Approval" ? "Rejected" : "Failed", message };
}

function newGate(
  { rollout, stages, waitingIn }: GateInputs,
  stage: string,
  record: GateRecord,
): Gate {
  const { name, namespace = "", uid = "" } = rollout.metadata;
  const { app, revision, version } = rollout.spec;
  const { type, when, digest, expiresAt, plan } = record;
  const config = configOf(stages, stage, record);
  const clusters = waitingIn(stage, record).map(({ key }) => key);
  const spec: GateSpec = {
    type,
    app,
    rollout: { name, uid },
    stage,
    gate: record.name,
    when,
    revision,
    ...(version !== undefined && { version }),
    digest,
    clusters: { count: clusters.length, first: clusters.slice(0, maxNamed) },
    ...(plan !== undefined && { plan: summaryOf(plan) }),
    ...(config !== undefined && { config }),
    ...(expiresAt !== undefined && { expiresAt }),
  };
  return {
    apiVersion: rolloutApiVersion,
    kind: "Gate",
    metadata: {
      name: record.gate,
      namespace,
      labels: { [rolloutLabel]: name, [stageLabel]: stage, [gateLabel]: record.name },
      ownerReferences: [
        { apiVersion: rolloutApiVersion, kind: "BundleRollout", name, uid, controller: true },
      ],
    },
    spec,
  };
}

function summaryOf(plan: NonNullable<GateRecord["plan"]>): PlanSummary {
  const { groups, changed, unchanged, failing, offline } = plan;
  return { groups, changed, unchanged, failing, offline };
}

function configOf(
  stages: readonly RolloutStage[],
  name: string,
  record: GateRecord,
): GateSpec["config"] {
  const stage = stages.find((each) => each.name === name);
  const own = (record.when === "Before" ? stage?.before : stage?.after) ?? [];
  return own.find((gate) => gate.name === record.name)?.external?.config;
}
