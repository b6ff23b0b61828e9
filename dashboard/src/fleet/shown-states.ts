/**
 * The states as every part of the page shows them: what waits for something that does not end by itself is Blocked, and not in
 * progress, wherever it is listed or drawn. Pure.
 */
import type { App, AppRef, AppState, ClusterState, ReleaseState } from "@flotilla/shared/dashboard";
import { lookOf } from "../state/index.ts";
import { blockerOf } from "./blocked.ts";
import {
  clusterKey,
  type FleetState,
  objectKey,
  releaseStateAt,
  stateOfColumn,
} from "./fleet-state.ts";

export interface ShownStates {
  ofApp(app: App): AppState | "Blocked";
  /** The state of a release of the app. */
  ofRelease<S extends ReleaseState>(app: AppRef, state: S): S | "Blocked";
  /** The state of the cluster of a column; undefined where there is none. */
  ofColumn(column: number): ClusterState | "Blocked" | undefined;
  ofCluster(cluster: Named & { readonly state: ClusterState }): ClusterState | "Blocked";
}

interface Named {
  readonly namespace: string;
  readonly name: string;
}

/** `nowMs`: of the hub. */
export function shownStates(fleet: FleetState, nowMs: number): ShownStates {
  const blocked = new Set(
    [...fleet.apps.values()]
      .filter((app) => blockerOf(fleet, app, nowMs) !== undefined)
      .map(objectKey),
  );

  function ofColumn(column: number): ClusterState | "Blocked" | undefined {
    const state = stateOfColumn(fleet, column);
    if (state === undefined || blocked.size === 0 || !isBusy(state)) return state;
    return isAllBlocked(fleet, blocked, column) ? "Blocked" : state;
  }

  return {
    ofApp: (app) => (blocked.has(objectKey(app)) ? "Blocked" : app.state),
    ofRelease: (app, state) => (isBusy(state) && blocked.has(objectKey(app)) ? "Blocked" : state),
    ofColumn,
    ofCluster(cluster) {
      const column = fleet.columnOf.get(clusterKey(cluster));
      return (column === undefined ? undefined : ofColumn(column)) ?? cluster.state;
    },
  };
}

/**
 * Whether nothing that is in progress in a cluster ends by itself. Releases that the user may not see count as in progress: the
 * cluster says only how many are not ready.
 */
function isAllBlocked(fleet: FleetState, blocked: ReadonlySet<string>, column: number): boolean {
  let [waiting, unready] = [0, 0];
  for (const [key, row] of fleet.rows) {
    const state = releaseStateAt(row, column);
    if (state === undefined || state === "Ready") continue;
    unready += 1;
    if (!isBusy(state)) continue;
    if (!blocked.has(key)) return false;
    waiting += 1;
  }
  const { ready = 0, desired = 0 } = fleet.clusters.get(fleet.columns[column] ?? "") ?? {};
  return waiting > 0 && unready >= desired - ready;
}

function isBusy(state: AppState | ClusterState): boolean {
  return lookOf(state).tone === "busy";
}
