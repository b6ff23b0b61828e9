/** What needs attention: ranked by harm, the newest first within it, and one entry for one cause. Pure. */
import { appDefinition } from "@flotilla/shared/api/apps";
import type { App, AppRef, FleetCluster, FleetSource } from "@flotilla/shared/dashboard";
import { fluxReason } from "@flotilla/shared/flux/reasons";
import { needsAttention } from "../state/index.ts";
import { blockerOf } from "./blocked.ts";
import {
  byName,
  type Concern,
  type ObjectName,
  ofApp,
  ofCluster,
  ofSource,
  startMs,
} from "./concern.ts";
import { clusterKey, type FleetState, objectKey, type Row } from "./fleet-state.ts";
import { byHarm, harmOf } from "./harm.ts";
import { joinSame } from "./same-cause.ts";

/** `nowMs`: of the hub. */
export function concernsOf(fleet: FleetState, nowMs: number): readonly Concern[] {
  const found = new Map(
    [...clusterConcerns(fleet), ...sourceConcerns(fleet), ...appConcerns(fleet, nowMs)].map(
      (concern) => [objectKey(concern), concern] as const,
    ),
  );
  return joinSame(withConsequences(fleet, found)).toSorted(
    (one, other) => byHarm(one.harm, other.harm) || newestFirst(one, other),
  );
}

/** About one object; undefined if it needs none. `cause`: what it is a consequence of. */
export function concernAbout(
  fleet: FleetState,
  object: ObjectName,
  nowMs: number,
): { readonly own: Concern; readonly cause: ObjectName | undefined } | undefined {
  const own = ownConcern(fleet, object, nowMs);
  return own && { own, cause: causeOf(fleet, own) };
}

function ownConcern(fleet: FleetState, object: ObjectName, nowMs: number): Concern | undefined {
  if (object.kind === "Cluster") {
    const cluster = fleet.clusters.get(clusterKey(object));
    return cluster && clusterConcern(cluster);
  }
  const app = fleet.apps.get(objectKey(object));
  if (app !== undefined) return appConcern(fleet, app, nowMs);
  const source = fleet.sources.get(objectKey(object));
  return source && sourceConcern(source);
}

function appConcerns(fleet: FleetState, nowMs: number): readonly Concern[] {
  const { apps, clusters } = fleet;
  const withoutAgent = new Set(
    [...clusters.values()].filter(hasNoAgent).map((cluster) => cluster.namespace),
  );
  return (
    [...apps.values()]
      // Each app of an offline cluster is Offline: the cluster says it once.
      .filter(({ state, namespace }) => state !== "Offline" || !withoutAgent.has(namespace))
      .flatMap((app) => appConcern(fleet, app, nowMs) ?? [])
  );
}

function appConcern(fleet: FleetState, app: App, nowMs: number): Concern | undefined {
  const hasRun = isInstalled(fleet.rows.get(objectKey(app)));
  if (needsAttention(app.state))
    return ofApp({ ...app, ...ofFailedChart(fleet, app) }, harmOf(app.state, hasRun));
  const blocker = blockerOf(fleet, app, nowMs);
  return blocker && ofApp(app, harmOf("Blocked", hasRun), blocker);
}

/** The HelmChart that is made for an app knows why there is no chart. */
function ofFailedChart({ sources }: FleetState, app: App): Pick<App, "code"> {
  const { kind, reason, source } = app;
  const name = appDefinition(kind).chartName?.(app);
  if (name === undefined || reason !== fluxReason.sourceNotReady || source === undefined) return {};
  const chart = { kind: "HelmChart", namespace: source.namespace, name };
  const code = sources.get(objectKey(chart))?.code;
  return code === undefined ? {} : { code };
}

function isInstalled(row: Row | undefined): boolean {
  return row?.versionOf.some((version) => version !== 0) ?? false;
}

function clusterConcerns(fleet: FleetState): readonly Concern[] {
  return (
    [...fleet.clusters.values()]
      // Where the user sees all of its releases, the apps say the same, with the reason.
      .filter((cluster) => hasNoAgent(cluster) || cluster.desired > visibleReleases(fleet, cluster))
      .flatMap((cluster) => clusterConcern(cluster) ?? [])
  );
}

function clusterConcern(cluster: FleetCluster): Concern | undefined {
  if (!needsAttention(cluster.state)) return undefined;
  return ofCluster(cluster, harmOf(cluster.state, cluster.state !== "WaitCheckIn"));
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

/** A HelmChart is left out: the app that it is made for says the same. */
function sourceConcerns({ sources }: FleetState): readonly Concern[] {
  return [...sources.values()]
    .filter(({ kind }) => kind !== "HelmChart")
    .flatMap((source) => sourceConcern(source) ?? []);
}

function sourceConcern(source: FleetSource): Concern | undefined {
  if (!needsAttention(source.state)) return undefined;
  return ofSource(source, harmOf(source.state, source.revision !== undefined));
}

/** What is a consequence of another concern is named there, and is as bad for it. */
function withConsequences(
  fleet: FleetState,
  found: ReadonlyMap<string, Concern>,
): readonly Concern[] {
  const affected = new Map<string, Concern[]>();
  const causes: Concern[] = [];
  for (const concern of found.values()) {
    const cause = rootOf(fleet, found, concern);
    if (cause === undefined) causes.push(concern);
    else affected.set(cause, [...(affected.get(cause) ?? []), concern]);
  }
  return causes.map((concern) => {
    const own = affected.get(objectKey(concern)) ?? [];
    const [harm = concern.harm] = [concern, ...own].map((each) => each.harm).toSorted(byHarm);
    return { ...concern, harm, affected: own.map(nameOf) };
  });
}

/** The key of the first cause in the chain; undefined for what is one itself. Two that wait for each other have none. */
function rootOf(
  fleet: FleetState,
  found: ReadonlyMap<string, Concern>,
  concern: Concern,
): string | undefined {
  const seen = new Set([objectKey(concern)]);
  let root: string | undefined;
  for (let at: Concern | undefined = concern; at !== undefined; ) {
    const cause = causeOf(fleet, at);
    const key = cause && objectKey(cause);
    if (key === undefined || !found.has(key)) return root;
    if (seen.has(key)) return undefined;
    seen.add(key);
    root = key;
    at = found.get(key);
  }
  return root;
}

/** The object that has to recover first, where that is another one. */
function causeOf(fleet: FleetState, concern: Concern): ObjectName | undefined {
  const { blocker } = concern;
  if (blocker !== undefined)
    return objectKey(blocker.ref) === objectKey(concern) ? undefined : blocker.ref;
  // The chart of an app is not there: a consequence of its source.
  if (concern.reason !== fluxReason.sourceNotReady) return undefined;
  return failedSource(fleet, fleet.apps.get(objectKey(concern))?.source);
}

/** The failed source, or the one that it is made from, if that has failed. A HelmChart alone is not a cause that is shown. */
function failedSource(
  { sources }: FleetState,
  ref: AppRef | App["source"] | undefined,
): ObjectName | undefined {
  const source = ref && sources.get(objectKey(ref));
  if (source === undefined) return undefined;
  const origin = source.source && sources.get(objectKey(source.source));
  const failed = [origin, source].find(
    (each) => each !== undefined && each.kind !== "HelmChart" && needsAttention(each.state),
  );
  return failed && nameOf(failed);
}

function nameOf({ kind, namespace, name }: ObjectName): ObjectName {
  return { kind, namespace, name };
}

/** What began at an unknown time comes last. */
function newestFirst(one: Concern, other: Concern): number {
  return startMs(other) - startMs(one) || byName(one, other);
}
