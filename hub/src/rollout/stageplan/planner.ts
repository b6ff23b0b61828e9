/**
 * What the leader knows of the plans of staged rollouts: asks the agents of clusters in the background, and says when they have
 * answered. Everything here is a cache, which may be dropped and asked for again: the answers that count are stored with the gate.
 */
import type { BundleDeployment } from "@flotilla/shared/api";
import type { BundleRollout } from "@flotilla/shared/api/rollout";
import { createSemaphore } from "@flotilla/shared/concurrency";
import { AppError } from "@flotilla/shared/errors";
import { keyOf, type ObjectKey } from "@flotilla/shared/kube/objects";
import type { Log } from "@flotilla/shared/log";
import type { PlanResult } from "@flotilla/shared/plan";
import { diffOf } from "@flotilla/shared/plan/approved";
import { type Clock, formatTime } from "@flotilla/shared/time";
import { type DataSigner, planKey } from "../../rules/index.ts";
import { askFleet, askTexts, parallelPlans } from "../plan/ask-fleet.ts";
import { groupPlans } from "../plan/group-plans.ts";
import type { AskAgent, KnownPlan, PlanOutcome } from "../plan/plan-outcome.ts";
import type { KnownMemberPlan, MemberPlan } from "../stages/member.ts";
import { plannedAgainAt, refusalsOf } from "../stages/refusals.ts";
import { planOf } from "./desired-plan.ts";

/** A cluster that is to be planned. */
export interface ToPlan {
  /** `namespace/name` of its Cluster. */
  readonly cluster: string;
  /** The content of the revision for it. */
  readonly content: {
    readonly deploymentId: string;
    readonly referencedObjects: readonly string[];
  };
  /** Written by the hub; undefined: there is none. */
  readonly deployment: BundleDeployment | undefined;
}

/** What is known of one diff: the answer and the text of one of its clusters. */
export interface KnownDiff {
  readonly result: PlanResult;
  /** Undefined: not asked for, or not answered. */
  readonly text: string | undefined;
}

export interface Planner {
  /** The plan of a cluster while it fits what is installed; undefined: it has to be planned. */
  planOf(rollout: BundleRollout, cluster: ToPlan): MemberPlan | undefined;
  /**
   * Asks these clusters in the background, one round of a rollout at a time; `done` is called when all of them have answered or could
   * not. Does nothing while a round is running: what is missing then is asked for afterwards.
   */
  ask(rollout: BundleRollout, clusters: readonly ToPlan[], done: () => void): void;
  /** What is known of a diff by its digest, as it is approved. */
  diff(rollout: BundleRollout, diff: string): KnownDiff | undefined;
  /** Forgets the rollouts of a Bundle that are gone, or have ended. `uids`: of those that go on. */
  keep(bundle: ObjectKey, uids: ReadonlySet<string>): void;
  /** Ends all rounds. */
  stop(): void;
}

export interface PlannerDeps {
  readonly ask: AskAgent;
  readonly signer: Pick<DataSigner, "sign">;
  readonly clock: Pick<Clock, "now">;
  readonly log: Log;
}

/** An older answer says nothing about the live state of the objects, and is asked for again. */
const freshMs = 15 * 60_000;
/** One that could not be asked is asked again after this time. */
const retryMs = 60_000;
/** Diffs of a rollout that are remembered with their texts. */
const mostDiffs = 500;

interface Entry {
  readonly deploymentId: string;
  /** What was installed by the hub's status when it was asked, and how often its agent had refused what was promoted. */
  readonly installed: string;
  readonly untilMs: number;
  readonly plan: MemberPlan;
}

interface Plans {
  readonly bundle: ObjectKey;
  readonly entries: Map<string, Entry>;
  readonly diffs: Map<string, KnownDiff>;
  isAsking: boolean;
}

