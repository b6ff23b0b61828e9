/** Which cluster runs which version, counted. Pure. */
import type { App } from "@flotilla/shared/dashboard";
import { compareTexts } from "../text/index.ts";
import { type FleetState, objectKey, type Row, versionAt } from "./fleet-state.ts";

export interface VersionCount {
  /** "": nothing is installed yet. */
  readonly version: string;
  readonly count: number;
}

/** Newest first. */
export function countVersions(row: Row | undefined): readonly VersionCount[] {
  const counts = new Map<string, number>();
  for (const [column, state] of (row?.states ?? []).entries()) {
    if (state === 0) continue;
    const version = versionAt(row, column);
    counts.set(version, (counts.get(version) ?? 0) + 1);
  }
  return [...counts]
    .map(([version, count]) => ({ version, count }))
    .sort((one, other) => compareTexts(other.version, one.version));
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

/** Those with several versions first, of them those on most clusters: that is where versions differ. */
export function mixedFirst(all: readonly AppVersions[]): readonly AppVersions[] {
  return all.toSorted(
    (one, other) =>
      other.counts.length - one.counts.length ||
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
