/** What came of asking a HelmOp to reconcile, as its status tells it. Pure. */
import type { HelmOp } from "@flotilla/shared/api/helm-op.ts";
import { findCondition } from "@flotilla/shared/conditions/condition.ts";

export type ReconcileOutcome =
  | { readonly kind: "waiting"; readonly why: string }
  | { readonly kind: "ready"; readonly text: string }
  | { readonly kind: "failed"; readonly why: string };

/** `token`: the value of the annotation that asked. */
export function reconcileOutcome(helmOp: HelmOp | undefined, token: string): ReconcileOutcome {
  if (helmOp === undefined) return { kind: "failed", why: "it was deleted" };
  const { metadata, status } = helmOp;
  if (status?.lastHandledReconcileAt !== token)
    return { kind: "waiting", why: "the hub has not taken it up; does one run?" };
  const stalled = findCondition(status.conditions, "Stalled");
  if (stalled?.status === "True") return { kind: "failed", why: stalled.message ?? "" };
  const ready = findCondition(status.conditions, "Ready");
  if (ready?.status !== "True" || ready.observedGeneration !== metadata.generation)
    return { kind: "waiting", why: ready?.message || "it is not ready" };
  const notes = ["Accepted", "Ready"]
    .map((type) => findCondition(status.conditions, type)?.message ?? "")
    .filter((message) => message !== "");
  const { version, readyClusters = 0, desiredReadyClusters = 0 } = status;
  const what = version === undefined || version === "" ? "it" : version;
  const text = `${what} is ready in ${readyClusters} of ${desiredReadyClusters} clusters`;
  return { kind: "ready", text: [text, ...notes].join("; ") };
}
