/** What the overview says about the fleet. Pure. */
import type { App, FleetCluster, FleetSource } from "@flotilla/shared/dashboard";
import { type AnyState, byUrgency, lookOf, needsAttention } from "../state/index.ts";
import { clusterKey, type FleetState } from "./fleet-state.ts";

/** Something that needs attention. */
export interface Concern {
  readonly kind: "HelmOp" | "HelmRelease" | "Bundle" | "Cluster" | FleetSource["kind"];
  readonly namespace: string;
  readonly name: string;
  readonly state: AnyState;
  /** It needs attention nevertheless: nothing of it recovers until somebody resumes it. */
  readonly suspended: boolean;
  readonly reason: string;
  readonly message: string;
  /** RFC 3339; "" if it is not known. */
  readonly since: string;
  /** How many clusters it concerns, for those of which there may be several. */
  readonly clusters: number;
}

export interface StateCount {
  readonly state: AnyState;
  readonly count: number;
}

interface Stated {
  readonly state: AnyState;
}

/** From the state that needs attention most; states without any are left out. */
export function countStates(all: Iterable<Stated>): readonly StateCount[] {
  const counts = new Map<AnyState, number>();
  for (const { state } of all) counts.set(state, (counts.get(state) ?? 0) + 1);
  return [...counts]
    .map(([state, count]) => ({ state, count }))
    .sort((one, other) => byUrgency(one.state, other.state));
}

/** The worst state first, then what began first. A HelmChart is left out where its HelmRelease says the same. */
export function concernsOf(fleet: FleetState): readonly Concern[] {
  const { apps, clusters, sources } = fleet;
  const failing = [...clusters.values()].filter((cluster) => isConcern(fleet, cluster));
  const withoutAgent = new Set(failing.filter(hasNoAgent).map((cluster) => cluster.namespace));
  return [
    ...[...apps.values()]
      .filter(({ state }) => needsAttention(state))
      // Each app of an offline cluster is Offline: the cluster says it once.
      .filter(({ state, namespace }) => state !== "Offline" || !withoutAgent.has(namespace))
      .map(ofApp),
    ...failing.map(ofCluster),
    ...[...sources.values()]
      .filter(({ kind, state }) => kind !== "HelmChart" && needsAttention(state))
      .map(ofSource),
  ].sort(
    (one, other) =>
      byUrgency(one.state, other.state) ||
      (one.since < other.since ? -1 : one.since > other.since ? 1 : 0),
  );
}

/** A cluster whose releases are not ready is left out if the user sees all of them: the apps say the same, with the reason. */
function isConcern(fleet: FleetState, cluster: FleetCluster): boolean {
  if (!needsAttention(cluster.state)) return false;
  return hasNoAgent(cluster) || cluster.desired > visibleReleases(fleet, cluster);
}

function hasNoAgent({ state }: FleetCluster): boolean {
  return state === "Offline" || state === "WaitCheckIn";
}

function visibleReleases({ columnOf, rows }: FleetState, cluster: FleetCluster): number {
  const column = columnOf.get(clusterKey(cluster)) ?? -1;
  let releases = 0;
  // Without a copy of the rows: all of 5,000 clusters may be failing.
  for (const { states } of rows.values()) if ((states[column] ?? 0) !== 0) releases += 1;
  return releases;
}

function ofApp(app: App): Concern {
  return { ...app, ...explained(app), clusters: Math.max(0, app.desired - app.ready) };
}

function ofCluster(cluster: FleetCluster): Concern {
  return { ...cluster, ...explained(cluster), kind: "Cluster", suspended: false, clusters: 1 };
}

function ofSource(source: FleetSource): Concern {
  return { ...source, ...explained(source), clusters: 0 };
}

function explained({
  reason = "",
  message = "",
  since = "",
}: Pick<App, "reason" | "message" | "since">): Pick<Concern, "reason" | "message" | "since"> {
  return { reason, message, since };
}

/** The answer to "is everything all right?". */
export function headline({ apps, clusters }: FleetState, concerns: readonly Concern[]): string {
  const fleet = `${plural(apps.size, "app")} on ${plural(clusters.size, "cluster")}`;
  if (apps.size === 0 && clusters.size === 0)
    return "Nothing is here yet, or nothing that you may list";
  if (concerns.length > 0)
    return `${plural(concerns.length, "thing")} ${concerns.length === 1 ? "needs" : "need"} attention, of ${fleet}`;
  const unfinished = [...apps.values()].filter(({ state }) => lookOf(state).tone !== "good");
  const suspended = unfinished.filter((app) => app.suspended).length;
  const changing = unfinished.length - suspended;
  if (changing > 0) return `${plural(changing, "change")} in progress, on ${fleet}; nothing failed`;
  if (suspended > 0)
    return `Nothing failed: ${fleet}; ${plural(suspended, "change")} ${suspended === 1 ? "waits" : "wait"} until somebody resumes what is suspended`;
  return `All is well: ${fleet}, all ready`;
}

export function plural(count: number, word: string): string {
  return `${count.toLocaleString("en")} ${word}${count === 1 ? "" : "s"}`;
}
