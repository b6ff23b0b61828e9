/** The content that a cluster gets by what a BundleRollout pins, whatever its Bundle says by now. */
import type { Cluster } from "@flotilla/shared/api";
import type { BundleRollout, PinnedTarget } from "@flotilla/shared/api/rollout";
import type { TimeSlices } from "@flotilla/shared/concurrency";
import { keyOf, type ObjectKey } from "@flotilla/shared/kube/objects";
import { type TargetGroup, targetsOfEach, toTargetCluster } from "../../rules/index.ts";

/** A content, and the objects that it refers to. */
export interface PinnedContent {
  readonly deploymentId: string;
  readonly referencedObjects: readonly string[];
}

/** By key of the cluster; one that no pinned target matches has no entry. With pauses: these may be thousands. */
export async function pinnedContents(
  { spec }: Pick<BundleRollout, "spec">,
  clusters: readonly Cluster[],
  groups: readonly TargetGroup[],
  slices: TimeSlices,
): Promise<ReadonlyMap<ObjectKey, PinnedContent>> {
  const contents = new Map<PinnedTarget, PinnedContent>();
  const found = new Map<ObjectKey, PinnedContent>();
  const { targets, targetRestrictions, targetCustomizationMode } = spec;
  const targeting = { targets, targetRestrictions, targetCustomizationMode };
  const chosen = await targetsOfEach(clusters.map(toTargetCluster), targeting, groups, slices);
  for (const [index, cluster] of clusters.entries()) {
    // With FirstMatch, the only mode that can be staged, the options of one target apply.
    const [target] = chosen[index] ?? [];
    const content = target && (contents.get(target) ?? contentOf(target));
    if (target !== undefined && content !== undefined) {
      contents.set(target, content);
      found.set(keyOf(cluster), content);
    }
  }
  return found;
}

function contentOf({ deploymentID, referencedObjects }: PinnedTarget): PinnedContent | undefined {
  return deploymentID === undefined
    ? undefined
    : { deploymentId: deploymentID, referencedObjects: referencedObjects ?? [] };
}
