/** What each cluster of an app would get by a change that is not written. Nothing of it is stored. */
import type { Bundle } from "@flotilla/shared/api";
import { keyOf } from "@flotilla/shared/kube/objects";
import { toTargetGroup } from "../../rules/index.ts";
import type { HubValues } from "../bundle/hub-values.ts";
import {
  type ReachedTargets,
  type ReachedTargetsDeps,
  reachedTargets,
} from "../bundle/reached-targets.ts";
import {
  candidateOf,
  type DesiredPlanDeps,
  deploymentsOf,
  ownDeployment,
  type PlanCandidate,
  stagesBy,
} from "../stageplan/desired-plan.ts";
import { type ProposedApp, type ProposedBundleDeps, proposedBundle } from "./proposed-bundle.ts";

export interface ProposedPlanDeps
  extends ProposedBundleDeps,
    Omit<ReachedTargetsDeps, "clusters">,
    DesiredPlanDeps {
  readonly values: Pick<HubValues, "of" | "forget">;
}

/** As `planCandidates`, in the order of their names. Throws what is wrong with the change, as the app would say it in Accepted. */
export async function proposedCandidates(
  deps: ProposedPlanDeps,
  app: ProposedApp,
  signal: AbortSignal,
): Promise<readonly PlanCandidate[]> {
  const bundle: Bundle = await proposedBundle(deps, app, signal);
  const { placements, contents, groups, approvals } = await targetsOf(deps, bundle);
  if (approvals.violation !== undefined) throw approvals.violation.error;
  const bytesOf = new Map(
    contents.map(({ deploymentId, bytes }) => [deploymentId, bytes] as const),
  );
  const existing = deploymentsOf(deps, bundle);
  const { rolloutStrategy } = bundle.spec;
  const clusters = placements.map(({ cluster }) => cluster);
  const stages = stagesBy(rolloutStrategy ?? undefined, clusters, groups.map(toTargetGroup));
  return placements
    .map(({ cluster, deploymentId, referencedObjects }) => {
      const key = keyOf(cluster);
      const bytes = bytesOf.get(deploymentId);
      const content = {
        deploymentId,
        referencedObjects,
        ...(bytes !== undefined && { content: bytes }),
      };
      const own = ownDeployment(existing, cluster);
      return candidateOf(deps, { cluster, stage: stages?.get(key), own, content });
    })
    .sort((a, b) => (a.cluster < b.cluster ? -1 : 1));
}

async function targetsOf(deps: ProposedPlanDeps, bundle: Bundle): Promise<ReachedTargets> {
  try {
    return await reachedTargets(deps, bundle, await deps.values.of(bundle));
  } finally {
    deps.values.forget(keyOf(bundle));
  }
}
