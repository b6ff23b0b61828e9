/** `flotilla target`: which target and which stage take each cluster, by the rules of the hub. */
import { bundles, clusterGroups, clusters, type RolloutStrategy } from "@flotilla/shared/api";
import { bundleNameOf } from "@flotilla/shared/api/names";
import { rolloutPolicies } from "@flotilla/shared/api/rollout";
import { AppError } from "@flotilla/shared/errors";
import type { KubeRest } from "@flotilla/shared/kube/client";
import { keyOf } from "@flotilla/shared/kube/objects";
import type { CliConfig } from "../config.ts";
import { cliErrors } from "../errors.ts";
import { appText } from "../rollout/index.ts";
import { type OutputOptions, printJson, type RolloutOptions } from "./rollout.ts";
import { clusterKinds, parseApp, parseTarget } from "./target.ts";
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
    const [{ items: members }, { items: groups }, strategy] = await Promise.all([
      rest.list(clusters, { namespace }),
      rest.list(clusterGroups, { namespace }),
      strategyOf(rest, namespace, bundle.spec.rolloutStrategy ?? undefined),
    ]);
    const all = targetedClusters({ bundle, strategy, clusters: members, groups });
    const shown = cluster === undefined ? all : all.filter(isNamed(cluster, namespace));
    if (cluster !== undefined && shown.length === 0)
      throw new AppError(
        cliErrors.CLUSTER_NOT_FOUND,
        `read Cluster ${namespace}/${cluster}: not found on ${rest.server}; check --cluster and -n`,
      );
    if (output === "json") printJson(shown);
    else if (shown.length === 0)
      process.stdout.write(`there are no Clusters in the namespace ${namespace}\n`);
    else process.stdout.write(targetTable(shown, strategy));
  });
}

function isNamed(cluster: string, namespace: string) {
  const key = keyOf({ namespace, name: parseTarget([cluster], clusterKinds).name });
  return (each: { readonly cluster: string }) => each.cluster === key;
}

/** Its own, or that of the RolloutPolicy that it names. */
async function strategyOf(
  rest: KubeRest,
  namespace: string,
  strategy: RolloutStrategy | undefined,
): Promise<RolloutStrategy | undefined> {
  if (!strategy?.policy) return strategy;
  const policy = await rest.get(rolloutPolicies, { namespace, name: strategy.policy });
  return policy?.spec ?? strategy;
}
