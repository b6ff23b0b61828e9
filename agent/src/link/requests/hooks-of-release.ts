/** The hooks of a release that a request is about: its newest revision's, and the run's that is in progress or has failed. */

import { type HookObject, type ReadRecords, readHooks } from "../../helm/index.ts";
import type { InventoryHook } from "../../state/index.ts";
import { type FoundRelease, type RequestedRelease, readableObjects } from "./requested-release.ts";

/** A hook with its object. */
export interface ReleaseHook {
  readonly apiVersion: string;
  readonly kind: string;
  /** Absent: the release's. */
  readonly namespace?: string | undefined;
  readonly name: string;
  readonly events: readonly string[];
  readonly weight: number;
  readonly deletePolicies: readonly string[];
  /** The phase of its last run; absent: it has not run. */
  readonly phase?: HookObject["phase"] | undefined;
}

/** `found`: its newest revision; undefined: there is none. Those that run first come first. */
export async function hooksOfRelease(
  { records }: { readonly records: Pick<ReadRecords, "manifest"> },
  { attempt, namespace }: RequestedRelease,
  found: FoundRelease | undefined,
): Promise<readonly ReleaseHook[]> {
  const ofStored =
    found === undefined ? [] : readableObjects(found, await readHooks(records, found.release));
  // Where both are about the same revision, the record has the newer results.
  const isStored = attempt?.revision === found?.release.revision;
  const ofAttempt = isStored ? [] : (attempt?.hooks ?? []);
  return mergeHooks(ofAttempt, ofStored, namespace);
}

/** One for each object; the attempt's have the newer results. Pure. */
export function mergeHooks(
  ofAttempt: readonly InventoryHook[],
  ofStored: readonly HookObject[],
  own: string,
): readonly ReleaseHook[] {
  const found = new Map<string, ReleaseHook>();
  for (const hook of [...ofAttempt, ...ofStored]) {
    const { apiVersion, kind, namespace = own, name } = hook;
    const key = `${apiVersion}/${kind}/${namespace}/${name}`;
    if (!found.has(key)) found.set(key, hook);
  }
  return [...found.values()].toSorted((one, other) => one.weight - other.weight);
}

export function isTest({ events }: Pick<ReleaseHook, "events">): boolean {
  return events.includes("test");
}
