/**
 * What this process received from sources whose pins do not say which bytes they mean, by deployment. The hub keeps what was
 * reported, so it may be forgotten with the process.
 */
import type { DeploymentKey, SourceDigest } from "@flotilla/proto";

export interface FetchedSources {
  set(deployment: DeploymentKey, source: SourceDigest | undefined): void;
  of(deployment: DeploymentKey): SourceDigest | undefined;
  forget(name: string): void;
}

export function createFetchedSources(): FetchedSources {
  const sources = new Map<string, { readonly uid: string; readonly source: SourceDigest }>();
  return {
    set({ name, uid }, source) {
      if (source === undefined) sources.delete(name);
      else sources.set(name, { uid, source });
    },
    of({ name, uid }) {
      const found = sources.get(name);
      return found?.uid === uid ? found.source : undefined;
    },
    forget: (name) => void sources.delete(name),
  };
}
