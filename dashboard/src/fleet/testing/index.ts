/** A fleet for tests. */
import type { App, FleetCluster, FleetSource } from "@flotilla/shared/dashboard";
import { stateCharacters } from "@flotilla/shared/dashboard/states";
import { clusterKey, type FleetState, objectKey, type Row } from "../fleet-state.ts";

export const nowMs = Date.parse("2026-01-01T12:00:00Z");

export function app(name: string, state: App["state"], more: Partial<App> = {}): App {
  return {
    ...{ kind: "HelmOp", namespace: "ns", name, state, suspended: false, chart: "web" },
    ...{ labels: {}, ready: 0, desired: 2, offline: 0, isChanging: false, ...more },
  };
}

export function cluster(name: string, state: FleetCluster["state"], since?: string): FleetCluster {
  return {
    ...{ namespace: "ns", name, state, connected: true, labels: {}, ready: 1, desired: 1 },
    ...(since !== undefined && { since }),
  };
}

export function source(
  kind: FleetSource["kind"],
  name: string,
  more: Partial<FleetSource> = {},
): FleetSource {
  return {
    ...{ kind, namespace: "ns", name, state: "Failed", suspended: false, labels: {} },
    ...{ url: "https://charts.example.com", ...more },
  };
}

export interface FleetOptions {
  readonly sources?: readonly FleetSource[];
  /** Apps of which something is installed in all clusters. */
  readonly installed?: readonly string[];
}

/** Each app has a release in each cluster. */
export function fleet(
  apps: readonly App[],
  clusters: readonly FleetCluster[],
  { sources = [], installed = [] }: FleetOptions = {},
): FleetState {
  const row = (each: App) => rowIn(clusters.length, installed.includes(each.name), each);
  return {
    ...{ position: "", clockOffsetMs: 0, events: [] },
    columns: clusters.map(clusterKey),
    columnOf: new Map(clusters.map((each, column) => [clusterKey(each), column])),
    rows: new Map(apps.map((each) => [objectKey(each), row(each)])),
    apps: new Map(apps.map((each) => [objectKey(each), each])),
    clusters: new Map(clusters.map((each) => [clusterKey(each), each])),
    sources: new Map(sources.map((each) => [objectKey(each), each])),
    releaseChanges: new Map(),
    scheduleChanges: new Map(),
  };
}

function rowIn(clusters: number, isInstalled: boolean, { state }: App): Row {
  const shown = state === "WaitApplied" ? "WaitApplied" : "Ready";
  const states = new Uint8Array(clusters).fill(stateCharacters[shown].charCodeAt(0));
  const versionOf = new Uint16Array(clusters).fill(isInstalled ? 1 : 0);
  return { states, versionOf, versions: isInstalled ? ["1.0.0"] : [] };
}
