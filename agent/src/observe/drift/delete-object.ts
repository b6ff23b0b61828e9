/** Deletes an object that cannot be changed, and waits until it is gone. */
import type { KubeRest } from "@flotilla/shared/kube/client";
import type { KubeObject, Resource } from "@flotilla/shared/kube/objects";
import { type Clock, delay } from "@flotilla/shared/time";

export interface Deletion {
  readonly resource: Resource<KubeObject>;
  /** As it is; another object of the name stays. */
  readonly live: KubeObject;
  /** A StatefulSet leaves its pods, and the new one takes them over. */
  readonly propagation: "Background" | "Orphan";
  /** How long the deletion may take, which finalizers delay; absent: it is not waited for. */
  readonly wait?: { readonly clock: Clock; readonly limitMs: number };
}

/** Between two looks at an object that is being deleted. */
const lookMs = 200;

/** Returns whether it is gone: one with finalizers may stay for longer. `rest`: impersonated. Throws the API error. */
export async function deleteObject(
  rest: KubeRest,
  { resource, live, propagation, wait }: Deletion,
  signal: AbortSignal,
): Promise<boolean> {
  const { uid } = live.metadata;
  const ref = live.metadata;
  await rest.delete(resource, ref, { ...(uid !== undefined && { uid }), propagation, signal });
  const untilMs = wait === undefined ? 0 : wait.clock.now() + wait.limitMs;
  while ((await rest.get(resource, ref, { signal })) !== undefined) {
    if (wait === undefined || wait.clock.now() >= untilMs) return false;
    await delay(wait.clock, lookMs, signal);
  }
  return true;
}
