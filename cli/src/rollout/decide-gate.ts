/** Writes a decision into a Gate, under the own name of the user. */
import { type Gate, type GateDecision, gates } from "@flotilla/shared/api/rollout";
import { findCondition } from "@flotilla/shared/conditions";
import { AppError } from "@flotilla/shared/errors";
import { isConflict, type KubeRest, KubeStatusError } from "@flotilla/shared/kube/client";
import {
  type ObjectRef,
  type SelfSubjectReview,
  selfSubjectReviews,
} from "@flotilla/shared/kube/objects";
import * as z from "zod";
import { cliErrors } from "../errors.ts";
import { type DecisionRights, decisionProblem, refusalText } from "./decision-refusal.ts";
import { kubectlCommand } from "./kubectl-command.ts";

/** What a user says about a Gate. */
export interface Verdict {
  readonly result: GateDecision["result"];
  readonly message?: string | undefined;
  /** What it is about, which the spec of the Gate must have. */
  readonly digest: string;
}

/** The limit of `decision.message` in the definition. */
const maxMessageChars = 512;
/** The hub writes conditions. */
const mostAttempts = 4;

/** Throws OBJECT_NOT_FOUND. */
export async function readGate(rest: KubeRest, ref: ObjectRef): Promise<Gate> {
  const gate = await rest.get(gates, ref);
  if (gate !== undefined) return gate;
  throw new AppError(
    cliErrors.OBJECT_NOT_FOUND,
    `read Gate ${ref.namespace ?? ""}/${ref.name}: not found on ${rest.server}; its rollout may have ended; check -n, --kubeconfig and --context`,
  );
}

/** The decision as it will be written. Throws GATE_REFUSED when something is known to speak against it. */
export async function planDecision(
  rest: KubeRest,
  gate: Gate,
  { result, message, digest }: Verdict,
): Promise<GateDecision> {
  const problem = decisionProblem(gate, { digest, nowMs: Date.now() });
  if (problem !== undefined) throw new AppError(cliErrors.GATE_REFUSED, problem);
  if ((message ?? "").length > maxMessageChars)
    throw new AppError(
      cliErrors.GATE_REFUSED,
      `the message has ${message?.length ?? 0} characters, more than the limit of ${maxMessageChars}: shorten it`,
    );
  const by = await userName(rest);
  return { result, by, digest, ...(message !== undefined && { message }) };
}

/** The same with kubectl. */
export function decisionCommand({ metadata }: Gate, decision: GateDecision): string {
  const { namespace = "", name } = metadata;
  const patch = { status: { decision } };
  return kubectlCommand({ resource: "gate", namespace, name, patch, subresource: "status" });
}

/** Throws GATE_REFUSED with why the API server does not take it. */
export async function writeDecision(
  rest: KubeRest,
  gate: Gate,
  decision: GateDecision,
): Promise<void> {
  const { uid } = gate.metadata;
  const body = { metadata: { uid }, status: { decision } };
  for (let attempt = 1; ; attempt += 1) {
    try {
      await rest.patch(gates, gate.metadata, { type: "merge", body }, { subresource: "status" });
      return;
    } catch (thrown) {
      if (!(thrown instanceof KubeStatusError)) throw thrown;
      const now = await rest.get(gates, gate.metadata);
      const isOther = now === undefined || now.metadata.uid !== uid;
      if (isConflict(thrown) && !isOther && attempt < mostAttempts) continue;
      const rights = await readRights(rest, gate);
      const answer = thrown.serverMessage;
      throw new AppError(
        cliErrors.GATE_REFUSED,
        refusalText(decision, { gate, now, rights, answer }),
        { cause: thrown },
      );
    }
  }
}

/** As the API server knows the user, which it compares with `decision.by`. */
async function userName(rest: KubeRest): Promise<string> {
  // It is not stored; only our client wants a name.
  const review: SelfSubjectReview = { metadata: { name: "self" } };
  const name = (await rest.create(selfSubjectReviews, review)).status?.userInfo?.username;
  if (name !== undefined && name !== "") return name;
  throw new AppError(cliErrors.GATE_REFUSED, "the API server does not say who makes the request");
}

async function readRights(rest: KubeRest, { metadata }: Gate): Promise<DecisionRights> {
  const may = (verb: string, subresource: string) =>
    isAllowed(rest, metadata, { verb, subresource });
  return { mayDecide: await may("patch", "status"), mayApprove: await may("update", "approve") };
}

const answerSchema = z.looseObject({ status: z.looseObject({ allowed: z.boolean() }) });

async function isAllowed(
  rest: KubeRest,
  { namespace = "", name }: ObjectRef,
  { verb, subresource }: { readonly verb: string; readonly subresource: string },
): Promise<boolean> {
  const { group, plural: resource } = gates;
  const body = {
    apiVersion: "authorization.k8s.io/v1",
    kind: "SelfSubjectAccessReview",
    spec: { resourceAttributes: { group, resource, subresource, verb, namespace, name } },
  };
  const path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
  const answer = await rest.raw(path, { body: JSON.stringify(body) });
  return answerSchema.parse(JSON.parse(answer)).status.allowed;
}

/** How the hub has taken a decision, or that it waits. */
export function gateResult({ status }: Gate): "waiting" | "passed" | "failed" {
  const passed = findCondition(status?.conditions, "Passed");
  if (passed?.status === "True") return "passed";
  return passed?.status === "False" ? "failed" : "waiting";
}
