/**
 * Requests by annotation (reconcile, force, reset, correct drift): each is accepted once, also over restarts, and has one result,
 * which is reported until the next one. What they make the agent do is decided in state/.
 */
import { cutText } from "@flotilla/shared/text";
import type { DriftTracker } from "../../observe/index.ts";
import type { AcceptedRequests, Inventory, ReleaseAssignment } from "../../state/index.ts";
import type { InSync } from "../action/deploy-pass.ts";
import { requestResult, revisionName } from "../state/request-result.ts";

export interface AnnotationRequestDeps {
  readonly inventory: Pick<Inventory, "releasesOf">;
  readonly requests: Pick<
    AcceptedRequests,
    "handledRequestOf" | "requestOf" | "acceptRequest" | "answerRequest"
  >;
  readonly drift: Pick<DriftTracker, "compareFor" | "comparedFor" | "driftOf">;
}

/** Returns whether a user has made a new request; failures before it do not delay it. */
export async function acceptRequest(
  { inventory, requests }: AnnotationRequestDeps,
  { owner: { id }, request, paused }: ReleaseAssignment,
): Promise<boolean> {
  if (request === undefined || paused) return false;
  const { token, force, reset = false } = request;
  if (requests.handledRequestOf(id) === token || requests.requestOf(id)?.token === token)
    return false;
  const installed = inventory.releasesOf(id).at(-1);
  const revisions = (installed?.revisions ?? []).map(({ revision }) => revision);
  const before =
    installed !== undefined && revisions.length > 0
      ? revisionName({ ...installed, revision: Math.max(...revisions) })
      : undefined;
  // An upgrade that was requested is entered with its run.
  const effects = { isHandled: !force, resetsFailures: reset };
  await requests.acceptRequest(id, { token, ...(before !== undefined && { before }) }, effects);
  return true;
}

/** The token of the request that was accepted and has no result yet. */
export function openRequest(
  requests: Pick<AcceptedRequests, "requestOf">,
  id: string,
): string | undefined {
  const accepted = requests.requestOf(id);
  return accepted?.result === undefined ? accepted?.token : undefined;
}

/** For a release that is as desired. Returns whether it has to be reconciled again for the request. */
export async function answerInstalled(
  { requests, drift }: AnnotationRequestDeps,
  { owner: { id }, request }: ReleaseAssignment,
  { release, drift: { options } }: Pick<InSync, "release" | "drift">,
): Promise<boolean> {
  const accepted = requests.requestOf(id);
  const token = openRequest(requests, id);
  if (accepted === undefined || token === undefined || token !== request?.token) return false;
  const result = requestResult({
    request: accepted,
    mustCorrect: request.correctDrift === true,
    release,
    mode: options.mode ?? "warn",
    compared: drift.comparedFor(id, token),
    drift: drift.driftOf(id),
  });
  if (result === "again") return true;
  if (result === "compare") drift.compareFor(id, token);
  else await requests.answerRequest(id, result);
  return false;
}

export async function answerBlocked(
  { requests }: AnnotationRequestDeps,
  id: string,
  message: string,
): Promise<void> {
  if (openRequest(requests, id) !== undefined)
    await requests.answerRequest(id, {
      result: "Blocked",
      message: cutText(message, longestMessage),
    });
}

/** The first failure of an attempt is the result of the request that it was for; later attempts are nobody's. */
export async function answerFailed(
  { requests }: AnnotationRequestDeps,
  id: string,
  { code, message }: { readonly code: string; readonly message: string },
): Promise<void> {
  if (openRequest(requests, id) === undefined) return;
  await requests.answerRequest(id, {
    result: "Failed",
    code,
    message: cutText(message, longestMessage),
  });
}

/** It is stored, and the whole message is in the state of the deployment. */
const longestMessage = 1_000;
