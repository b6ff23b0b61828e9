/** Writes of statuses that wait until the events before them are stored. */
import type { KubeRest } from "@flotilla/shared/kube/client";
import type { Notifier } from "./notifier.ts";

/**
 * A controller records an event when it has decided a status that differs from the last one. Once that status is written nobody
 * would record the event again, so the event is stored first.
 */
export function storeEventsFirst(rest: KubeRest, { stored }: Pick<Notifier, "stored">): KubeRest {
  return {
    ...rest,
    async replace(resource, object, options) {
      if (options?.subresource === "status") await stored();
      return await rest.replace(resource, object, options);
    },
  };
}
