/** What the overview says about the fleet. Pure. */
import type { App, FleetCluster, FleetSource } from "@flotilla/shared/dashboard";
import { type AnyState, byUrgency, needsAttention } from "../state/index.ts";
import type { FleetState } from "./fleet-state.ts";

/** Something that needs attention. */
export interface Concern {
  readonly kind: "HelmOp" | "HelmRelease" | "Bundle" | "Cluster" | FleetSource["kind"];
  readonly namespace: string;
  readonly name: string;
  readonly state: AnyState;
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

/**
 * The worst state first, then what began first. A cluster whose releases are not ready is left out: its apps are in the list, with
 * the reason. A HelmChart is left out where its HelmRelease says the same.
 */
export function concernsOf({ apps, clusters, sources }: FleetState): readonly Concern[] {
  return [
    ...[...apps.values()].filter((app) => !app.suspended && needsAttention(app.state)).map(ofApp),
    ...[...clusters.values()].filter(({ state }) => state === "Offline").map(ofCluster),
    ...[...sources.values()]
      .filter(({ kind, state }) => kind !== "HelmChart" && needsAttention(state))
      .map(ofSource),
  ].sort(
    (one, other) =>
      byUrgency(one.state, other.state) ||
      (one.since < other.since ? -1 : one.since > other.since ? 1 : 0),
  );
}

function ofApp(app: App): Concern {
  return { ...app, ...explained(app), clusters: Math.max(0, app.desired - app.ready) };
}

function ofCluster(cluster: FleetCluster): Concern {
  return { ...cluster, ...explained(cluster), kind: "Cluster", clusters: 1 };
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
  if (apps.size === 0 && clusters.size === 0) return "Nothing is here yet";
  if (concerns.length > 0)
    return `${plural(concerns.length, "thing")} ${concerns.length === 1 ? "needs" : "need"} attention, of ${fleet}`;
  const changing = [...apps.values()].filter(({ state }) => state !== "Ready").length;
  if (changing > 0) return `${plural(changing, "change")} in progress, on ${fleet}; nothing failed`;
  return `All is well: ${fleet}, all ready`;
}

export function plural(count: number, word: string): string {
  return `${count.toLocaleString("en")} ${word}${count === 1 ? "" : "s"}`;
}
