/** Finds the REST mapping of a kind in this cluster. */
import { createSingleFlight } from "@flotilla/shared/concurrency";
import { messageOf } from "@flotilla/shared/errors";
import { isForbidden, isNotFound, type KubeRest } from "@flotilla/shared/kube/client";
import type { KubeObject, Resource } from "@flotilla/shared/kube/objects";
import type { Clock } from "@flotilla/shared/time";
import * as z from "zod";
import { builtInKind, groupVersionOf } from "./built-in-kinds.ts";

export type Discovered =
  | { readonly kind: "found"; readonly resource: Resource<KubeObject> }
  /** The cluster does not have the kind (yet), or discovery failed; `why` is for people. */
  | { readonly kind: "not found"; readonly why: string };

const listSchema = z.object({
  resources: z.array(z.object({ name: z.string(), kind: z.string(), namespaced: z.boolean() })),
});

const freshMs = 60_000;

export type Discovery = ReturnType<typeof createDiscovery>;

/** `clock`: absent for one that is used for one task, in which nothing changes. */
export function createDiscovery(rest: KubeRest, clock?: Pick<Clock, "monotonic">) {
  const known = new Map<string, Resource<KubeObject>>();
  /** When an apiVersion was asked for last. */
  const asked = new Map<string, number>();
  /** By apiVersion; the result is the error message, if any. */
  const requests = createSingleFlight<string | undefined>();

  async function discover(apiVersion: string, signal: AbortSignal): Promise<string | undefined> {
    try {
      const path = `${apiVersion.includes("/") ? "/apis" : "/api"}/${apiVersion}`;
      const text = await rest.raw(path, { signal });
      for (const { name, kind, namespaced } of listSchema.parse(JSON.parse(text)).resources) {
        if (name.includes("/")) continue;
        const resource = { ...groupVersionOf(apiVersion), kind, plural: name, namespaced };
        known.set(`${apiVersion} ${kind}`, resource);
      }
      return undefined;
    } catch (thrown) {
      if (isNotFound(thrown)) return undefined;
      const what = isForbidden(thrown)
        ? "the agent may not discover this kind"
        : "discovery of this kind failed";
      return `${what}: ${messageOf(thrown)}`;
    }
  }

  return {
    /**
     * Rejects only when `signal` aborts. Found kinds are cached for a minute, and beyond it while they cannot be found again: a definition
     * that was deleted and created again may have another scope or another name of the resource.
     */
    async find(apiVersion: string, kind: string, signal: AbortSignal): Promise<Discovered> {
      const builtIn = builtInKind(apiVersion, kind);
      if (builtIn !== undefined) return { kind: "found", resource: builtIn };
      const key = `${apiVersion} ${kind}`;
      const now = clock?.monotonic() ?? 0;
      const isFresh = now - (asked.get(apiVersion) ?? now) < freshMs;
      const isKnown = known.has(key) && isFresh;
      if (!isKnown) asked.set(apiVersion, now);
      const why = isKnown
        ? undefined
        : await requests.run(apiVersion, (shared) => discover(apiVersion, shared), signal);
      const resource = known.get(key);
      return resource === undefined
        ? { kind: "not found", why: why ?? "the cluster does not have this kind" }
        : { kind: "found", resource };
    },
  };
}
