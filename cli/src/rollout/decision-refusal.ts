/** Why a decision about a Gate is not taken, and what to do, by facts: no program reads what the API server says. Pure. */
import type { Gate, GateDecision } from "@flotilla/shared/api/rollout";
import { parseTime } from "@flotilla/shared/time";

/** Whether a user may do what a decision needs, as the API server answers. */
export interface DecisionRights {
  /** Patch `gates/status`. */
  readonly mayDecide: boolean;
  /** Update `gates/approve`. */
  readonly mayApprove: boolean;
}

/** What is known before a decision is written; undefined: nothing speaks against it. */
export function decisionProblem(
  gate: Gate,
  { digest, nowMs }: { readonly digest: string; readonly nowMs: number },
): string | undefined {
  const { spec, status, metadata } = gate;
  const what = gateText(gate);
  const decided = status?.decision;
  if (decided !== undefined)
    return `${what} was decided already: ${decided.result} by ${decided.by}${decided.message ? `, "${decided.message}"` : ""}; a decision is never changed`;
  if (spec.type !== "Approval" && spec.type !== "External")
    return `${what} has the type ${spec.type}, which the hub decides by itself`;
  if (spec.digest !== digest)
    return `${what} is about ${spec.digest}, and not about ${digest}: look at it with \`flotilla gate get ${metadata.name}\`, and decide about that`;
  const expiresAtMs = parseTime(spec.expiresAt);
  if (expiresAtMs !== undefined && nowMs >= expiresAtMs)
    return `${what} has expired at ${spec.expiresAt ?? ""}: resume the rollout, which asks again`;
  return undefined;
}

/** Why the API server has rejected it. `now`: the Gate as it is afterwards; undefined: gone. `answer`: of the server. */
export function refusalText(
  decision: GateDecision,
  {
    gate,
    now,
    rights,
    answer,
  }: {
    readonly gate: Gate;
    readonly now: Gate | undefined;
    readonly rights: DecisionRights;
    readonly answer: string;
  },
): string {
  const { namespace = "" } = gate.metadata;
  const what = gateText(gate);
  if (now === undefined || now.metadata.uid !== gate.metadata.uid)
    return `${what} is gone, or another one has its name: see what is waited for with \`flotilla rollout status ${gate.spec.app.kind.toLowerCase()}/${gate.spec.app.name}\``;
  const role = `a RoleBinding in namespace ${namespace} to the ClusterRole`;
  if (!rights.mayDecide)
    return `${decision.by} may not patch gates/status in namespace ${namespace}, where decisions are written: ask for ${role} ${gate.spec.type === "Approval" ? "flotilla-rollout-approver" : "of those who decide gates, with get, update and patch of gates/status"}`;
  if (gate.spec.type === "Approval" && !rights.mayApprove)
    return `${decision.by} has no right to update gates/approve in namespace ${namespace}: ask for ${role} flotilla-rollout-approver`;
  return decisionProblem(now, { digest: decision.digest, nowMs: 0 }) ?? `${what}: ${answer}`;
}

/** `gate web-7-prod-change-board (approval change-board of stage prod)`. */
export function gateText({ metadata, spec }: Gate): string {
  return `gate ${metadata.name} (${spec.type.toLowerCase()} ${spec.gate} of stage ${spec.stage})`;
}
