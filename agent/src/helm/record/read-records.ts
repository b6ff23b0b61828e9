import type { CustomResourceDefinition, KubeObject } from "@flotilla/shared/kube/objects";
import type { Values } from "@flotilla/shared/values";
import { type HookObject, hookObjects } from "./hooks.ts";
import type { KindChange } from "./kind-changes.ts";
import type { ManifestUse, ManifestUses } from "./record-task.ts";
import { type ReleaseChange, releaseOfHooks, type StoredRelease } from "./stored-release.ts";

/**
 * Reads releases and their manifests, which tenants can write, without holding up the agent. All of it throws LIMIT_EXCEEDED.
 * `what` is read, for messages. `stored`: the value of the Secret of a release.
 */
export interface ReadRecords {
  /** As Helm prints it. Throws RELEASE_UNREADABLE. */
  printed(json: string, what: string): Promise<StoredRelease>;
  /** Throws RELEASE_UNREADABLE. */
  stored(stored: string, what: string): Promise<StoredRelease>;
  /** The `values.yaml` of the chart. Throws RELEASE_UNREADABLE. */
  chartValues(stored: string, what: string): Promise<Values>;
  /** The value of the Secret of a changed release. Throws RELEASE_UNREADABLE. */
  changed(stored: string, what: string, change: ReleaseChange): Promise<string>;
  /** The CustomResourceDefinitions in the folders `crds` of a chart, from what Helm has rendered. */
  chartCrds(rendered: string, what: string): Promise<readonly CustomResourceDefinition[]>;
  /** The whole objects of a manifest. They may be large, so they are not kept. */
  wholeObjects(release: StoredRelease): Promise<readonly KubeObject[]>;
  /** The manifest of a release, with kinds changed: see `withKindChanges`. */
  withKindChanges(release: StoredRelease, changes: readonly KindChange[]): Promise<string>;
  /** What the manifest of a release has; read once. Throws CRDS_NOT_KEPT. */
  manifest<U extends ManifestUse>(release: StoredRelease, use: U): Promise<ManifestUses[U]>;
}

/** The hooks of a release with their objects, in the order in which Helm has stored them. Throws LIMIT_EXCEEDED. */
export async function readHooks(
  records: Pick<ReadRecords, "manifest">,
  release: StoredRelease,
): Promise<readonly HookObject[]> {
  const { hooks } = release;
  if (hooks.length === 0) return [];
  return hookObjects(hooks, await records.manifest(releaseOfHooks(release), "objects"));
}
