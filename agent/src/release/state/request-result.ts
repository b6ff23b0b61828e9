/**
 * What a request of a user has come to, once its release is as desired. Pure. It is an answer to the request only if the objects
 * were compared after it was made: what a watch has not delivered yet is not a reason to say that nothing has changed.
 */
import type { ReleaseInfo, RequestResult } from "@flotilla/proto";
import type { ReleaseKey } from "../../helm/index.ts";
import type { InventoryRequest } from "../../state/index.ts";

export type Result = Omit<RequestResult, "token">;

export interface RequestFacts {
  readonly request: Pick<InventoryRequest, "before">;
  readonly mustCorrect: boolean;
  /** As installed now. */
  readonly release: Pick<ReleaseInfo, "namespace" | "name" | "revision">;
  readonly mode: "disabled" | "warn" | "enabled";
  /** Undefined: its objects were not compared since the request. */
  readonly compared: { readonly isCorrected: boolean; readonly corrected: number } | undefined;
  /** As it is known now; undefined: it is not followed yet. */
  readonly drift: ObservedObjects | undefined;
}

export interface ObservedObjects {
  readonly objects: readonly unknown[];
  readonly failures: readonly { readonly message: string }[];
  /** Why objects could not be compared. */
  readonly uncompared: readonly string[];
}

/** `compare`: its objects have to be compared first. `again`: drift was found since the last action was decided. */
export function requestResult(facts: RequestFacts): Result | "compare" | "again" {
  const { request, mustCorrect, release, mode, compared, drift } = facts;
  const { revision } = release;
  const changed = changedBy(request, release);
  if (changed !== undefined && !mustCorrect) return { result: changed, revision };
  if (mode === "disabled") return { result: changed ?? "NotCompared", revision };
  if (compared === undefined || drift === undefined) return "compare";
  const { objects, failures, uncompared } = drift;
  if (mustCorrect && objects.length > 0 && !compared.isCorrected) return "again";
  const [failure] = mustCorrect || mode === "enabled" ? failures : [];
  if (failure !== undefined) {
    const { message } = failure;
    return { result: "CorrectionFailed", objects: failures.length, revision, message };
  }
  if (changed !== undefined) return { result: changed, revision };
  if (compared.corrected > 0)
    return { result: "DriftCorrected", objects: compared.corrected, revision };
  if (objects.length > 0) return { result: "DriftLeft", objects: objects.length, revision };
  const [message] = uncompared;
  return { result: "InSync", revision, ...(message !== undefined && { message }) };
}

function changedBy(
  { before }: RequestFacts["request"],
  release: RequestFacts["release"],
): "Installed" | "Upgraded" | undefined {
  if (before === undefined) return "Installed";
  return before === revisionName(release) ? undefined : "Upgraded";
}

/** `namespace/name:revision`. */
export function revisionName({
  namespace,
  name,
  revision,
}: ReleaseKey & { readonly revision: number }): string {
  return `${namespace}/${name}:${revision}`;
}
