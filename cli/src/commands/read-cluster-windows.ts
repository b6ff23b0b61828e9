/** Reads what decides when a cluster may be changed. */
import {
  bundles,
  type Cluster,
  clusterGroups,
  clusters,
  type RolloutStage,
  schedules,
} from "@flotilla/shared/api";
import { bundleRollouts } from "@flotilla/shared/api/rollout";
import { AppError } from "@flotilla/shared/errors";
import { isForbidden, type KubeRest } from "@flotilla/shared/kube/client";
import { keyOf } from "@flotilla/shared/kube/objects";
import { cliErrors } from "../errors.ts";
import { resolveStrategy } from "../rollout/index.ts";
import type { ClusterWindowFacts, WindowedStage } from "./cluster-windows.ts";
import { newestOfEach } from "./rollout.ts";
import { targetedClusters } from "./target-table.ts";

type Rest = Pick<KubeRest, "get" | "list" | "server">;

/** Throws CLUSTER_NOT_FOUND. */
export async function readClusterWindows(
  rest: Rest,
  ref: { readonly namespace: string; readonly name: string },
): Promise<ClusterWindowFacts> {
  const { namespace } = ref;
  const cluster = await rest.get(clusters, ref);
  if (cluster === undefined)
    throw new AppError(
      cliErrors.CLUSTER_NOT_FOUND,
      `read Cluster ${namespace}/${ref.name}: not found on ${rest.server}; check its name, -n, --kubeconfig and --context`,
    );
  const [all, groups] = await Promise.all([
    rest.list(schedules, { namespace }),
    rest.list(clusterGroups, { namespace }),
  ]);
  const facts = { cluster, schedules: all.items, groups: groups.items };
  try {
    return { ...facts, stages: await readStages(rest, facts) };
  } catch (thrown) {
    // Who may see when a cluster is open may not have to see rollouts.
    if (!isForbidden(thrown)) throw thrown;
    return { ...facts, stages: undefined };
  }
}

/** Phases in which a rollout has something to promote. */
const running: ReadonlySet<string> = new Set(["Progressing", "Waiting", "Halted"]);

/** The stages with windows that take the cluster, of the rollouts of its namespace. */
async function readStages(
  rest: Rest,
  { cluster, groups }: Pick<ClusterWindowFacts, "cluster" | "groups">,
): Promise<readonly WindowedStage[]> {
  const { namespace = "" } = cluster.metadata;
  const { items } = await rest.list(bundleRollouts, { namespace });
  const rollouts = newestOfEach(items).filter(({ status }) => running.has(status?.phase ?? ""));
  let members: readonly Cluster[] | undefined;
  const stages: WindowedStage[] = [];
  for (const rollout of rollouts) {
    const bundle = await rest.get(bundles, { namespace, name: rollout.spec.bundle.name });
    const own = bundle?.spec.rolloutStrategy ?? undefined;
    const strategy = await resolveStrategy(rest, namespace, own);
    if (bundle === undefined || !strategy?.stages?.some(hasWindows)) continue;
    // A wave takes some of those that match, so that all of them are compared.
    members ??= (await rest.list(clusters, { namespace })).items;
    const targeted = targetedClusters({ bundle, strategy, clusters: members, groups });
    const name = targeted.find((each) => each.cluster === keyOf(cluster))?.stage;
    const stage = strategy.stages.find((each) => each.name === name);
    if (stage !== undefined && hasWindows(stage))
      stages.push({ rollout, stage: stage.name, windows: stage.windows ?? [] });
  }
  return stages;
}

function hasWindows({ windows = [] }: RolloutStage): boolean {
  return windows.length > 0;
}
