/** Which clusters a Bundle targets and which content each of them gets. Pure except for packing, which is cached. */
import { isDeepStrictEqual } from "node:util";
import {
  type Bundle,
  type BundleDeploymentOptions,
  type BundleTarget,
  type Cluster,
  type ClusterGroup,
  type HelmOptions,
  isManagedElsewhere,
} from "@flotilla/shared/api";
import { deploymentName } from "@flotilla/shared/api/names";
import { createTimeSlices, type TimeSlices } from "@flotilla/shared/concurrency";
import { type PackedContent, packContent } from "@flotilla/shared/content";
import { AppError } from "@flotilla/shared/errors";
import { keyOf, type ObjectKey } from "@flotilla/shared/kube/objects";
import { formatUsed, usedBy } from "@flotilla/shared/referenced";
import {
  archiveDigest,
  describePin,
  describeUrl,
  isTreePin,
  isUnbound,
  pinnedVersion,
} from "@flotilla/shared/source";
import { clusterNamespaceOf, hubErrors, targetedNamespace } from "../../base/index.ts";
import {
  buildContent,
  bundleLabels,
  mergeOptions,
  missing,
  targetsOfEach,
  toTargetCluster,
  toTargetGroup,
} from "../../rules/index.ts";
import type { ReadValues } from "./hub-values.ts";

/** A targeted cluster, and its content. */
export interface Placement {
  readonly cluster: Cluster;
  /** The key of the Cluster. */
  readonly key: ObjectKey;
  /** The name of the BundleDeployment. */
  readonly name: string;
  /** The cluster's namespace on the hub, which may not exist yet. */
  readonly namespace: string;
  readonly deploymentId: string;
  /** The objects that the content references, as in `BundleDeployment.spec.referencedObjects`. */
  readonly referencedObjects: readonly string[];
  /** Nothing of it is changed in the cluster. */
  readonly isSuspended: boolean;
}

export interface TargetMatches {
  readonly placements: readonly Placement[];
  /** What the placements refer to, once each. */
  readonly contents: readonly PackedTarget[];
  /** The objects that its targets name and that do not exist, as messages. */
  readonly missing: readonly string[];
}

/** A target's content, and the objects that it references. */
export interface PackedTarget extends PackedContent {
  readonly referencedObjects: readonly string[];
  readonly isSuspended: boolean;
  /** Where its chart is from, when there is no digest to check that against. */
  readonly unchecked?: string;
}

/** The targets whose options a cluster gets, in the order in which they are merged. */
type TargetChoice = readonly BundleTarget[];

interface Choice {
  readonly targets: TargetChoice;
  /** It is for Clusters of other namespaces. */
  readonly isForeign: boolean;
}

export interface PackOptions {
  /** It is for Clusters of other namespaces than the Bundle's, where names in it are names of the Bundle's namespace. */
  readonly isForeign?: boolean;
  /** The values of its origin's objects, where they belong to the content. */
  readonly values?: ReadValues | undefined;
}

/** Packs the content of a Bundle's targets once for each spec, labels and values of the Bundle, however often it is reconciled. */
export interface ContentPacker {
  pack(bundle: Bundle, targets: TargetChoice, options?: PackOptions): Promise<PackedTarget>;
}

interface PackedBundle {
  readonly labels: Bundle["metadata"]["labels"];
  readonly version: string | undefined;
  /** By the positions of the targets. */
  readonly contents: Map<string, Promise<PackedTarget>>;
}

/** Packs one content. */
export type Pack = typeof packContent;

export function createContentPacker(pack: Pack = packContent): ContentPacker {
  // Objects of a store are replaced, never changed: the spec itself is a key.
  const packed = new WeakMap<Bundle["spec"], PackedBundle>();
  return {
    pack(bundle, targets, { isForeign = false, values } = {}) {
      const { labels } = bundle.metadata;
      const version = values?.version;
      const before = packed.get(bundle.spec);
      const ofBundle =
        before !== undefined &&
        before.version === version &&
        isDeepStrictEqual(before.labels, labels)
          ? before
          : { labels, version, contents: new Map<string, Promise<PackedTarget>>() };
      packed.set(bundle.spec, ofBundle);
      const own = bundle.spec.targets ?? [];
      const positions = targets.map((target) => own.indexOf(target)).join();
      const key = isForeign ? `foreign ${positions}` : positions;
      const known = ofBundle.contents.get(key);
      if (known !== undefined) return known;
      const fresh = packTargets(bundle, { targets, isForeign, values }, pack);
      ofBundle.contents.set(key, fresh);
      return fresh;
    },
  };
}

export interface MatchOptions extends PackOptions {
  /** Whether all Clusters get the content that is for Clusters of other namespaces: a stage has one content for all of them. */
  readonly isForeign?: boolean;
  readonly slices?: TimeSlices;
}

