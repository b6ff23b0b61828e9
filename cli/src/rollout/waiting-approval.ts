/** Which approval a command is about. Pure. */
import { type BundleRollout, type GateRecord, maxNamed } from "@flotilla/shared/api/rollout";
import { rolloutText, stageNamed } from "./rollout-words.ts";

/** What the arguments of `flotilla approve` say; what is absent is not restricted. */
export interface ApprovalChoice {
  readonly stage?: string | undefined;
  readonly digest?: string | undefined;
}

export type ChosenApproval =
  | { readonly kind: "found"; readonly stage: string; readonly record: GateRecord }
  /** `says`: why, and what to do. */
  | { readonly kind: "refused"; readonly says: string };

interface Approval {
  readonly stage: string;
  readonly record: GateRecord;
}

/** The only approval that waits and is meant. */
export function chooseApproval(rollout: BundleRollout, choice: ApprovalChoice): ChosenApproval {
  const { stage, digest } = choice;
  const what = rolloutText(rollout);
  const { stages = [], message = "" } = rollout.status ?? {};
  if (stage !== undefined && stageNamed(rollout, stage) === undefined)
    return refused(`${what} has no stage ${stage}: its stages are ${namesOf(stages)}`);
  const approvals = approvalsOf(rollout).filter(
    (each) => stage === undefined || each.stage === stage,
  );
  const waiting = approvals.filter(({ record }) => record.result === "Waiting");
  const where = stage === undefined ? what : `stage ${stage} of ${what}`;
  if (waiting.length === 0) {
    const decided = approvals.at(-1);
    if (decided !== undefined)
      return refused(`no approval of ${where} waits: ${decidedText(decided)}`);
    return refused(`no approval of ${where} waits: ${message === "" ? "it has none" : message}`);
  }
  const matching = waiting.filter(({ record }) => digest === undefined || record.digest === digest);
  const [found, ...others] = matching;
  if (found === undefined)
    return refused(
      `no approval of ${where} waits for ${digest ?? ""}, and it may be about something else by now: ${listed(waiting)}`,
    );
  if (others.length > 0)
    return refused(
      `${matching.length} approvals of ${where} wait: name the stage with --stage, or one by its digest: ${listed(matching)}`,
    );
  return { kind: "found", ...found };
}

function approvalsOf({ status }: BundleRollout): readonly Approval[] {
  return (status?.stages ?? []).flatMap(({ name, gates = [] }) =>
    gates.filter(({ type }) => type === "Approval").map((record) => ({ stage: name, record })),
  );
}

function listed(approvals: readonly Approval[]): string {
  const first = approvals
    .slice(0, maxNamed)
    .map(({ stage, record }) => `${record.name} of stage ${stage} has ${record.digest}`);
  return first.join(", ");
}

function namesOf(stages: readonly { readonly name: string }[]): string {
  return stages
    .slice(0, maxNamed)
    .map(({ name }) => name)
    .join(", ");
}

/** Who decided, and when. */
function decidedText({ stage, record }: Approval): string {
  const { decision } = record;
  const how = record.result === "Passed" ? "passed" : "failed";
  const by = decision === undefined || decision.by === "" ? "" : ` by ${decision.by}`;
  const at = decision === undefined ? "" : ` at ${decision.at}`;
  return `${record.name} of stage ${stage} was ${how}${by}${at}`;
}

function refused(says: string): ChosenApproval {
  return { kind: "refused", says };
}
