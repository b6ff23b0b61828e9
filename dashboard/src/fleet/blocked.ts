/** Whether an app that is in progress waits for something that does not end by itself. Pure. */
import { appDefinition } from "@flotilla/shared/api/apps";
import type { App, AppRef } from "@flotilla/shared/dashboard";
import { lookOf, needsAttention } from "../state/index.ts";
import { type FleetState, objectKey, type Row, releaseStateAt } from "./fleet-state.ts";

export interface Blocker {
  /** What has to change; the app itself where that is what is suspended. */
  readonly ref: AppRef;
  readonly why: "absent" | "elsewhere" | "rejected" | "suspended" | "blocked" | "unmatched";
  /** Where it is `unmatched`: the selectors of its `dependsOn` that no Bundle matches. */
  readonly selectors?: readonly string[];
  /** How many clusters wait for it. */
  readonly clusters: number;
}

/** What waits for less is in progress: most dependencies are ready within that. */
export const patienceMs = 60_000;

type Fleet = Pick<FleetState, "apps" | "rows" | "whole">;

/** Undefined while it is not waiting, or for something that is in progress, or for what the user may not see. */
export function blockerOf(fleet: Fleet, app: App, nowMs: number): Blocker | undefined {
  if (!isWaiting(app) || !(nowMs - Date.parse(app.since ?? "") >= patienceMs)) return undefined;
  const waiting = Math.max(0, app.desired - app.ready);
  if (app.suspended) {
    const added = clustersWithout(fleet.rows.get(objectKey(app)));
    return added === 0 ? undefined : { ref: refOf(app), why: "suspended", clusters: added };
  }
  const found = dependencyOf(fleet.whole ?? fleet, app, new Set([objectKey(app)]));
  return found && { ...found, clusters: waiting };
}

function isWaiting({ state }: App): boolean {
  return lookOf(state).tone === "busy";
}

type Found = Omit<Blocker, "clusters">;

/** The first dependency that is not ready and will not be. `seen`: those that wait for this one. */
function dependencyOf(fleet: Fleet, app: App, seen: ReadonlySet<string>): Found | undefined {
  for (const ref of app.waitsFor ?? []) {
    const found = whyNot(fleet, app, ref, seen);
    if (found !== undefined) return found;
  }
  const { unmatched: selectors = [] } = app;
  return selectors.length === 0 ? undefined : { ref: refOf(app), why: "unmatched", selectors };
}

type Dependency = NonNullable<App["waitsFor"]>[number];

function whyNot(
  fleet: Fleet,
  app: App,
  { hidden = false, ...ref }: Dependency,
  seen: ReadonlySet<string>,
): Found | undefined {
  const dependency = fleet.apps.get(objectKey(ref)) ?? bundleOf(fleet, ref);
  if (dependency === undefined)
    // It may exist where the user may not list it.
    return hidden ? undefined : { ref, why: "absent" };
  const { desired, ready, suspended, state } = dependency;
  const own = refOf(dependency);
  if (desired > 0 && ready === desired)
    return isElsewhere(fleet, app, dependency) ? { ref: own, why: "elsewhere" } : undefined;
  if (suspended) return { ref: own, why: "suspended" };
  if (needsAttention(state)) return { ref: own, why: "rejected" };
  const key = objectKey(dependency);
  if (seen.has(key)) return { ref: own, why: "blocked" };
  // Whatever that waits for is what has to change.
  return dependencyOf(fleet, dependency, new Set([...seen, key]));
}

/** Whether a cluster waits for a dependency that is not deployed to it. */
function isElsewhere({ rows }: Fleet, app: App, dependency: App): boolean {
  const row = rows.get(objectKey(app));
  const other = rows.get(objectKey(dependency));
  for (const column of row?.states.keys() ?? []) {
    const state = releaseStateAt(row, column);
    const isBusy = state !== undefined && lookOf(state).tone === "busy";
    if (isBusy && releaseStateAt(other, column) === undefined) return true;
  }
  return false;
}

/** `dependsOn` names a Bundle. The hub takes one that it does not know for a HelmOp's, and it may be one without an app. */
function bundleOf({ apps }: Fleet, ref: AppRef): App | undefined {
  const isSameName = appDefinition(ref.kind).bundleName === "same";
  return isSameName ? apps.get(objectKey({ ...ref, kind: "Bundle" })) : undefined;
}

/** The clusters that are to get a first version. */
function clustersWithout(row: Row | undefined): number {
  let count = 0;
  for (const [column, version] of row?.versionOf.entries() ?? []) {
    const state = releaseStateAt(row, column);
    if (version === 0 && state !== undefined && lookOf(state).tone === "busy") count += 1;
  }
  return count;
}

function refOf({ kind, namespace, name }: App): AppRef {
  return { kind, namespace, name };
}
