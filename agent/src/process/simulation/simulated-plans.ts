/** Answers plans without a cluster: nothing changes for the content that is assigned, and the same for all agents of a group otherwise. */
import { createHash } from "node:crypto";
import { AppError } from "@flotilla/shared/errors";
import { maxPlanTextBytes, type PlanResult } from "@flotilla/shared/plan";
import { type Clock, delay } from "@flotilla/shared/time";
import { agentErrors } from "../../base/errors/index.ts";
import type { AnswerRequest } from "../../link/index.ts";
import type { Assignments } from "../../state/index.ts";

export interface SimulatedPlansOptions {
  /** Agents of one group answer with the same diff. */
  readonly group: number;
  /** Each plan takes 50% to 150% of it. */
  readonly latencyMs: number;
}

export interface SimulatedPlansDeps {
  readonly assignments: Pick<Assignments, "get">;
  readonly clock: Clock;
  readonly random: () => number;
}

/** Half of the longest. */
const textBytes = maxPlanTextBytes / 2;

export function createSimulatedPlans(
  { group, latencyMs }: SimulatedPlansOptions,
  { assignments, clock, random }: SimulatedPlansDeps,
): AnswerRequest {
  return async function answer({ deployment, body }, { write, signal }) {
    if (body.kind !== "plan")
      throw new AppError(agentErrors.REQUEST_FAILED, "a simulated agent answers plans only");
    if (latencyMs > 0) await delay(clock, latencyMs * (0.5 + random()), signal);
    const applied = assignments.get(deployment.name)?.deploymentId ?? "";
    const isSame = applied === body.deploymentId;
    const diff = isSame ? "" : `${body.deploymentId} group ${group}`;
    const result: PlanResult = {
      result: isSame ? "none" : applied === "" ? "install" : "changes",
      counts: { create: 0, update: isSame ? 0 : 1 + group, replace: 0, delete: 0 },
      digest: digestOf(diff),
      shape: digestOf(isSame ? "" : body.deploymentId),
      applied,
      revision: applied === "" ? 0 : 1,
      remarks: [],
      hooks: 0,
      failures: 0,
    };
    await write(`${JSON.stringify(result)}\n`);
    if (body.withText && !isSame) await write(`+group: ${group}\n`.repeat(textBytes / 16));
  };
}

function digestOf(text: string): string {
  return `sha256:${createHash("sha256").update(text).digest("hex")}`;
}
