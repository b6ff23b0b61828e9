/** What staged rollouts need of the plans of their clusters. */
import type { BundleRollout, BundleRolloutStatus } from "@flotilla/shared/api/rollout";
import type { ObjectKey } from "@flotilla/shared/kube/objects";
import type { Member, MemberPlan } from "./member.ts";
import type { SourceOfMember } from "./member-sources.ts";

export interface StagedPlans {
  /** The plan of one member; undefined: it has to be made. */
  planOf(rollout: BundleRollout, source: SourceOfMember): MemberPlan | undefined;
  /** Has what a step asks for planned in the background. */
  ask(rollout: BundleRollout, members: readonly Member[], sources: readonly SourceOfMember[]): void;
  /** Stores what approvals are about, for those whose Gate does not exist yet. */
  store(rollout: BundleRollout, status: BundleRolloutStatus, plans: StagePlans): Promise<void>;
  /** Forgets what other rollouts of the Bundle than these have asked for. */
  keep(bundle: ObjectKey, rollouts: readonly BundleRollout[]): void;
}

export interface StagePlans {
  readonly members: readonly Member[];
  readonly assignment: ReadonlyMap<string, string>;
}
