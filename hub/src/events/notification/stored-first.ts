/** Writes of statuses that wait until the events before them are stored. */
import type { KubeRest } from "@flotilla/shared/kube/client";
import type { Notifier } from "./notifier.ts";

/**
 * A controller records an event when it has decided a status that differs from the last one. Once that status is written nobody
 * would record the event again, so the event is stored first. The same is true of the last event of an object, before its finalizer is
 * removed.
 */
export function storeEventsFirst(rest: KubeRest, { stored }: Pick<Notifier, "stored">): KubeRest {
  return {
    ...rest,
    async replace(resource, object, options) {
      if (options?.subresource === "status") await stored();
      return await rest.replace(resource, object, options);
    },
    async patch(resource, ref, patch, options) {
      if (hasFinalizers(patch.body)) await stored();
      return await rest.patch(resource, ref, patch, options);
    },
  };
}

function hasFinalizers(body: unknown): boolean {
  const metadata: unknown = isObject(body) ? Reflect.get(body, "metadata") : undefined;
  return isObject(metadata) && "finalizers" in metadata;
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
