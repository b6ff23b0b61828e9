/** The answer to a plan: a line with the result, and the text of the changes after it. */
import type { DeploymentKey, PlanOptions } from "@flotilla/proto";
import { AppError } from "@flotilla/shared/errors";
import { agentErrors } from "../../base/errors/index.ts";
import { type Planner, planLine } from "../../plan/index.ts";
import type { ReleaseAssignments } from "../../state/index.ts";
import type { AnswerSink } from "./open-requests.ts";

export interface PlanDeps {
  readonly assigned: Pick<ReleaseAssignments, "of">;
  readonly plan: Planner;
}

/** Throws REQUEST_FAILED, and what the planner throws. */
export async function writePlan(
  { assigned, plan }: PlanDeps,
  deployment: DeploymentKey,
  options: PlanOptions,
  { write, signal }: AnswerSink,
): Promise<void> {
  const { name, uid } = deployment;
  const [assignment, ...others] = assigned.of(name);
  if (assignment !== undefined && assignment.owner.uid !== uid)
    throw failed(`the agent has another deployment ${name}`);
  if (others.length > 0) throw failed(`deployment ${name} has several releases`);
  const { result, text } = await plan({ deployment, assignment, options }, signal);
  await write(`${planLine(result)}\n${options.withText ? text : ""}`);
}

function failed(message: string): AppError {
  return new AppError(agentErrors.REQUEST_FAILED, `plan: ${message}`);
}
