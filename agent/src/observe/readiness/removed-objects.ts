/**
 * Objects that Kubernetes deletes by itself once they have done their work, so that they are not missing: by the ttl of a Job, and by
 * csrcleaner, tokencleaner and podgc of kube-controller-manager. Pure.
 */
import type { Change } from "@flotilla/shared/kube/cache";
import type { KubeObject, Resource } from "@flotilla/shared/kube/objects";
import type { OwnedObject } from "../../helm/index.ts";
import { conditionOf, hasEnded, textOf, toRuleInput } from "./rules/index.ts";

/** How an object was when its deletion began. */
export type End = "ended" | "not ended";

/** `present`: it exists, as far as the watch has delivered; `unknown`: nobody watched when it was deleted. */
export type LastSeen = "present" | End | "unknown";

/** The clocks of the agent and of the cluster differ by less. */
const clockSkewMs = 60_000;

/** For an object that does not exist. */
export function isRemovedByDesign(
  { apiVersion, kind, isDeletedWhenEnded, expiresAt }: OwnedObject,
  lastSeen: LastSeen,
  nowMs: number,
): boolean {
  // As for tokencleaner, a time that cannot be read is past.
  if (expiresAt !== undefined) return !(Date.parse(expiresAt) > nowMs + clockSkewMs);
  // The watch delivers its deletion.
  const mayHaveEnded = lastSeen === "ended" || lastSeen === "present";
  if (isDeletedWhenEnded === true) return mayHaveEnded || lastSeen === "unknown";
  // Thousands of pods that have ended are kept, so one of which nothing is known was rather deleted by somebody.
  return apiVersion === "v1" && kind === "Pod" && mayHaveEnded;
}

/** What is known of the end of an object after a change of it; undefined: nothing. `known`: before the change. */
export function endAfter(
  resource: Pick<Resource<KubeObject>, "group" | "kind">,
  { before, after, isFinalStateUnknown }: Omit<Change<KubeObject>, "key">,
  known: End | undefined,
): End | undefined {
  if (isFinalStateUnknown === true || (after !== undefined && !isTerminating(after)))
    return undefined;
  // A kubelet ends a pod because it is deleted: what counts is how it was before.
  return before !== undefined && !isTerminating(before) ? endOf(resource, before) : known;
}

function isTerminating({ metadata }: KubeObject): boolean {
  return metadata.deletionTimestamp !== undefined;
}

/** Undefined: the kind is not deleted by its end. */
function endOf(
  { group, kind }: Pick<Resource<KubeObject>, "group" | "kind">,
  object: KubeObject,
): End | undefined {
  switch (`${group}/${kind}`) {
    case "batch/Job":
      return toEnd(hasEnded(object));
    case "/Pod":
      return toEnd(hasPodEnded(object));
    case "certificates.k8s.io/CertificateSigningRequest":
      return toEnd(hasCondition(object, "Approved", "Denied", "Failed"));
    default:
      return undefined;
  }
}

function toEnd(isEnded: boolean): End {
  return isEnded ? "ended" : "not ended";
}

/** One that was evicted, or whose node is gone, has failed as well, but has not done its work. */
function hasPodEnded(pod: KubeObject): boolean {
  const phase = textOf(toRuleInput(pod).status, "phase");
  return phase === "Succeeded" || (phase === "Failed" && !hasCondition(pod, "DisruptionTarget"));
}

function hasCondition(object: KubeObject, ...types: readonly string[]): boolean {
  const input = toRuleInput(object);
  return types.some((type) => conditionOf(input, type)?.status === "True");
}
