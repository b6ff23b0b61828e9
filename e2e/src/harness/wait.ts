/** Waiting for objects by watching them. What a wait resolves with is read by the independent reader. */
import { waitForObject as watchUntil } from "@flotilla/cli/fleet";
import type { Condition } from "@flotilla/shared/api";
import { findCondition } from "@flotilla/shared/conditions";
import type { KubeObject, ObjectRef, Resource } from "@flotilla/shared/kube/objects";
import type { ClusterClient } from "./cluster-client.ts";
import { hangMs } from "./hang.ts";

/** Resolves with the object once it exists and `isDesired` holds for it; `what` it then is, for the error otherwise. */
export async function waitForObject<T extends KubeObject>(
  client: ClusterClient,
  resource: Resource<T>,
  ref: ObjectRef,
  what: string,
  isDesired: (object: T) => boolean,
): Promise<T> {
  const deadline = AbortSignal.timeout(hangMs);
  for (;;) {
    await watchUntil(resource, ref, (object) => object !== undefined && isDesired(object), {
      rest: client,
      timeoutMs: hangMs,
      signal: deadline,
      onTimeout: (last) => timeoutMessage(resource, ref, what, last),
    });
    // Between the two it may have changed to something else.
    const found = await client.reader.get(resource, ref);
    if (found !== undefined && isDesired(found)) return found;
  }
}

export async function waitUntilGone<T extends KubeObject>(
  client: ClusterClient,
  resource: Resource<T>,
  ref: ObjectRef,
): Promise<void> {
  const deadline = AbortSignal.timeout(hangMs);
  do {
    await watchUntil(resource, ref, (object) => object === undefined, {
      rest: client,
      timeoutMs: hangMs,
      signal: deadline,
      onTimeout: (last) => timeoutMessage(resource, ref, "deleted", last),
    });
  } while ((await client.reader.get(resource, ref)) !== undefined);
}

function timeoutMessage(
  { kind }: Resource<KubeObject>,
  { namespace, name }: ObjectRef,
  what: string,
  last: unknown,
): string {
  return `${kind} ${namespace ?? ""}/${name} was not ${what} within ${hangMs / 1_000} s: ${JSON.stringify(last)}`;
}

export interface WithConditions {
  readonly metadata: { readonly generation?: number | undefined };
  readonly status?: { readonly conditions?: readonly Condition[] | undefined } | undefined;
}

/** The message of a condition; empty when it has none. */
export function messageOf({ status }: WithConditions, type: string): string {
  return findCondition(status?.conditions, type)?.message ?? "";
}

/** `undefined` unless it is of the current generation. */
export function currentCondition(
  { metadata, status }: WithConditions,
  type: string,
): Condition | undefined {
  const condition = findCondition(status?.conditions, type);
  return condition?.observedGeneration === metadata.generation ? condition : undefined;
}
