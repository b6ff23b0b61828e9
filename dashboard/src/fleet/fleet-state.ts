/** The fleet as the page keeps it: by key, so that a change copies only the maps and the row that it concerns. Pure. */
import type {
  App,
  AppRef,
  Change,
  ClusterState,
  Fleet,
  FleetCluster,
  FleetEvent,
  FleetRow,
  FleetSource,
  ReleaseState,
} from "@flotilla/shared/dashboard";
import {
  firstVersionCode,
  noRelease,
  releaseStates,
  stateCharacters,
} from "@flotilla/shared/dashboard/states";

/** The releases of one app, by the index of the cluster's column. */
export interface Row {
  /** Character codes; 0: no release. */
  readonly states: Uint8Array;
  /** An index in `versions`, plus one; 0: none. */
  readonly versionOf: Uint16Array;
  readonly versions: readonly string[];
}

export interface FleetState {
  readonly position: string;
  /** The hub's clock minus the browser's, in milliseconds. */
  readonly clockOffsetMs: number;
  readonly apps: ReadonlyMap<string, App>;
  readonly clusters: ReadonlyMap<string, FleetCluster>;
  readonly sources: ReadonlyMap<string, FleetSource>;
  /** `NAMESPACE/NAME` of clusters. */
  readonly columns: readonly string[];
  readonly columnOf: ReadonlyMap<string, number>;
  readonly rows: ReadonlyMap<string, Row>;
  /** By cluster, how many changes of its releases have arrived: also of what the rows do not have. */
  readonly releaseChanges: ReadonlyMap<string, number>;
  /** By namespace, how many changes of its Schedules have arrived. */
  readonly scheduleChanges: ReadonlyMap<string, number>;
  /** Newest first. */
  readonly events: readonly FleetEvent[];
  /** What a part of the fleet may depend on. */
  readonly whole?: Pick<FleetState, "apps" | "rows">;
}

const maxEvents = 200;

interface Named {
  readonly namespace: string;
  readonly name: string;
}

export function clusterKey({ namespace, name }: Named): string {
  return `${namespace}/${name}`;
}

/** Identifies an app or a source. */
export function objectKey({ kind, namespace, name }: Named & { readonly kind: string }): string {
  return `${kind}/${namespace}/${name}`;
}

export function fleetState(fleet: Fleet, clockOffsetMs = 0): FleetState {
  return {
    position: fleet.position,
    clockOffsetMs,
    apps: new Map(fleet.apps.map((app) => [objectKey(app), app])),
    clusters: new Map(fleet.clusters.map((cluster) => [clusterKey(cluster), cluster])),
    sources: new Map(fleet.sources.map((source) => [objectKey(source), source])),
    columns: fleet.columns,
    columnOf: new Map(fleet.columns.map((column, index) => [column, index])),
    rows: new Map(fleet.rows.map((row) => [objectKey(row), rowOf(row)])),
    releaseChanges: new Map(),
    scheduleChanges: new Map(),
    events: fleet.events,
  };
}

/** The state of a release; undefined where the app has none. */
export function releaseStateAt(row: Row | undefined, column: number): ReleaseState | undefined {
  return stateOfCode.get(row?.states[column] ?? 0);
}

/** "" for none. */
export function versionAt(row: Row | undefined, column: number): string {
  return row?.versions[(row.versionOf[column] ?? 0) - 1] ?? "";
}

/** The state of the cluster of a column, or, to those who may not see it, the worst of its releases; undefined if it has none. */
export function stateOfColumn(
  { clusters, columns, rows }: Pick<FleetState, "clusters" | "columns" | "rows">,
  column: number,
): ClusterState | undefined {
  const cluster = clusters.get(columns[column] ?? "");
  if (cluster !== undefined) return cluster.state;
  const states = new Set([...rows.values()].map((row) => releaseStateAt(row, column)));
  return releaseStates.find((state) => states.has(state));
}

/** The same fleet with these changes; parts without a change are the same objects. */
export function withChanges(
  fleet: FleetState,
  changes: readonly Change[],
  position: string,
): FleetState {
  const next = draftOf(fleet);
  for (const change of changes) apply(next, change);
  return { ...next.result(), position };
}

const stateOfCode: ReadonlyMap<number, ReleaseState> = new Map(
  Object.entries(stateCharacters).map(([state, character]) => [
    character.charCodeAt(0),
    state as ReleaseState,
  ]),
);

function rowOf({ states, versions, versionOf }: FleetRow): Row {
  const none = noRelease.charCodeAt(0);
  return {
    versions,
    states: Uint8Array.from(states, (character) => {
      const code = character.charCodeAt(0);
      return code === none ? 0 : code;
    }),
    versionOf: Uint16Array.from(versionOf, (character) =>
      character === noRelease ? 0 : character.charCodeAt(0) - firstVersionCode + 1,
    ),
  };
}

