/** The part of the fleet in one namespace. Pure. */
import type { FleetState } from "./fleet-state.ts";

interface Namespaced {
  readonly namespace: string;
}

/** "": the whole fleet. */
export function inNamespace(fleet: FleetState, namespace: string): FleetState {
  if (namespace === "") return fleet;
  const only = <T extends Namespaced>(all: ReadonlyMap<string, T>) =>
    new Map([...all].filter(([, each]) => each.namespace === namespace));
  const apps = only(fleet.apps);
  return {
    ...fleet,
    whole: { apps: fleet.apps, rows: fleet.rows },
    apps,
    clusters: only(fleet.clusters),
    sources: only(fleet.sources),
    rows: new Map([...fleet.rows].filter(([key]) => apps.has(key))),
    events: fleet.events.filter((event) => event.namespace === namespace),
  };
}

/** The namespaces of everything that is shown, sorted. */
export function namespacesOf({
  apps,
  clusters,
  sources,
}: Pick<FleetState, "apps" | "clusters" | "sources">): readonly string[] {
  const all = [apps, clusters, sources].flatMap((each: ReadonlyMap<string, Namespaced>) =>
    [...each.values()].map(({ namespace }) => namespace),
  );
  return [...new Set(all)].sort();
}
