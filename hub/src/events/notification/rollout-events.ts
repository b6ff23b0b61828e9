/**
 * The events of a staged rollout, from the status of its BundleRollout that is stored and the next one. They belong to the app: the
 * kinds that Alerts can name. Each has a token, made of what is stored, so that the next leader makes the same event again after a
 * crash, and no two transitions have the same one. Texts have no times of their own for the same reason. Pure.
 */
import type { RolloutSummary } from "@flotilla/shared/api";
import type {
  BundleRollout,
  BundleRolloutStatus,
  GateRecord,
  StageStatus,
} from "@flotilla/shared/api/rollout";
import type { EventNote } from "@flotilla/shared/kube/events";
import type { KubeObject } from "@flotilla/shared/kube/objects";
import { cutText } from "@flotilla/shared/text";
import { gateNote, type RolloutNote } from "./rollout-gate-events.ts";
import { appCommand, breachText, clusterCount, revisionText } from "./rollout-texts.ts";

/** Characters of a note: a Kubernetes Event has 1,024 bytes. */
const messageChars = 900;

const mostNamed = 5;

/**
 * `regarding`: the object that they are recorded on, whose API group prefixes the metadata. `rollout` has the status that is stored;
 * without one it has just been created. A rollout that finds every cluster with its revision has no events: nothing happens.
 */
export function rolloutEvents(
  regarding: Pick<KubeObject, "apiVersion">,
  rollout: BundleRollout,
  next: BundleRolloutStatus,
): readonly EventNote[] {
  const { status: before } = rollout;
  if (before === undefined && next.phase === "Completed") return [];
  const notes = [
    ...(before === undefined ? [startNote(rollout, next)] : []),
    ...(next.stages ?? []).flatMap((stage) => stageNotes(rollout, stage)),
    ...phaseNotes(rollout, next),
  ];
  const [group = ""] = (regarding.apiVersion ?? "").split("/");
  return notes.map(({ note, stage, gate, ...others }) => {
    const { version } = rollout.spec;
    const { uid = "", name } = rollout.metadata;
    const token = [uid, others.reason, stage ?? "", gate ?? "", before?.since ?? ""].join("/");
    return {
      ...others,
      action: "Rollout",
      note: cutText(note, messageChars),
      metadata: {
        ...(version !== undefined && { [`${group}/revision`]: version }),
        [`${group}/rollout`]: name,
        ...(stage !== undefined && { [`${group}/stage`]: stage }),
        ...(gate !== undefined && { [`${group}/gate`]: gate }),
        [`${group}/token`]: token,
      },
    };
  });
}

function startNote(
  rollout: BundleRollout,
  { clusters, stages = [] }: BundleRolloutStatus,
): RolloutNote {
  const names = stages.map(({ name }) => name).join(", ");
  return {
    type: "Normal",
    reason: "RolloutStarted",
    note: `rollout ${rollout.metadata.name} of ${revisionText(rollout)} has started: ${clusterCount(clusters?.total ?? 0)} in ${stages.length === 1 ? "stage" : "stages"} ${names}`,
  };
}

/** Phases in which a stage has begun and was not passed over. */
const begun: ReadonlySet<StageStatus["phase"]> = new Set([
  "Gated",
  "Progressing",
  "Soaking",
  "Verifying",
  "Completed",
  "Halted",
]);

function stageNotes(rollout: BundleRollout, stage: StageStatus): readonly RolloutNote[] {
  const before = rollout.status?.stages?.find(({ name }) => name === stage.name);
  const hasStarted = begun.has(stage.phase) && !begun.has(before?.phase ?? "Pending");
  const isCompleted = stage.phase === "Completed" && before?.phase !== "Completed";
  const { name, total, done, failed } = stage;
  const notes: RolloutNote[] = [];
  if (hasStarted)
    notes.push({
      type: "Normal",
      reason: "StageStarted",
      stage: name,
      note: `stage ${name} has started: ${revisionText(rollout)} for ${clusterCount(total)}`,
    });
  notes.push(...(stage.gates ?? []).flatMap((record) => gateNotes(rollout, stage, record)));
  if (isCompleted)
    notes.push({
      type: "Normal",
      reason: "StageCompleted",
      stage: name,
      note: `stage ${name} is completed: ${revisionText(rollout)} is ready in ${done} of ${clusterCount(total)}${failed === 0 ? "" : `, ${failed} failed`}`,
    });
  return notes;
}