interface MutableRow extends Row {
  states: Uint8Array;
  versionOf: Uint16Array;
  versions: string[];
}

/** Copies of what changes, each made once. */
function draftOf(fleet: FleetState) {
  const copies = new Map<string, MutableRow>();
  let rows: Map<string, Row> | undefined;
  const allRows = () => (rows ??= new Map(fleet.rows));
  const changed: { -readonly [K in "columns" | "columnOf" | "events"]?: FleetState[K] } = {};
  let apps: Map<string, App> | undefined;
  let clusters: Map<string, FleetCluster> | undefined;
  let sources: Map<string, FleetSource> | undefined;
  let releaseChanges: Map<string, number> | undefined;
  let scheduleChanges: Map<string, number> | undefined;
  return {
    apps: () => (apps ??= new Map(fleet.apps)),
    clusters: () => (clusters ??= new Map(fleet.clusters)),
    sources: () => (sources ??= new Map(fleet.sources)),
    countReleaseChange(cluster: string): void {
      releaseChanges ??= new Map(fleet.releaseChanges);
      releaseChanges.set(cluster, (releaseChanges.get(cluster) ?? 0) + 1);
    },
    countScheduleChange(namespace: string): void {
      scheduleChanges ??= new Map(fleet.scheduleChanges);
      scheduleChanges.set(namespace, (scheduleChanges.get(namespace) ?? 0) + 1);
    },
    columnOf(cluster: string): number {
      const columnOf = changed.columnOf ?? fleet.columnOf;
      const known = columnOf.get(cluster);
      if (known !== undefined) return known;
      const columns = changed.columns ?? fleet.columns;
      changed.columns = [...columns, cluster];
      changed.columnOf = new Map(columnOf).set(cluster, columns.length);
      return columns.length;
    },
    hasRow: (key: string) => allRows().has(key),
    removeRow(key: string): void {
      copies.delete(key);
      allRows().delete(key);
    },
    row(key: string, column: number): MutableRow {
      const known = copies.get(key);
      const row = known ?? allRows().get(key) ?? noRow;
      if (known !== undefined && column < known.states.length) return known;
      const size = Math.max(column + 1, row.states.length);
      const copy = {
        states: resized(row.states, new Uint8Array(size)),
        versionOf: resized(row.versionOf, new Uint16Array(size)),
        versions: [...row.versions],
      };
      copies.set(key, copy);
      allRows().set(key, copy);
      return copy;
    },
    addEvent(event: FleetEvent): void {
      const others = (changed.events ?? fleet.events).filter(({ id }) => id !== event.id);
      changed.events = [event, ...others].slice(0, maxEvents);
    },
    result(): FleetState {
      return {
        ...fleet,
        ...changed,
        ...(apps !== undefined && { apps }),
        ...(clusters !== undefined && { clusters }),
        ...(sources !== undefined && { sources }),
        ...(releaseChanges !== undefined && { releaseChanges }),
        ...(scheduleChanges !== undefined && { scheduleChanges }),
        ...(rows !== undefined && { rows }),
      };
    },
  };
}

const noRow: Row = { states: new Uint8Array(0), versionOf: new Uint16Array(0), versions: [] };

function resized<T extends Uint8Array | Uint16Array>(from: T, to: T): T {
  to.set(from);
  return to;
}

function apply(draft: ReturnType<typeof draftOf>, change: Change): void {
  switch (change.type) {
    case "app":
      draft.apps().set(objectKey(change.app), change.app);
      break;
    case "cluster":
      draft.clusters().set(clusterKey(change.cluster), change.cluster);
      draft.columnOf(clusterKey(change.cluster));
      break;
    case "source":
      draft.sources().set(objectKey(change.source), change.source);
      break;
    case "release":
      applyRelease(draft, change.app, change);
      break;
    case "schedules":
      draft.countScheduleChange(change.namespace);
      break;
    case "event":
      draft.addEvent(change.event);
      break;
    case "removed": {
      const { removed } = change;
      if (removed.of === "cluster") draft.clusters().delete(clusterKey(removed));
      else if (removed.of === "app") {
        draft.apps().delete(objectKey(removed));
        draft.removeRow(objectKey(removed));
      } else draft.sources().delete(objectKey(removed));
    }
  }
}

function applyRelease(
  draft: ReturnType<typeof draftOf>,
  app: AppRef,
  { cluster, state, version }: Extract<Change, { readonly type: "release" }>,
): void {
  const column = draft.columnOf(cluster);
  draft.countReleaseChange(cluster);
  const key = objectKey(app);
  if (state === null && !draft.hasRow(key)) return;
  const row = draft.row(key, column);
  row.states[column] = state === null ? 0 : stateCharacters[state].charCodeAt(0);
  const known = row.versions.indexOf(version);
  row.versionOf[column] =
    version === "" || state === null ? 0 : known >= 0 ? known + 1 : row.versions.push(version);
}
