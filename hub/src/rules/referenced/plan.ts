/** Which referenced objects to send an agent: what it has stored, its deployments' references and the workspace compared. Pure. */
import type { ObjectRef, ObservedObject } from "@flotilla/proto";
import { formatObjectRef, parseObjectRef } from "@flotilla/shared/api";
import type { UsedKeys, UsedObjects } from "@flotilla/shared/referenced";

/** The cached state of an object of the workspace. */
export type ReferencedSource =
  /** Not read yet. */
  | { readonly kind: "unknown" }
  | { readonly kind: "absent" }
  /** `digest`: of what is used of it. */
  | { readonly kind: "present"; readonly digest: string };

export type ReferencedStep =
  | { readonly kind: "nothing" }
  /** `digest` absent: the message says that the object does not exist. */
  | { readonly kind: "send"; readonly ref: ObjectRef; readonly digest?: string }
  | { readonly kind: "withdraw"; readonly ref: ObjectRef };

export interface ReferencedView {
  /** What the agent has, as far as the hub knows; undefined: nothing was sent yet. */
  readonly observed: Pick<ObservedObject, "digest"> | undefined;
  /** What the BundleDeployments of the cluster use of it, also those that are being deleted; undefined: none refers to it. */
  readonly used: UsedKeys | undefined;
  /** Whether a deployment that the hub has not signed refers to it: what the agent has stays, and is not sent again. */
  readonly isKept?: boolean;
  readonly source: (used: UsedKeys) => ReferencedSource;
}

/** The references of a cluster's deployments. */
export interface References {
  readonly referenced: UsedObjects;
  /** By deployments that the hub has not signed. */
  readonly kept: ReadonlySet<string>;
}

export interface ReferencedPlan {
  /** Before deployments. */
  readonly send: readonly ObjectRef[];
  /** After deployments. */
  readonly withdraw: readonly ObjectRef[];
}

const nothing: ReferencedStep = { kind: "nothing" };

export function planReferencedObjects(
  stored: readonly ObservedObject[],
  { referenced, kept }: References,
  sourceOf: (ref: ObjectRef, used: UsedKeys) => ReferencedSource,
): ReferencedPlan {
  const observed = new Map(stored.map((each) => [formatObjectRef(each), each]));
  const steps = [...new Set([...referenced.keys(), ...observed.keys()])]
    .toSorted()
    .flatMap((key) => {
      const ref = parseObjectRef(key);
      if (ref === undefined) return [];
      return planReferencedObject(ref, {
        observed: observed.get(key),
        used: referenced.get(key),
        isKept: kept.has(key),
        source: (used) => sourceOf(ref, used),
      });
    });
  return {
    send: steps.flatMap((step) => (step.kind === "send" ? [step.ref] : [])),
    withdraw: steps.flatMap((step) => (step.kind === "withdraw" ? [step.ref] : [])),
  };
}

/**
 * Withdraws what no deployment refers to. An object that the workspace does not have, or that is not read yet, is never withdrawn
 * for that.
 */
export function planReferencedObject(
  ref: ObjectRef,
  { observed, used, isKept = false, source: sourceOf }: ReferencedView,
): ReferencedStep {
  if (used === undefined)
    return observed === undefined || isKept ? nothing : { kind: "withdraw", ref };
  const source = sourceOf(used);
  switch (source.kind) {
    case "unknown":
      return nothing;
    case "absent":
      return observed !== undefined && observed.digest === undefined
        ? nothing
        : { kind: "send", ref };
    case "present":
      return observed?.digest === source.digest
        ? nothing
        : { kind: "send", ref, digest: source.digest };
  }
}
