/**
 * An entry of a list without the key by which a patch by the client merges that list, such as a Secret of `imagePullSecrets` whose name a
 * chart leaves null: the API server takes it when it creates the object, and no later patch can be made. Helm says only that the
 * key is missing; which list it is the objects of the release say.
 */

import { messageOf } from "@flotilla/shared/errors";
import type { KubeObject } from "@flotilla/shared/kube/objects";
import type { Log } from "@flotilla/shared/log";
import {
  lacksMergeKey,
  type ReadRecords,
  type ReleaseKey,
  refusedText,
  type StoredRelease,
  type StoredReleases,
} from "../../helm/index.ts";
import { isFields, isMerged, mergeKeys } from "./doubled-lists.ts";

export interface KeylessEntry {
  /** `spec.template.spec.imagePullSecrets` */
  readonly list: string;
  readonly index: number;
  readonly key: string;
}

/** The first one of an object. Pure. */
export function keylessEntry(object: KubeObject): KeylessEntry | undefined {
  return isMerged(object) ? entryIn(object, "", "") : undefined;
}

function entryIn(value: unknown, name: string, path: string): KeylessEntry | undefined {
  if (Array.isArray(value)) {
    const [key] = mergeKeys[name] ?? [];
    for (const [index, entry] of value.entries()) {
      if (key !== undefined && isFields(entry) && !hasKey(name, entry))
        return { list: path, index, key };
      const found = entryIn(entry, "", `${path}[${index}]`);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  if (!isFields(value)) return undefined;
  for (const [field, each] of Object.entries(value)) {
    const found = entryIn(each, field, path === "" ? field : `${path}.${field}`);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The API server leaves an empty one out. */
function hasKey(name: string, entry: Readonly<Record<string, unknown>>): boolean {
  return (mergeKeys[name] ?? []).some(
    (key) => ![undefined, null, ""].includes(entry[key] as never),
  );
}

/** In place of what Helm has printed: the object and the field. Undefined: it is another failure, or no record has such an entry. */
export async function keylessMessage(
  {
    stored,
    records,
    log,
  }: {
    readonly stored: Pick<StoredReleases, "readAll">;
    readonly records: Pick<ReadRecords, "wholeObjects">;
    readonly log: Log;
  },
  release: ReleaseKey,
  stderr: string,
): Promise<string | undefined> {
  if (!lacksMergeKey(stderr)) return undefined;
  try {
    for (const each of comparedRecords(await stored.readAll(release)))
      for (const object of await records.wholeObjects(each)) {
        const entry = keylessEntry(object);
        if (entry !== undefined) return keylessText(each, object, entry);
      }
  } catch (thrown) {
    // What Helm has printed is reported then.
    const { namespace, name } = release;
    log.warn({ release: name, namespace, err: messageOf(thrown) }, "cannot read its records");
  }
  return undefined;
}

/** What Helm makes the patch of: the newest one, which has failed, and the last one that was deployed. */
function comparedRecords(records: readonly StoredRelease[]): readonly StoredRelease[] {
  const [newest, ...earlier] = records;
  const deployed = earlier.find(({ status }) => status === "deployed");
  return [newest, deployed].flatMap((each) => each ?? []);
}

function keylessText(
  { namespace: place, revision }: StoredRelease,
  { kind = "", metadata: { namespace, name } }: KubeObject,
  { list, index, key }: KeylessEntry,
): string {
  const object = refusedText({ kind, namespace: namespace ?? place, name });
  return `a patch by the client cannot change ${object}, because ${list}[${index}] has no ${key} in revision ${revision}, by which the list is merged; leave ${list} out of the chart for one upgrade, and give each entry its ${key} then`;
}
