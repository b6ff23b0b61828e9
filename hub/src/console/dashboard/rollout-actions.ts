/** What users decide about gates and command rollouts to do: when it is offered, its patch, its effect in numbers, its command. Pure. */
import type { BundleRollout } from "@flotilla/shared/api/rollout";
import {
  type GateActionName,
  gateActionNames,
  type Rollout,
  type RolloutActionName,
  type RolloutCommandName,
  type RolloutGate,
} from "@flotilla/shared/dashboard";
import type { RollbackCounts } from "../fleetview/index.ts";

export function isGateAction(action: RolloutActionName): action is GateActionName {
  return gateActionNames.some((each) => each === action);
}

/** What the newest rollout of an app can be commanded to do. What was asked for and is still to be done is not offered again. */
export function commandsOf({
  spec,
  status,
}: Pick<BundleRollout, "spec" | "status">): readonly RolloutCommandName[] {
  const { phase = "Progressing" } = status ?? {};
  const { state = "Running" } = spec;
  switch (phase) {
    case "Progressing":
    case "Waiting":
      return state === "Running" ? ["halt", "rollback", "cancel"] : [];
    case "Halted":
      return state === "Running" || state === "Halted" ? ["resume", "rollback", "cancel"] : [];
    case "RollingBack":
      return state === "Halted" ? ["resume"] : ["halt"];
    case "Completed":
      return state === "RolledBack" ? [] : ["rollback"];
    case "RolledBack":
    case "Superseded":
    case "Cancelled":
      return [];
  }
}

/** Phases in which a gate is still waited for, or may be again. */
const goesOn: ReadonlySet<Rollout["phase"]> = new Set(["Progressing", "Waiting", "Halted"]);

/** The decisions that a gate offers in a phase of its rollout; none where nobody decides it. */
export function decisionsOf(
  { type, result, uid, startedAt }: Pick<RolloutGate, "type" | "result" | "uid" | "startedAt">,
  phase: Rollout["phase"],
): readonly GateActionName[] {
  if (!goesOn.has(phase) || result !== "Waiting") return [];
  if (uid === undefined || startedAt === undefined) return [];
  if (type === "Approval") return ["approve", "reject"];
  return type === "External" ? ["pass", "fail"] : [];
}

/** Why a command would change nothing; undefined if it may. */
export function whyNoRollback(
  action: RolloutCommandName,
  counts: RollbackCounts,
): string | undefined {
  return action === "rollback" && counts.back === 0
    ? "no cluster has got the revision in place of another one"
    : undefined;
}

/** A merge patch, with the resourceVersion of what was decided by. `now`: RFC 3339; each resume has another one. */
export function commandPatch(
  action: RolloutCommandName,
  { metadata, status }: BundleRollout,
  now: string,
): unknown {
  const { resourceVersion } = metadata;
  return { metadata: { resourceVersion }, spec: specOf(action, status, now) };
}

function specOf(action: RolloutCommandName, status: BundleRollout["status"], now: string) {
  switch (action) {
    case "halt":
      return { state: "Halted" };
    case "resume":
      return { state: "Running", ...(status?.breach !== undefined && { resume: now }) };
    case "rollback":
      return { state: "RolledBack" };
    case "cancel":
      return { state: "Cancelled" };
  }
}

/** A right that is needed. */
export interface NeededRight {
  readonly verb: "patch" | "update";
  readonly resource: "bundlerollouts" | "gates";
  readonly subresource?: "status" | "approve";
}

/** The rights without which the API server rejects it. */
export function rightsFor(action: RolloutActionName): readonly NeededRight[] {
  if (!isGateAction(action)) return [{ verb: "patch", resource: "bundlerollouts" }];
  const decide = { verb: "patch", resource: "gates", subresource: "status" } as const;
  return action === "approve" || action === "reject"
    ? [decide, { verb: "update", resource: "gates", subresource: "approve" }]
    : [decide];
}

export function rightText({ verb, resource, subresource }: NeededRight, namespace: string): string {
  const what = subresource === undefined ? resource : `${resource}/${subresource}`;
  return `you may not ${verb} ${what} in namespace ${namespace}`;
}

export function commandEffect(
  action: RolloutCommandName,
  rollout: Omit<Rollout, "actions">,
  { back, kept }: RollbackCounts,
): string {
  const { inFlight, pending, offline, paused, offSchedule, failed, phase, next } = rollout;
  const waiting = pending + offline + paused + offSchedule;
  switch (action) {
    case "halt":
      return phase === "RollingBack"
        ? `No further cluster goes back until it is resumed: ${clusters(back)} would.`
        : `Nothing more is promoted until it is resumed: ${clusters(inFlight)} in flight end by themselves, and ${clusters(waiting)} wait.`;
    case "resume":
      if (phase === "RollingBack") return `It goes on: ${clusters(back)} get back what they had.`;
      return `It goes on within the limits of its stages: ${clusters(waiting)} wait.${failed === 0 ? "" : ` ${clusters(failed)} that failed until now: accepted.`}`;
    case "rollback":
      return `${clusters(back)} get back what they had before, within the limits and without gates.${kept === 0 ? "" : ` ${clusters(kept)} had nothing before: the revision stays.`}`;
    case "cancel":
      return `It ends as it is: ${clusters(rollout.done + inFlight + failed)} keep the revision, and ${clusters(waiting)} what they have.${next === undefined ? "" : ` ${next.version ?? "The newest revision"} starts instead.`}`;
  }
}

export function decisionEffect(
  action: GateActionName,
  stage: string,
  { name, when, version, clusters: named }: RolloutGate,
): string {
  const what = version ?? "the revision";
  const count = named === undefined ? "its clusters" : clusters(named.count);
  if (action === "reject" || action === "fail")
    return `The gate ${name} fails: the rollout is halted, or taken back where the strategy has onFailure Rollback. ${count} do not get ${what}.`;
  return when === "Before"
    ? `${what} may go to ${count} of stage ${stage}, once its other gates have passed.`
    : `Stage ${stage} is completed once its other gates have passed, and the next one begins.`;
}

function clusters(count: number): string {
  return count === 1 ? "1 cluster" : `${count.toLocaleString("en")} clusters`;
}

export interface CommandOf {
  readonly app: { readonly kind: string; readonly name: string };
  readonly namespace: string;
}

/** The command that does the same. `gate`: what is decided about. */
export function rolloutCommand(
  action: RolloutActionName,
  { app, namespace }: CommandOf,
  gate?: { readonly stage: string; readonly gate: string; readonly digest: string },
): string {
  const named = `${app.kind.toLowerCase()} ${app.name}`;
  if (!isGateAction(action)) return `flotilla rollout ${action} ${named} -n ${namespace}`;
  const { stage = "", gate: name = "", digest = "" } = gate ?? {};
  return action === "approve" || action === "reject"
    ? `flotilla ${action} ${named} ${digest} -n ${namespace} --stage ${stage}`
    : `flotilla gate ${action} ${name} -n ${namespace}`;
}
