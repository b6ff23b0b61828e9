/** The plans of a staged rollout at its edge: what is known of each member, what is asked for, and the Secret beside each Gate. */
import type { BundleDeployment } from "@flotilla/shared/api";
import type { BundleRollout, GateRecord } from "@flotilla/shared/api/rollout";
import { isAlreadyExists, type KubeRest } from "@flotilla/shared/kube/client";
import { keyOf, type ObjectKey, secrets } from "@flotilla/shared/kube/objects";
import { planSecret } from "../plan/plan-secret.ts";
import { hasRevision, type Member, type MemberPlan } from "../stages/member.ts";
import type { PinnedContent } from "../stages/pinned-contents.ts";
import type { StagedPlans } from "../stages/staged-plans.ts";
import { gatePlanOf } from "./gate-plan.ts";
import type { Planner, ToPlan } from "./planner.ts";

export interface StagedPlansDeps {
  readonly rest: Pick<KubeRest, "create">;
  readonly planner: Planner;
  /** The namespace of the hub. */
  readonly namespace: string;
  /** Reconciles a Bundle again: agents have answered. */
  readonly onPlanned: (bundle: ObjectKey) => void;
}

const unsigned: MemberPlan = {
  kind: "unknown",
  message: "the hub did not write its BundleDeployment",
  untilMs: undefined,
};

export function createStagedPlans(deps: StagedPlansDeps): StagedPlans {
  const { rest, planner, namespace, onPlanned } = deps;

  async function storeOne(
    rollout: BundleRollout,
    record: GateRecord,
    members: readonly Member[],
  ): Promise<void> {
    const plan = gatePlanOf(record, members, (diff) => planner.diff(rollout, diff));
    const secret = planSecret(record, plan, { namespace, rollout: keyOf(rollout) });
    try {
      await rest.create(secrets, secret);
    } catch (thrown) {
      // It exists since before a crash: its name says what it is about.
      if (!isAlreadyExists(thrown)) throw thrown;
    }
  }

  return {
    planOf(rollout, { key, content, deployment, isSigned }) {
      if (content === undefined) return undefined;
      if (deployment !== undefined && !isSigned) return unsigned;
      return planner.planOf(rollout, toPlan(key, content, deployment));
    },
    ask(rollout, members, sources) {
      const wanted = new Set(members.map(({ key }) => key));
      const clusters = sources.flatMap(({ key, content, deployment, isSigned }) =>
        wanted.has(key) && content !== undefined && (deployment === undefined || isSigned)
          ? [toPlan(key, content, deployment)]
          : [],
      );
      if (clusters.length === 0) return;
      const { namespace: own = "" } = rollout.metadata;
      const bundle = keyOf({ namespace: own, name: rollout.spec.bundle.name });
      planner.ask(rollout, clusters, () => onPlanned(bundle));
    },
    async store(rollout, { stages = [] }, { members, assignment }) {
      for (const stage of stages)
        for (const record of stage.gates ?? []) {
          const isNew = record.uid === undefined && record.result === "Waiting";
          if (record.plan === undefined || !isNew) continue;
          const waiting = members.filter(
            (member) => assignment.get(member.key) === stage.name && !hasRevision(member),
          );
          await storeOne(rollout, record, waiting);
        }
    },
    keep: (bundle, rollouts) =>
      planner.keep(bundle, new Set(rollouts.map(({ metadata }) => metadata.uid ?? ""))),
  };
}

function toPlan(
  cluster: ObjectKey,
  { deploymentId, referencedObjects }: PinnedContent,
  deployment: BundleDeployment | undefined,
): ToPlan {
  return { cluster, content: { deploymentId, referencedObjects }, deployment };
}
