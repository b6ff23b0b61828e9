/**
 * What a call of a Receiver triggers: the objects of `spec.resources`. Pure. A resource that cannot be triggered is an error of
 * its own, and the others are triggered.
 */
import type { Allowance } from "@flotilla/shared/cel";
import type { ReceiverResource } from "@flotilla/shared/flux";
import {
  type KubeObject,
  keyOf,
  type ObjectKey,
  type Resource,
} from "@flotilla/shared/kube/objects";
import type { Filters } from "./filters.ts";
import type { Receiver } from "./receiver.ts";
import { apiVersionOf, targetKinds } from "./target-kinds.ts";

export interface Target {
  readonly resource: Resource<KubeObject>;
  readonly key: ObjectKey;
}

export interface Selection {
  /** Each once, in the order of the resources. */
  readonly targets: readonly Target[];
  /** Sentences for the log; with any, the call is answered with 500. */
  readonly errors: readonly string[];
}

/** What the API server has of one resource of a Receiver: metadata is enough. */
export type ReadResource =
  | { readonly kind: "read"; readonly objects: readonly KubeObject[] }
  | { readonly kind: "failed"; readonly why: string };

export interface ReferenceRules {
  /** Whether resources may be of another namespace than the Receiver. */
  readonly crossNamespace: boolean;
}

/** Of one call. */
export const mostTargets = 5_000;

/** Why a resource is never triggered, for people; undefined when it is. */
export function invalidResource(
  { kind, name, namespace, apiVersion, matchLabels }: ReceiverResource,
  { metadata }: Pick<Receiver, "metadata">,
  { crossNamespace }: ReferenceRules,
): string | undefined {
  const known = targetKinds.get(kind);
  if (known === undefined)
    return `kind ${kind} is not reconciled by the hub; it reconciles ${[...targetKinds.keys()].join(", ")}`;
  const expected = apiVersionOf(known.resource);
  if (apiVersion === undefined && known.needsApiVersion)
    return `apiVersion must be set for kind ${kind}: ${expected}`;
  if (apiVersion !== undefined && apiVersion !== expected)
    return `apiVersion ${apiVersion} of kind ${kind} is unknown; write ${expected}`;
  if (!crossNamespace && namespace !== undefined && namespace !== metadata.namespace)
    return `${kind} ${namespace}/${name} is in another namespace, which needs the hub's flag --cross-namespace-references`;
  if (name === "*" && matchLabels === undefined) return `name * of kind ${kind} needs matchLabels`;
  return undefined;
}

/** The objects that a call triggers. `read`: of each resource, in their order. `req`: the payload for filters. */
export function selectTargets(
  { spec }: Receiver,
  read: readonly ReadResource[],
  call: { readonly req: unknown; readonly filters: Filters; readonly allowance: Allowance },
): Selection {
  const targets = new Map<string, Target>();

  /** Returns why not all objects of the resource are selected. */
  function select({ kind, filter }: ReceiverResource, found: ReadResource): string | undefined {
    const resource = targetKinds.get(kind)?.resource;
    if (found.kind === "failed") return found.why;
    if (resource === undefined) return `kind ${kind} is unknown`;
    for (const object of found.objects) {
      const res = { apiVersion: apiVersionOf(resource), kind, metadata: object.metadata };
      const result = call.filters.select(
        [filter, spec.resourceFilter],
        { req: call.req, res },
        call.allowance,
      );
      if (result.kind === "failed") return result.why;
      if (result.kind === "filtered out") continue;
      const key = keyOf(object);
      const id = `${kind} ${key}`;
      if (targets.size >= mostTargets && !targets.has(id))
        return `more than ${mostTargets} objects are selected; select fewer by their labels`;
      targets.set(id, { resource, key });
    }
    return undefined;
  }

  const errors = spec.resources.flatMap((wanted, index) => {
    const found = read[index];
    const why = found && select(wanted, found);
    return why === undefined ? [] : [`spec.resources[${index}]: ${why}`];
  });
  return { targets: [...targets.values()], errors };
}
