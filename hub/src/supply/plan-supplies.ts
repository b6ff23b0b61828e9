/** What an agent is to be supplied with, from what it holds, what its deployments name, and what the workspace has. Pure. */
import type { ObjectRef, ObservedObject } from "@flotilla/proto/messages.ts";
import { formatObjectRef, parseObjectRef } from "@flotilla/shared/api/bundle-deployment.ts";

/** What is known of an object of the workspace. */
export type SupplySource =
  /** Nobody has looked yet. */
  | { readonly kind: "unknown" }
  | { readonly kind: "absent" }
  | { readonly kind: "present"; readonly digest: string };

export type SupplyStep =
  | { readonly kind: "nothing" }
  /** `digest` absent: the agent is told that there is none. */
  | { readonly kind: "send"; readonly ref: ObjectRef; readonly digest?: string }
  | { readonly kind: "withdraw"; readonly ref: ObjectRef };

export interface SupplyView {
  /** What the agent holds of it, as far as this side knows; undefined: it has not heard of it. */
  readonly held: Pick<ObservedObject, "digest"> | undefined;
  /** Whether a BundleDeployment of the cluster names it, be it one that is being deleted. */
  readonly isNamed: boolean;
  readonly source: SupplySource;
}

export interface SupplyPlan {
  /** To be said before deployments. */
  readonly send: readonly ObjectRef[];
  /** To be said after them. */
  readonly withdraw: readonly ObjectRef[];
}

const nothing: SupplyStep = { kind: "nothing" };

export function planSupplies(
  holdings: readonly ObservedObject[],
  named: ReadonlySet<string>,
  sourceOf: (ref: ObjectRef) => SupplySource,
): SupplyPlan {
  const held = new Map(holdings.map((holding) => [formatObjectRef(holding), holding]));
  const steps = [...new Set([...named, ...held.keys()])].toSorted().flatMap((key) => {
    const ref = parseObjectRef(key);
    if (ref === undefined) return [];
    return planSupply(ref, {
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
export function planSupply(ref: ObjectRef, { held, isNamed, source }: SupplyView): SupplyStep {
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