/** One when it begins to be waited for, and one when it has ended. The name of its Gate identifies it. */
function gateNotes(
  rollout: BundleRollout,
  stage: StageStatus,
  record: GateRecord,
): readonly RolloutNote[] {
  const before = rollout.status?.stages
    ?.find(({ name }) => name === stage.name)
    ?.gates?.find(({ gate }) => gate === record.gate);
  return before?.result === record.result ? [] : [gateNote(rollout, stage, record)];
}

function phaseNotes(rollout: BundleRollout, next: BundleRolloutStatus): readonly RolloutNote[] {
  const before = rollout.status?.phase;
  if (next.reason === "StageEmpty" && rollout.status?.reason !== "StageEmpty")
    return [
      {
        type: "Warning",
        reason: "StageEmpty",
        stage: next.stage,
        note: `rollout ${rollout.metadata.name} of ${revisionText(rollout)} waits: ${next.message ?? ""}`,
      },
    ];
  if (before === next.phase) return [];
  const note = phaseNote(rollout, next, before);
  return note === undefined ? [] : [note];
}

function phaseNote(
  rollout: BundleRollout,
  next: BundleRolloutStatus,
  before: RolloutSummary["phase"] | undefined,
): RolloutNote | undefined {
  const { name } = rollout.metadata;
  const { clusters, message = "" } = next;
  const what = `rollout ${name} of ${revisionText(rollout)}`;
  const so = `ready in ${clusters?.done ?? 0} of ${clusterCount(clusters?.total ?? 0)}`;
  switch (next.phase) {
    case "Progressing":
    case "Waiting":
      return undefined;
    case "Halted":
      return {
        type: "Warning",
        reason: "RolloutHalted",
        stage: next.breach?.stage,
        note: `${what} is halted, ${so}: ${cause(next)}; to go on: ${appCommand(rollout, "rollout resume")}`,
      };
    case "RollingBack":
      return {
        reason: "RollbackStarted",
        stage: next.breach?.stage,
        // A person who takes it back knows; a rollback by `onFailure` is a failure that nobody has seen yet.
        type: next.breach === undefined ? "Normal" : "Warning",
        note: `${what} is taken back, ${so}: ${cause(next)}`,
      };
    case "RolledBack":
      return backNote(rollout, next);
    case "Completed":
      return {
        type: "Normal",
        reason: "RolloutCompleted",
        note: `${what} is completed, ${so}${restText(next)}`,
      };
    case "Superseded":
      // What was taken back because the revision before is desired again has no phase of its own.
      return before === "RollingBack"
        ? backNote(rollout, next)
        : {
            type: "Normal",
            reason: "RolloutSuperseded",
            note: `${what} has ended, ${so}: ${message}`,
          };
    case "Cancelled":
      return {
        type: "Normal",
        reason: "RolloutCancelled",
        note: `${what} has ended, ${so}: ${message}`,
      };
  }
}

/** Why it was halted or is taken back, with the first cluster that fails. */
function cause({ breach, reason, stages = [] }: BundleRolloutStatus): string {
  if (breach === undefined)
    return reason === "StableRequested"
      ? "the desired revision is the one before"
      : "it was asked for in spec.state of the BundleRollout";
  const { failing = [] } = stages.find(({ name }) => name === breach.stage) ?? {};
  const [first] = failing;
  if (first === undefined) return breachText(breach);
  const names = failing.slice(0, mostNamed).map(({ cluster }) => cluster);
  const why = first.message === "" ? "" : ` (${first.cluster}: ${first.message})`;
  return `${breachText(breach)}: ${names.join(", ")}${failing.length > mostNamed ? ", …" : ""}${why}`;
}

function backNote(rollout: BundleRollout, { kept }: BundleRolloutStatus): RolloutNote {
  const what = `rollout ${rollout.metadata.name} of ${revisionText(rollout)}`;
  const { count = 0, first = [] } = kept ?? {};
  const names = `${first.slice(0, mostNamed).join(", ")}${count > mostNamed ? ", …" : ""}`;
  const rest =
    count === 0 ? "" : `; ${clusterCount(count)} had nothing before and keep it: ${names}`;
  return {
    type: "Normal",
    reason: "RolledBack",
    note: `${what} was taken back: clusters have what they had before${rest}`,
  };
}

/** Those that do not have it, by why. */
function restText({ clusters }: BundleRolloutStatus): string {
  const { failed = 0, offline = 0, paused = 0, skipped = 0, offSchedule = 0 } = clusters ?? {};
  const counts = [
    [failed, "failed"],
    [offline, "offline"],
    [paused, "paused"],
    [skipped, "skipped"],
    [offSchedule, "off schedule"],
  ] as const;
  return counts.map(([count, what]) => (count === 0 ? "" : `, ${count} ${what}`)).join("");
}
