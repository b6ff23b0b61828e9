/**
 * What a call of a Receiver triggers: the objects of `spec.resources`. Pure. A resource that cannot be triggered is an error of
 * its own, and the others are triggered.
 */
import type { Allowance } from "@flotilla/shared/cel";
import { byNamespace, type Store } from "@flotilla/shared/kube/cache";
import { type KubeObject, keyOf, type ObjectKey, type Resource } from "@flotilla/shared/kube/objects";
import type { Filters } from "./filters.ts";
import type { Receiver, ReceiverResource } from "./receiver.ts";

/** A kind that Receivers trigger. */
export interface TargetKind {
  readonly resource: Resource<KubeObject>;
  /** What the watch delivered; empty while the CRD is absent. */
  readonly store: Pick<Store<KubeObject>, "get" | "byIndex">;
  /** Flux demands `apiVersion` of some kinds. */
  readonly needsApiVersion: boolean;
}

/** By kind. */
export type TargetKinds = ReadonlyMap<string, TargetKind>;

export interface Target {
  readonly kind: TargetKind;
  readonly key: ObjectKey;
}

export interface Selection {
  /** Each once, in the order of the resources. */
  readonly targets: readonly Target[];
  /** Sentences for the log; with any, the call is answered with 500. */
  readonly errors: readonly string[];
}

export interface SelectionRules {
  readonly kinds: TargetKinds;
  readonly filters: Filters;
  /** Whether resources may be of another namespace than the Receiver. */
  readonly crossNamespace: boolean;
}

/** Of one call. */
export const mostTargets = 5_000;

/** Why a resource is never triggered, for people; undefined when it is. */
export function invalidResource(
  { kind, name, namespace, apiVersion, matchLabels }: ReceiverResource,
  receiver: Pick<Receiver, "metadata">,
  { kinds, crossNamespace }: Pick<SelectionRules, "kinds" | "crossNamespace">,
): string | undefined {
  const known = kinds.get(kind);
  if (known === undefined)
    return `kind ${kind} is not reconciled by the hub; it reconciles ${[...kinds.keys()].join(", ")}`;
  const { group, version } = known.resource;
  const expected = `${group}/${version}`;
  if (apiVersion === undefined && known.needsApiVersion)
    return `apiVersion must be set for kind ${kind}: ${expected}`;
  if (apiVersion !== undefined && apiVersion !== expected)
    return `apiVersion ${apiVersion} of kind ${kind} is unknown; write ${expected}`;
  if (!crossNamespace && namespace !== undefined && namespace !== receiver.metadata.namespace)
    return `${kind} ${namespace}/${name} is in another namespace, which --cross-namespace-references does not allow`;
  if (name === "*" && matchLabels === undefined) return `name * of kind ${kind} needs matchLabels`;
  return undefined;
}

/** The objects that a call triggers. `req`: the payload for filters. */
export function selectTargets(
  receiver: Receiver,
  req: unknown,
  rules: SelectionRules & { readonly allowance: Allowance },
): Selection {
  const targets = new Map<string, Target>();
  const errors: string[] = [];
  receiver.spec.resources.forEach((resource, index) => {
    const fail = (why: string): void => void errors.push(`spec.resources[${index}]: ${why}`);
    const invalid = invalidResource(resource, receiver, rules);
    const kind = rules.kinds.get(resource.kind);
    if (invalid !== undefined || kind === undefined) return fail(invalid ?? "");
    const objects = objectsOf(resource, receiver, kind);
    if (objects === undefined) return fail(`${resource.kind} ${resource.name} does not exist`);
    for (const object of objects) {
      const selected = rules.filters.select(
        [resource.filter, receiver.spec.resourceFilter],
        { req, res: filtered(object, kind) },
        rules.allowance,
      );
      if (selected.kind === "failed") return fail(selected.why);
      if (selected.kind === "filtered out") continue;
      const key = keyOf(object);
      const id = `${resource.kind} ${key}`;
      if (targets.size >= mostTargets && !targets.has(id))
        return fail(`more than ${mostTargets} objects are selected; select fewer by labels`);
      targets.set(id, { kind, key });
    }
  });
  return { targets: [...targets.values()], errors };
}

/** Undefined when the named object does not exist. Labels that match no object are no error. */
function objectsOf(
  { name, namespace, matchLabels }: ReceiverResource,
  { metadata }: Receiver,
  { store }: TargetKind,
): readonly KubeObject[] | undefined {
  const inNamespace = namespace ?? metadata.namespace ?? "";
  if (name === "*")
    return store
      .byIndex(byNamespace, inNamespace)
      .filter((object) => hasLabels(object, matchLabels ?? {}));
  const object = store.get(keyOf({ namespace: inNamespace, name }));
  return object && [object];
}

function hasLabels({ metadata }: KubeObject, wanted: Readonly<Record<string, string>>): boolean {
  return Object.entries(wanted).every(([key, value]) => metadata.labels?.[key] === value);
}

function filtered({ metadata }: KubeObject, { resource }: TargetKind) {
  const { group, version, kind } = resource;
  return { apiVersion: `${group}/${version}`, kind, metadata };
}
