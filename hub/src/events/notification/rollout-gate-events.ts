/** The event of one gate of a staged rollout: it waits, or it has ended. With the command that decides it. Pure. */
import type { BundleRollout, GateRecord, StageStatus } from "@flotilla/shared/api/rollout";
import { formatGoDuration, parseTime } from "@flotilla/shared/time";
import { appCommand, clusterCount, gateText, revisionText } from "./rollout-texts.ts";

const reasons = [
  "RolloutStarted",
  "StageStarted",
  "GateWaiting",
  "GatePassed",
  "GateFailed",
  "StageCompleted",
  "StageEmpty",
  "RolloutHalted",
  "RollbackStarted",
  "RolledBack",
  "RolloutCompleted",
  "RolloutSuperseded",
  "RolloutCancelled",
] as const;

/** The reasons of all events of staged rollouts. */
export const rolloutReasons: ReadonlySet<string> = new Set(reasons);

/** An event before it has its metadata. */
export interface RolloutNote {
  readonly type: "Normal" | "Warning";
  readonly reason: (typeof reasons)[number];
  readonly note: string;
  readonly stage?: string | undefined;
  /** The name of the Gate. */
  readonly gate?: string | undefined;
}

export function gateNote(
  rollout: BundleRollout,
  stage: Pick<StageStatus, "name" | "total">,
  record: GateRecord,
): RolloutNote {
  const about = { stage: stage.name, gate: record.gate };
  const what = gateText(record, stage.name);
  switch (record.result) {
    case "Waiting":
      return {
        type: "Normal",
        reason: "GateWaiting",
        ...about,
        note: `${waitingText(rollout, stage, record)}${limitText(record)}${answerText(rollout, stage.name, record)}`,
      };
    case "Passed":
      return {
        type: "Normal",
        reason: "GatePassed",
        ...about,
        note: `${what} has passed${decidedText(record)}`,
      };
    case "Failed":
      return {
        type: "Warning",
        reason: "GateFailed",
        ...about,
        note: `${what} has failed${decidedText(record)}`,
      };
  }
}

function waitingText(
  rollout: BundleRollout,
  { name, total }: Pick<StageStatus, "name" | "total">,
  { type, name: gate, when }: GateRecord,
): string {
  const clusters =
    when === "Before"
      ? `before ${revisionText(rollout)} reaches its ${clusterCount(total)}`
      : `after ${revisionText(rollout)} has reached its ${clusterCount(total)}`;
  switch (type) {
    case "Approval":
      return `stage ${name} waits for the approval ${gate} ${clusters}`;
    case "Soak":
      return `stage ${name} waits for the soak ${gate} ${clusters}`;
    case "Test":
      return `stage ${name} waits for the tests of the chart, gate ${gate}, ${clusters}`;
    case "Window":
      return `stage ${name} waits for the window ${gate} ${clusters}`;
    case "Rollout":
      return `stage ${name} waits for the rollout of another app, gate ${gate}, ${clusters}`;
    default:
      return `stage ${name} waits for the gate ${gate} ${clusters}`;
  }
}

/** As a duration: the time itself is another one when the next leader decides it again. */
function limitText({ startedAt, expiresAt }: GateRecord): string {
  const [fromMs, untilMs] = [parseTime(startedAt), parseTime(expiresAt)];
  return fromMs === undefined || untilMs === undefined
    ? ""
    : `, for ${formatGoDuration(untilMs - fromMs)} at most`;
}

function answerText(rollout: BundleRollout, stage: string, record: GateRecord): string {
  const { type, gate, digest } = record;
  const namespace = rollout.metadata.namespace ?? "";
  if (type === "Approval") return `: ${appCommand(rollout, "approve", ["--stage", stage, digest])}`;
  return type === "External" ? `: flotilla gate pass ${gate} -n ${namespace}, or gate fail` : "";
}

/** `: alice: CHG-1234`; what the hub decided by itself has no name. */
function decidedText({ decision, reason }: GateRecord): string {
  const { by = "", message = "" } = decision ?? {};
  const who = by === "" ? "" : `: decided by ${by}`;
  const isUnsaid = message === "" && reason === "Expired";
  const why = isUnsaid ? ": nobody decided it in time" : message === "" ? "" : `: ${message}`;
  return `${who}${why}`;
}
