/**
 * What this process received from sources whose pins do not say which bytes they mean, by release. The hub keeps what was
 * reported, so it may be forgotten with the process.
 */
import type { SourceDigest } from "@flotilla/proto";
import type { OwnerKey } from "../../state/index.ts";

export interface FetchedSources {
  set(owner: OwnerKey, source: SourceDigest | undefined): void;
  of(owner: OwnerKey): SourceDigest | undefined;
  forget(id: string): void;
}

export function createFetchedSources(): FetchedSources {
  const sources = new Map<string, { readonly uid: string; readonly source: SourceDigest }>();
  return {
    set({ id, uid }, source) {
      if (source === undefined) sources.delete(id);
      else sources.set(id, { uid, source });
    },
    of({ id, uid }) {
      const found = sources.get(id);
      return found?.uid === uid ? found.source : undefined;
    },
    forget: (id) => void sources.delete(id),
  };
}
