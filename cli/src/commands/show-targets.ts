/** `flotilla target`: which target and which stage take each cluster, by the rules of the hub. */
import { bundles, clusterGroups, clusters } from "@flotilla/shared/api";
import { bundleNameOf } from "@flotilla/shared/api/names";
import { AppError } from "@flotilla/shared/errors";
import type { KubeRest } from "@flotilla/shared/kube/client";
import type { KubeObject, Resource } from "@flotilla/shared/kube/objects";
import { listNames } from "@flotilla/shared/text";
import type { CliConfig } from "../config.ts";
import { cliErrors } from "../errors.ts";
import { appText, resolveStrategy } from "../rollout/index.ts";
import { type ReachedNamespaces, readReach } from "./mapped-namespaces.ts";
import { type OutputOptions, printJson, type RolloutOptions } from "./rollout.ts";
import { parseApp, parseCluster } from "./target.ts";
import { targetedClusters, targetTable } from "./target-table.ts";
import { withHub } from "./with-hub.ts";

export interface TargetOptions extends RolloutOptions, OutputOptions {
  /** The name of one Cluster; absent: all of the namespace. */
  readonly cluster?: string;
}

/** Throws OBJECT_NOT_FOUND, also where the hub has not made a Bundle of the app. */
export async function showTargets(
  words: readonly string[],
  options: TargetOptions,
  config: CliConfig,
): Promise<void> {
  const { namespace, cluster, output } = options;
  const app = parseApp(words, namespace);
  await withHub(options, config, async (rest) => {
    const name = bundleNameOf(app.kind, app.name);
    const bundle = await rest.get(bundles, { namespace, name });
    if (bundle === undefined)
      throw new AppError(
        cliErrors.OBJECT_NOT_FOUND,
        `read the targets of ${appText(app)}: it has no Bundle ${name} on ${rest.server}; check the name and -n, and the condition Accepted of the app`,
      );
    const [reach, strategy] = await Promise.all([
      readReach(rest, bundle),
      resolveStrategy(rest, namespace, bundle.spec.rolloutStrategy ?? undefined),
    ]);
    const [members, groups] = await Promise.all([
      listIn(rest, clusters, reach.namespaces),
      listIn(rest, clusterGroups, reach.namespaces),
    ]);
    const all = targetedClusters({ bundle, strategy, clusters: members, groups });
    const shown = cluster === undefined ? all : all.filter(isNamed(cluster, namespace));
    if (cluster !== undefined && shown.length === 0)
      throw new AppError(
        cliErrors.CLUSTER_NOT_FOUND,
        `read Cluster ${parseCluster(cluster, namespace)}: not found on ${rest.server}; check --cluster and -n`,
      );
    if (output === "json") printJson(shown);
    else if (shown.length === 0)
      process.stdout.write(`there are no Clusters in the namespace ${namespace}\n`);
    else process.stdout.write(targetTable(shown, strategy));
    process.stderr.write(reachRemarks(reach));
  });
}

async function listIn<T extends KubeObject>(
  rest: KubeRest,
  resource: Resource<T>,
  namespaces: readonly string[],
): Promise<readonly T[]> {
  const lists = await Promise.all(
    namespaces.map((namespace) => rest.list(resource, { namespace })),
  );
  return lists.flatMap(({ items }) => items);
}

/** What the table lacks, a line each. */
function reachRemarks({ refused, unnamed, isPartial }: ReachedNamespaces): string {
  const lines: string[] = [];
  if (refused.length > 0)
    lines.push(`namespaces whose Policies refuse the Bundle: ${listNames(refused)}`);
  if (unnamed > 0)
    lines.push(
      `namespaces that refuse the Bundle as well, and whose Clusters are in the list: ${unnamed}`,
    );
  if (isPartial)
    lines.push(
      "Clusters of other namespaces are missing: listing bundlenamespacemappings or namespaces is forbidden",
    );
  return lines.map((line) => `${line}\n`).join("");
}

/** `cluster`: NAME, in the namespace of the app, or NAMESPACE/NAME. */
function isNamed(cluster: string, namespace: string) {
  const key = parseCluster(cluster, namespace);
  return (each: { readonly cluster: string }) => each.cluster === key;
}