export function createPlanner({ ask: askOne, signer, clock, log }: PlannerDeps): Planner {
  // The limit is for all rollouts together.
  const permits = createSemaphore(parallelPlans);
  const ask: AskAgent = (...question) => permits.run(() => askOne(...question));
  const byRollout = new Map<string, Plans>();
  const ending = new AbortController();
  const { signal } = ending;

  function plansOf({ metadata, spec }: BundleRollout): Plans {
    const uid = metadata.uid ?? "";
    const known = byRollout.get(uid);
    if (known !== undefined) return known;
    const fresh = {
      bundle: keyOf({ namespace: metadata.namespace ?? "", name: spec.bundle.name }),
      entries: new Map<string, Entry>(),
      diffs: new Map<string, KnownDiff>(),
      isAsking: false,
    };
    byRollout.set(uid, fresh);
    return fresh;
  }

  async function round(
    rollout: BundleRollout,
    plans: Plans,
    clusters: readonly ToPlan[],
  ): Promise<void> {
    const targets = clusters.flatMap((each) => {
      const plan = planOf(each.cluster, each.content, each.deployment);
      return plan.kind === "ask" ? [plan.target] : [];
    });
    const installed = new Map(clusters.map((each) => [each.cluster, installedIn(each)] as const));
    const { metadata, spec } = rollout;
    const key = planKey(signer, { bundleUid: spec.bundle.uid, rollout: metadata.name });
    const options = { key, signal };
    const outcomes = await askFleet(targets, ask, options);
    const now = clock.now();
    for (const { cluster, deploymentId } of targets) {
      const outcome = outcomes.get(cluster);
      if (outcome === undefined) continue;
      const untilMs = now + (outcome.kind === "known" ? freshMs : retryMs);
      const plan = memberPlan(outcome, untilMs);
      const before = installed.get(cluster) ?? "";
      plans.entries.set(cluster, { deploymentId, installed: before, untilMs, plan });
    }
    const { groups } = groupPlans(outcomes);
    const missing = groups.filter(({ digests }) =>
      digests.some((digest) => plans.diffs.get(diffOf(digest))?.text === undefined),
    );
    const byCluster = new Map(targets.map((target) => [target.cluster, target] as const));
    const texts = await askTexts({ groups: missing }, byCluster, ask, options);
    for (const group of groups)
      for (const digest of group.digests) {
        const text = texts.get(group.sample);
        const own = text?.digest === digest ? text.text : plans.diffs.get(diffOf(digest))?.text;
        plans.diffs.set(diffOf(digest), { result: group.result, text: own });
      }
    for (const oldest of plans.diffs.keys()) {
      if (plans.diffs.size <= mostDiffs) break;
      plans.diffs.delete(oldest);
    }
  }

  return {
    planOf(rollout, each) {
      const { cluster, content, deployment } = each;
      const plan = planOf(cluster, content, deployment);
      if (plan.kind === "known") {
        const diff = diffOf(plan.result.digest);
        plansOf(rollout).diffs.set(diff, { result: plan.result, text: undefined });
        return { ...knownPlan(plan), isFirst: true };
      }
      const againAtMs = plannedAgainAt(deployment?.spec.promotion);
      if (againAtMs !== undefined && clock.now() < againAtMs)
        return { kind: "unknown", message: refusedText(againAtMs), untilMs: againAtMs };
      const entry = byRollout.get(rollout.metadata.uid ?? "")?.entries.get(cluster);
      const isFit =
        entry !== undefined &&
        entry.deploymentId === content.deploymentId &&
        entry.installed === installedIn(each) &&
        clock.now() < entry.untilMs;
      return isFit ? entry.plan : undefined;
    },
    ask(rollout, clusters, done) {
      const plans = plansOf(rollout);
      if (plans.isAsking || signal.aborted) return;
      plans.isAsking = true;
      round(rollout, plans, clusters)
        .catch((thrown: unknown) => {
          if (signal.aborted) return;
          log.error({ err: AppError.from(thrown).message }, "cannot ask agents for plans");
        })
        .finally(() => {
          plans.isAsking = false;
          if (!signal.aborted) done();
        });
    },
    diff: (rollout, diff) => byRollout.get(rollout.metadata.uid ?? "")?.diffs.get(diff),
    keep(bundle, uids) {
      for (const [uid, plans] of byRollout)
        if (plans.bundle === bundle && !uids.has(uid)) byRollout.delete(uid);
    },
    stop: () => ending.abort(new Error("the leader ends")),
  };
}

function memberPlan(outcome: PlanOutcome, untilMs: number): MemberPlan {
  if (outcome.kind === "unknown") return { kind: "unknown", message: outcome.message, untilMs };
  return knownPlan(outcome);
}

function knownPlan({ result: { result, digest } }: KnownPlan): KnownMemberPlan {
  return {
    kind: "known",
    diff: result === "none" ? "" : diffOf(digest),
    fails: result === "fails",
  };
}

function refusedText(againAtMs: number): string {
  return `its agent has refused again what was approved, because something else would have changed (PLAN_STALE); something changes these objects all the time, and it is asked again at ${formatTime(againAtMs)}`;
}

/** Content and Helm revision, as the hub knows them: another one was not planned. Nor was what has changed before a refusal. */
function installedIn({ deployment }: Pick<ToPlan, "deployment">): string {
  const { appliedDeploymentID = "", release = "" } = deployment?.status ?? {};
  const refusals = deployment === undefined ? 0 : refusalsOf(deployment);
  return `${appliedDeploymentID} ${release} ${refusals}`;
}
