/** Where a Bundle goes and what each of those clusters is to run. Pure but for packing, which is remembered. */
import type { Bundle } from "@flotilla/shared/api/bundle.ts";
import type { BundleTarget } from "@flotilla/shared/api/bundle-target.ts";
import type { Cluster } from "@flotilla/shared/api/cluster.ts";
import type { ClusterGroup } from "@flotilla/shared/api/cluster-group.ts";
import { clusterNamespaceName } from "@flotilla/shared/api/names.ts";
import { type PackedContent, packContent } from "@flotilla/shared/content/content.ts";
import { AppError } from "@flotilla/shared/errors/app-error.ts";
import { buildContent } from "../content/build-content.ts";
import { hubErrors } from "../errors.ts";
import { type TargetGroup, targetFor } from "../target/match.ts";
import { mergeOptions } from "../target/merge.ts";
import type { Placement } from "./plan-deployments.ts";

export interface Placements {
  readonly placements: readonly Placement[];
  /** What the placements refer to, once each. */
  readonly contents: readonly PackedContent[];
}

/** Packs the content of a Bundle's target once for each spec of the Bundle, however often it is reconciled. */
export interface ContentPacker {
  pack(bundle: Bundle, target: BundleTarget): Promise<PackedContent>;
}

export function createContentPacker(): ContentPacker {
  // Objects of a store are replaced, never changed: the spec itself is a key.
  const packed = new WeakMap<Bundle["spec"], Map<BundleTarget, Promise<PackedContent>>>();
  return {
    pack(bundle, target) {
      const ofBundle = packed.get(bundle.spec) ?? new Map<BundleTarget, Promise<PackedContent>>();
      packed.set(bundle.spec, ofBundle);
      const known = ofBundle.get(target);
      if (known !== undefined) return known;
      const fresh = packTarget(bundle, target);
      ofBundle.set(target, fresh);
      return fresh;
    },
  };
}

/** Whether a Bundle goes to a cluster, as far as its targets say. Cheap: asked for every change of a cluster. */
export function goesTo(bundle: Bundle, cluster: Cluster, groups: readonly ClusterGroup[]): boolean {
  const { name, labels = {} } = cluster.metadata;
  return (
    targetFor({ name, labels }, bundle.spec.targets ?? [], groups.map(toTargetGroup)) !== undefined
  );
}

export async function place(
  bundle: Bundle,
  clusters: readonly Cluster[],
  groups: readonly ClusterGroup[],
  packer: ContentPacker,
): Promise<Placements> {
  const targets = bundle.spec.targets ?? [];
  const targetGroups = groups.map(toTargetGroup);
  const contents = new Map<string, PackedContent>();
  const placements: Placement[] = [];
  for (const cluster of clusters) {
    if (cluster.metadata.deletionTimestamp !== undefined) continue;
    const target = targetFor(
      { name: cluster.metadata.name, labels: cluster.metadata.labels ?? {} },
      targets,
      targetGroups,
    );
    if (target === undefined) continue;
    const content = await packer.pack(bundle, target);
    contents.set(content.deploymentId, content);
    const namespace = clusterNamespaceName(cluster.metadata.namespace ?? "", cluster.metadata.name);
    placements.push({ cluster, namespace, deploymentId: content.deploymentId });
  }
  return { placements, contents: [...contents.values()] };
}

async function packTarget(bundle: Bundle, target: BundleTarget): Promise<PackedContent> {
  const options = mergeOptions(bundle.spec, target);
  const helmOpOptions = bundle.spec.helmOpOptions ?? {};
  const reference = options.helm ?? {};
  const pin = helmOpOptions.pins?.find(
    (entry) =>
      entry.repo === (reference.repo ?? "") &&
      entry.chart === (reference.chart ?? "") &&
      (entry.pin.kind === "tarball" ? "" : entry.pin.version) === (reference.version ?? ""),
  )?.pin;
  if (pin === undefined) {
    const what = [reference.repo, reference.chart, reference.version].filter(Boolean).join(" ");
    throw new AppError(
      hubErrors.PIN_MISSING,
      `target ${target.name ?? ""} of the Bundle cannot be deployed, no chart has been resolved for it: ${what}`,
    );
  }
  return await packContent(
    buildContent({
      bundleName: bundle.metadata.name,
      options,
      pin,
      insecureSkipVerify: helmOpOptions.helmOpInsecureSkipTLSVerify ?? false,
    }),
  );
}

function toTargetGroup(group: ClusterGroup): TargetGroup {
  return {
    name: group.metadata.name,
    labels: group.metadata.labels ?? {},
    selector: group.spec.selector ?? undefined,
  };
}
