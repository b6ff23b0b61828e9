/** What an agent is to be supplied with, from what it holds, what its deployments name, and what the workspace has. Pure. */
import type { HeldSupply, SupplyRef } from "@flotilla/proto/messages.ts";
import { parseSupplyKey, supplyKey } from "@flotilla/shared/supply/supply.ts";

/** What is known of an object of the workspace. */
export type ReferencedSource =
  /** Nobody has looked yet. */
  | { readonly kind: "unknown" }
  | { readonly kind: "absent" }
  | { readonly kind: "present"; readonly digest: string };

export type ReferencedStep =
  | { readonly kind: "nothing" }
  /** `digest` absent: the agent is told that there is none. */
  | { readonly kind: "send"; readonly ref: SupplyRef; readonly digest?: string }
  | { readonly kind: "withdraw"; readonly ref: SupplyRef };

export interface ReferencedView {
  /** What the agent holds of it, as far as this side knows; undefined: it has not heard of it. */
  readonly held: Pick<HeldSupply, "digest"> | undefined;
  /** Whether a BundleDeployment of the cluster names it, be it one that is being deleted. */
  readonly isNamed: boolean;
  readonly source: ReferencedSource;
}

export interface ReferencedPlan {
  /** To be said before deployments. */
  readonly send: readonly SupplyRef[];
  /** To be said after them. */
  readonly withdraw: readonly SupplyRef[];
}

const nothing: ReferencedStep = { kind: "nothing" };

export function planReferencedObjects(
  holdings: readonly HeldSupply[],
  named: ReadonlySet<string>,
  sourceOf: (ref: SupplyRef) => ReferencedSource,
): ReferencedPlan {
  const held = new Map(holdings.map((holding) => [supplyKey(holding), holding]));
  const steps = [...new Set([...named, ...held.keys()])].toSorted().flatMap((key) => {
    const ref = parseSupplyKey(key);
    if (ref === undefined) return [];
    return planReferencedObject(ref, {
      held: held.get(key),
      isNamed: named.has(key),
      source: sourceOf(ref),
    });
  });
  return {
    send: steps.flatMap((step) => (step.kind === "send" ? [step.ref] : [])),
    withdraw: steps.flatMap((step) => (step.kind === "withdraw" ? [step.ref] : [])),
  };
}

/** What nobody names goes; what the workspace does not have, or of which nothing is known, never goes for that. */
export function planReferencedObject(
  ref: SupplyRef,
  { held, isNamed, source }: ReferencedView,
): ReferencedStep {
  if (!isNamed) return held === undefined ? nothing : { kind: "withdraw", ref };
  switch (source.kind) {
    case "unknown":
      return nothing;
    case "absent":
      return held !== undefined && held.digest === undefined ? nothing : { kind: "send", ref };
    case "present":
      return held?.digest === source.digest
        ? nothing
        : { kind: "send", ref, digest: source.digest };
  }
}
