/** Where a kind lives in the API of this cluster. */
import type { KubeObject, Resource } from "@flotilla/shared/kube/object.ts";
import type { KubeRest } from "@flotilla/shared/kube/rest.ts";
import { isNotFound } from "@flotilla/shared/kube/status-error.ts";
import { z } from "zod";
import { builtInKind, groupVersionOf } from "./built-in-kinds.ts";

export interface Discovery {
  /** `undefined` when the cluster does not have the kind (yet). Kinds that were found are remembered. */
  find(apiVersion: string, kind: string): Promise<Resource<KubeObject> | undefined>;
}

const listSchema = z.object({
  resources: z.array(z.object({ name: z.string(), kind: z.string(), namespaced: z.boolean() })),
});

export function createDiscovery(rest: KubeRest): Discovery {
  const known = new Map<string, Resource<KubeObject>>();
  const asking = new Map<string, Promise<void>>();

  async function ask(apiVersion: string): Promise<void> {
    let text: string;
    try {
      text = await rest.raw(`${apiVersion.includes("/") ? "/apis" : "/api"}/${apiVersion}`);
    } catch (thrown) {
      if (isNotFound(thrown)) return;
      throw thrown;
    }
    for (const { name, kind, namespaced } of listSchema.parse(JSON.parse(text)).resources) {
      if (name.includes("/")) continue;
      const resource = { ...groupVersionOf(apiVersion), kind, plural: name, namespaced };
      known.set(`${apiVersion} ${kind}`, resource);
    }
  }

  return {
    async find(apiVersion, kind) {
      const builtIn = builtInKind(apiVersion, kind);
      if (builtIn !== undefined) return builtIn;
      const key = `${apiVersion} ${kind}`;
      if (!known.has(key)) {
        const question =
          asking.get(apiVersion) ?? ask(apiVersion).finally(() => asking.delete(apiVersion));
        asking.set(apiVersion, question);
        await question;
      }
      return known.get(key);
    },
  };
}
