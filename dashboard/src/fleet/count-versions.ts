/** Which cluster runs which version, counted. Pure. */
import type { App } from "@flotilla/shared/dashboard";
import { lookOf } from "../state/index.ts";
import { compareTexts } from "../text/index.ts";
import { type FleetState, objectKey, type Row, releaseStateAt, versionAt } from "./fleet-state.ts";

export interface VersionCount {
  /** "": nothing is installed yet. */
  readonly version: string;
  readonly count: number;
  /** On how many of them it is not up: it has failed, or is still in progress. */
  readonly notReady: number;
  /** How many of them are offline: without a version, nobody knows what they run. */
  readonly offline: number;
}

/** Newest first; last, where nothing is installed. */
export function countVersions(row: Row | undefined): readonly VersionCount[] {
  const counts = new Map<string, VersionCount>();
  for (const [column, state] of (row?.states ?? []).entries()) {
    if (state === 0) continue;
    const version = versionAt(row, column);
    const { count = 0, notReady = 0, offline = 0 } = counts.get(version) ?? {};
    const shown = releaseStateAt(row, column);
    counts.set(version, {
      version,
      count: count + 1,
      notReady: notReady + (isUp(shown) ? 0 : 1),
      offline: offline + (shown === "Offline" ? 1 : 0),
    });
  }
  return [...counts.values()].sort(
    ({ version: one }, { version: other }) =>
      Number(one === "") - Number(other === "") || compareTexts(other, one),
  );
}

/** What is offline or changed by hand is up as far as anybody knows. */
function isUp(state: ReturnType<typeof releaseStateAt>): boolean {
  const tone = state === undefined ? "off" : lookOf(state).tone;
  return tone !== "bad" && tone !== "busy";
}

export interface AppVersions {
  readonly app: App;
  readonly counts: readonly VersionCount[];
}

/** Without the apps that are installed nowhere. */
export function versionsOf({ apps, rows }: FleetState): readonly AppVersions[] {
  return [...apps.values()]
    .map((app) => ({ app, counts: countVersions(rows.get(objectKey(app))) }))
    .filter(({ counts }) => counts.length > 0);
}

/** Those with several versions first, then those that are not up everywhere, of them those on most clusters. */
export function mixedFirst(all: readonly AppVersions[]): readonly AppVersions[] {
  return all.toSorted(
    (one, other) =>
      other.counts.length - one.counts.length ||
      notReadyOf(other) - notReadyOf(one) ||
      clustersOf(other) - clustersOf(one) ||
      one.app.name.localeCompare(other.app.name),
  );
}

/** The version that most clusters have which do not have `target` yet; undefined: there is none. */
export function previousVersion(row: Row | undefined, target: string): string | undefined {
  const [most] = countVersions(row)
    .filter(({ version }) => version !== target && version !== "")
    .toSorted((one, other) => other.count - one.count);
  return most?.version;
}

function clustersOf({ counts }: AppVersions): number {
  return counts.reduce((sum, { count }) => sum + count, 0);
}

function notReadyOf({ counts }: AppVersions): number {
  return counts.reduce((sum, { notReady }) => sum + notReady, 0);
}
