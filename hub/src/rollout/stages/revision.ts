/** The revision of a Bundle: the criteria and contents of all its targets, as a BundleRollout pins them. */
import type { Bundle, BundleTarget } from "@flotilla/shared/api";
import type { PinnedTarget } from "@flotilla/shared/api/rollout";
import type { PackedContent } from "@flotilla/shared/content";
import { mergeOptions } from "../../rules/index.ts";
import { digestOf } from "./gate.ts";
import { releaseTestsOf } from "./release-tests.ts";

/** The content of one target. */
export interface RevisionContent extends PackedContent {
  readonly referencedObjects: readonly string[];
}

export interface Revision {
  readonly revision: string;
  /** The version of its chart; undefined: the targets have several. */
  readonly version: string | undefined;
  readonly targets: readonly PinnedTarget[];
  /** Each once. */
  readonly contents: readonly RevisionContent[];
}

/** Packs every target, whether a cluster matches it or not: one that joins later gets this revision. */
export async function revisionOf(
  { spec }: Bundle,
  pack: (target: BundleTarget) => Promise<RevisionContent>,
): Promise<Revision> {
  const contents = new Map<string, RevisionContent>();
  const targets: PinnedTarget[] = [];
  for (const target of spec.targets ?? []) {
    const criteria = criteriaOf(target);
    if (target.doNotDeploy === true) {
      targets.push({ ...criteria, doNotDeploy: true });
      continue;
    }
    const content = await pack(target);
    contents.set(content.deploymentId, content);
    const { deploymentId, referencedObjects } = content;
    targets.push({
      ...criteria,
      deploymentID: deploymentId,
      ...(referencedObjects.length > 0 && { referencedObjects }),
      tests: releaseTestsOf(mergeOptions(spec, target)),
    });
  }
  return {
    revision: revisionDigest(targets, spec),
    version: versionOf(spec),
    targets,
    contents: [...contents.values()],
  };
}

function criteriaOf(target: BundleTarget): PinnedTarget {
  const { name, clusterName, clusterSelector, clusterGroup, clusterGroupSelector } = target;
  return {
    ...(name && { name }),
    ...(clusterName && { clusterName }),
    ...(clusterSelector && { clusterSelector }),
    ...(clusterGroup && { clusterGroup }),
    ...(clusterGroupSelector && { clusterGroupSelector }),
  };
}

/** Unnamed targets are named by their position, and tests are a part of the content: neither is a part of it by itself. */
function revisionDigest(
  targets: readonly PinnedTarget[],
  { targetRestrictions, targetCustomizationMode: mode }: Bundle["spec"],
): string {
  const unnamed = targets.map(({ name: _, tests: _tests, ...target }) => target);
  return digestOf(["Revision", unnamed, targetRestrictions ?? [], ...(mode ? [mode] : [])]);
}

function versionOf({ helm, targets }: Bundle["spec"]): string | undefined {
  const version = helm?.version ?? "";
  const versions = new Set(
    (targets ?? [])
      .filter(({ doNotDeploy }) => doNotDeploy !== true)
      .map((target) => target.helm?.version || version),
  );
  const [only] = versions;
  return versions.size === 1 && only !== "" ? only : undefined;
}
