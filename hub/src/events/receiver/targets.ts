/**
 * What a call of a Receiver triggers: the objects of `spec.resources`, judged as they are read. A resource that cannot be
 * triggered is an error of its own, and the others are triggered.
 */
import type { Allowance } from "@flotilla/shared/cel";
import { createTimeSlices } from "@flotilla/shared/concurrency";
import type { ReceiverResource } from "@flotilla/shared/flux";
import {
  type KubeObject,
  keyOf,
  type ObjectKey,
  type Resource,
} from "@flotilla/shared/kube/objects";
import { type Filters, tooLong } from "./filters.ts";
import type { Receiver } from "./receiver.ts";
import { apiVersionOf, targetKinds } from "./target-kinds.ts";

export interface Target {
  readonly resource: Resource<KubeObject>;
  readonly key: ObjectKey;
}

export interface Selection {
  /** Each once. */
  readonly targets: readonly Target[];
  /** Sentences for the log; with any, the call is answered with 500. */
  readonly errors: readonly string[];
}

export interface ReferenceRules {
  /** Whether resources may be of another namespace than the Receiver. */
  readonly crossNamespace: boolean;
}

/** The limit of one call. */
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

/** The objects that a call triggers, of those that are read for it. */
export interface TargetSelection {
  /** Judges objects for entries of `spec.resources`, by their indexes. Yields to the event loop between objects. */
  add(entries: readonly number[], objects: readonly KubeObject[]): Promise<void>;
  /** The objects of these entries cannot be read; what was selected already is triggered. */
  fail(entries: readonly number[], why: string): void;
  /** Whether more objects can change the result. */
  takesMore(entries: readonly number[]): boolean;
  result(): Selection;
}

export interface SelectionCall {
  /** The payload for filters. */
  readonly req: unknown;
  readonly filters: Filters;
  readonly allowance: Allowance;
}

/** For each object and entry, in steps of filters; the filters themselves come on top. */
const stepsPerObject = { seen: 1, selected: 5 };

export function createSelection({ spec }: Receiver, call: SelectionCall): TargetSelection {
  const targets = new Map<string, Target>();
  const errors = new Map<number, string>();
  const slices = createTimeSlices();

  /** Returns why no more objects are selected for the entry. */
  function select(wanted: ReceiverResource, object: KubeObject): string | undefined {
    const { kind, filter } = wanted;
    const resource = targetKinds.get(kind)?.resource;
    if (resource === undefined) return `kind ${kind} is unknown`;
    if (call.allowance.steps <= 0) return tooLong;
    call.allowance.steps -= stepsPerObject.seen;
    if (!hasLabels(object, wanted)) return undefined;
    call.allowance.steps -= stepsPerObject.selected;
    const res = { apiVersion: apiVersionOf(resource), kind, metadata: object.metadata };
    const { req } = call;
    const result = call.filters.select([filter, spec.resourceFilter], { req, res }, call.allowance);
    if (result.kind === "failed") return result.why;
    if (result.kind === "filtered out") return undefined;
    const key = keyOf(object);
    const id = `${kind} ${key}`;
    if (targets.size >= mostTargets && !targets.has(id))
      return `more than ${mostTargets} objects are selected; select fewer by their labels`;
    targets.set(id, { resource, key });
    return undefined;
  }

  const fail = (entries: readonly number[], why: string): void => {
    for (const index of entries) if (!errors.has(index)) errors.set(index, why);
  };

  return {
    async add(entries, objects) {
      for (const object of objects)
        for (const index of entries) {
          if (slices.isOver) await slices.pause();
          const wanted = spec.resources[index];
          if (wanted === undefined || errors.has(index)) continue;
          const why = select(wanted, object);
          if (why !== undefined) errors.set(index, why);
        }
    },
    fail,
    takesMore: (entries) => entries.some((index) => !errors.has(index)),
    result: () => ({
      targets: [...targets.values()],
      errors: [...errors]
        .sort(([one], [other]) => one - other)
        .map(([index, why]) => `spec.resources[${index}]: ${why}`),
    }),
  };
}

/** An object that is named is selected whatever its labels are. */
function hasLabels(
  { metadata }: KubeObject,
  { name, matchLabels = {} }: ReceiverResource,
): boolean {
  const { labels = {} } = metadata;
  return name !== "*" || Object.entries(matchLabels).every(([key, value]) => labels[key] === value);
}