/** `clusters` and `groups`: of all namespaces that the Bundle is deployed to. With pauses: targets times clusters times groups may be many. */
export async function matchTargets(
  bundle: Bundle,
  clusters: readonly Cluster[],
  groups: readonly ClusterGroup[],
  packer: ContentPacker,
  { isForeign = false, values, slices = createTimeSlices() }: MatchOptions = {},
): Promise<TargetMatches> {
  const targetGroups = groups.map(toTargetGroup);
  const present = clusters.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const choices = internChoices(bundle);
  const targetClusters = present.map(toTargetCluster);
  const targets = await targetsOfEach(targetClusters, bundle.spec, targetGroups, slices);
  const chosen = present.map((cluster, index): Choice => {
    if (isManagedElsewhere(cluster)) return none;
    const isElsewhere = cluster.metadata.namespace !== targetedNamespace(bundle);
    return choices({ targets: targets[index] ?? [], isForeign: isForeign || isElsewhere });
  });
  const packed = await packEach(bundle, new Set(chosen), { packer, values });
  const placements = present.flatMap((cluster, index): Placement[] => {
    const content = packed.get(chosen[index] ?? none);
    if (content === undefined) return [];
    return [placementIn(bundle, cluster, content)];
  });
  const contents = new Map([...packed.values()].map((content) => [content.deploymentId, content]));
  return {
    placements,
    contents: [...contents.values()],
    missing: await missing(
      {
        namespaces: [
          ...new Set([
            targetedNamespace(bundle),
            ...present.map(({ metadata }) => metadata.namespace ?? ""),
          ]),
        ],
        targeting: bundle.spec,
        clusters: targetClusters,
        groups: targetGroups,
        matchesAny: placements.length > 0,
      },
      slices,
    ),
  };
}

/** What a Bundle places in a cluster. */
export function placementIn(
  { metadata: { namespace = "", name } }: Pick<Bundle, "metadata">,
  cluster: Cluster,
  content: Pick<Placement, "deploymentId" | "referencedObjects" | "isSuspended">,
): Placement {
  const { deploymentId, referencedObjects, isSuspended } = content;
  return {
    cluster,
    key: keyOf(cluster),
    name: deploymentName({ namespace, name }, cluster.metadata.namespace ?? ""),
    namespace: clusterNamespaceOf(cluster),
    deploymentId,
    referencedObjects,
    isSuspended,
  };
}

/** The choice of a cluster that gets nothing. */
const none: Choice = { targets: [], isForeign: false };

/** Makes equal choices identical: thousands of clusters have a few of them. */
function internChoices({ spec }: Bundle): (choice: Choice) => Choice {
  const positions = new Map((spec.targets ?? []).map((target, index) => [target, index] as const));
  const known = new Map<string, Choice>();
  return (choice) => {
    const { targets, isForeign } = choice;
    const key = [isForeign, ...targets.map((target) => positions.get(target))].join();
    const same = known.get(key) ?? choice;
    known.set(key, same);
    return same;
  };
}

async function packEach(
  bundle: Bundle,
  choices: ReadonlySet<Choice>,
  { packer, values }: { readonly packer: ContentPacker } & Pick<PackOptions, "values">,
): Promise<ReadonlyMap<Choice, PackedTarget>> {
  const packed = new Map<Choice, PackedTarget>();
  for (const choice of choices)
    if (choice.targets.length > 0)
      packed.set(
        choice,
        await packer.pack(bundle, choice.targets, { isForeign: choice.isForeign, values }),
      );
  return packed;
}

async function packTargets(
  bundle: Bundle,
  { targets, isForeign, values }: Choice & Pick<PackOptions, "values">,
  pack: Pack,
): Promise<PackedTarget> {
  const options = targets.reduce<BundleDeploymentOptions>(mergeOptions, bundle.spec);
  const helmOpOptions = bundle.spec.helmOpOptions ?? {};
  const reference = options.helm ?? {};
  const pin = helmOpOptions.pins?.find(
    (entry) =>
      entry.repo === (reference.repo ?? "") &&
      entry.chart === (reference.chart ?? "") &&
      pinnedVersion(entry.pin) === (reference.version ?? ""),
  )?.pin;
  if (pin === undefined) {
    throw new AppError(
      hubErrors.PIN_MISSING,
      `${nameOfTargets(targets)} of the Bundle cannot be deployed, no chart was resolved for it: ${describeChart(reference)}; retrying when its HelmOp has resolved it and written the Bundle`,
    );
  }
  const content = buildContent({
    bundleName: bundle.metadata.name,
    from: isForeign ? (bundle.metadata.namespace ?? "") : undefined,
    labels: bundleLabels(bundle),
    dependsOn: bundle.spec.dependsOn,
    options,
    pin,
    insecureSkipVerify: helmOpOptions.helmOpInsecureSkipTLSVerify,
    accessSecret: helmOpOptions.helmOpSecretName,
    caBundle: helmOpOptions.helmOpCABundle,
    origin: helmOpOptions.origin,
    hubValues: values?.sources,
  });
  return {
    ...(await pack(content)),
    referencedObjects: formatUsed(usedBy(content)),
    isSuspended: options.suspend === true,
    ...((isUnbound(pin) || (archiveDigest(pin) === undefined && !isTreePin(pin))) && {
      unchecked: describePin(pin),
    }),
  };
}

function nameOfTargets(targets: TargetChoice): string {
  const names = targets.flatMap(({ name }) => name || []);
  return names.length === 0 ? "a target" : `target ${names.join(" with ")}`;
}

/** The unresolved chart, without anything that could be a secret. */
function describeChart({ repo, chart, version }: HelmOptions): string {
  const parts = [repo, chart, version].flatMap((part) =>
    part === undefined || part === null || part === "" ? [] : [part],
  );
  return parts.length === 0
    ? "it names none"
    : parts.map((part) => (part.includes("://") ? describeUrl(part) : part)).join(" ");
}
