/** The staged rollouts of Bundles: makes the steps of one, stores what it decides, and only then says what each cluster gets. */
import { isDeepStrictEqual } from "node:util";
import type {
  Bundle,
  BundleDeployment,
  BundleTarget,
  Cluster,
  RolloutStrategy,
} from "@flotilla/shared/api";
import { appInLabels } from "@flotilla/shared/api/apps";
import type {
  BundleRollout,
  BundleRolloutStatus,
  Gate,
  GateRecord,
} from "@flotilla/shared/api/rollout";
import { createTimeSlices } from "@flotilla/shared/concurrency";
import type { Store } from "@flotilla/shared/kube/cache";
import { keyOf, type ObjectKey } from "@flotilla/shared/kube/objects";
import { type Clock, formatTimeMs } from "@flotilla/shared/time";
import {
  type AwaitedApps,
  assignStages,
  type ContentStore,
  type DataSigner,
  type DeploymentSigner,
  type RolloutStrategies,
  stagesOf,
  type TargetGroup,
  toTargetCluster,
} from "../../rules/index.ts";
import { approvalRemark } from "./approvals.ts";
import { isNameChecked, namesCheckedSince } from "./checked-names.ts";
import { chooseRollout, outdatedRollouts } from "./choose-rollout.ts";
import { dependencyProblem } from "./dependency-rollouts.ts";
import { isPlannedIn, waitingIn } from "./gate-members.ts";
import { createGateWriter } from "./gate-writer.ts";
import { hasRevision, type Member } from "./member.ts";
import {
  type MemberOptions,
  memberSources,
  membersOf,
  type SourceOfMember,
} from "./member-sources.ts";
import { type PinnedContent, pinnedContents } from "./pinned-contents.ts";
import { hasPlanGates } from "./plan-gates.ts";
import { releaseTestsIn } from "./release-tests.ts";
import { type Revision, type RevisionContent, revisionOf } from "./revision.ts";
import { isRolledOut, nextNumber, refuseLarge, stableOf } from "./rollout-facts.ts";
import { createRolloutObjects, type RolloutObjectsDeps } from "./rollout-objects.ts";
import { type ReportsDeps, type RolloutReports, rolloutReports } from "./rollout-reports.ts";
import type { RolloutWindows } from "./rollout-windows.ts";
import type { StagedPlans } from "./staged-plans.ts";
import { isOver, unassignedRemark, withoutGeneration, withoutStages } from "./staged-status.ts";
import { stepRollout } from "./staged-step.ts";
import { createStagedTargets, type StagedPlacement, type StagedTarget } from "./staged-targets.ts";
import type { StepInputs } from "./step-inputs.ts";

export interface StagedRolloutsDeps extends Omit<RolloutObjectsDeps, "signer"> {
  readonly gates: Store<Gate>;
  readonly signer: DataSigner;
  readonly deploymentSigner: DeploymentSigner;
  readonly contents: Pick<ContentStore, "ensure" | "read">;
  readonly plans: StagedPlans;
  readonly windows: RolloutWindows;
  readonly awaited: Pick<AwaitedApps, "problemOf">;
  readonly bundles: Pick<Store<Bundle>, "get">;
  readonly strategyOf: RolloutStrategies["strategyOf"];
  /** Whether approvals count whose names the API server has not checked. */
  readonly unverifiedApprovals?: boolean | undefined;
  readonly clock: Pick<Clock, "now">;
}

export interface StagedInputs<P extends StagedPlacement>
  extends Pick<ReportsDeps, "clusterOf" | "deploymentIn"> {
  readonly bundle: Bundle;
  readonly strategy: RolloutStrategy;
  readonly placements: readonly P[];
  /** The deployments of the Bundle, as they are known now. */
  readonly existing: () => readonly BundleDeployment[];
  readonly groups: readonly TargetGroup[];
  /** Whether a Policy requires an approval before the cluster. */
  readonly needsApproval: (cluster: Cluster) => boolean;
  readonly pack: (target: BundleTarget) => Promise<RevisionContent>;
  /** Makes sure that `existing` has every write of the leader before; returns whether it has not had to do so until now. */
  readonly catchUp: () => Promise<boolean>;
}

export interface StagedPlan<P> {
  readonly targets: readonly StagedTarget<P>[];
  readonly rollout: BundleRollout;
  readonly status: BundleRolloutStatus;
  /** For the author of the Bundle, as sentences. */
  readonly remarks: readonly string[];
  /** When it may change by time alone, ms since 1970. */
  readonly wakesAtMs: number | undefined;
  /** What reports change until the next pass; undefined: each of them needs one. What the pass promotes has to be moved first. */
  readonly reports: RolloutReports | undefined;
  /** The clusters whose turn it is in this pass. */
  readonly promoted: readonly ObjectKey[];
  /** Writes how Gates have ended, for people who wait for them: what follows from a decision is written first. */
  readonly conclude: () => Promise<void>;
}

export interface StagedRollouts {
  /** One pass. What it decides is stored when it resolves; `undefined`: to be made again at once. */
  plan<P extends StagedPlacement>(inputs: StagedInputs<P>): Promise<StagedPlan<P> | undefined>;
  /** Ends the rollouts of a Bundle whose strategy has no stages any more. */
  end(bundle: Bundle): Promise<void>;
  /** Forgets a Bundle that is gone. */
  forget(key: ObjectKey): void;
}

/** Decisions that follow from each other in one pass: more are made in the next one. */
const mostSteps = 64;

/** Numbers alone are stored at most this often. */
const countsEveryMs = 1_000;

export function createStagedRollouts(deps: StagedRolloutsDeps): StagedRollouts {
  const objects = createRolloutObjects(deps);
  const gateWriter = createGateWriter(deps);
  const targets = createStagedTargets(deps);
  /** When numbers were stored last, by key of the Bundle. */
  const countedAt = new Map<ObjectKey, number>();

  return {
    forget(key) {
      countedAt.delete(key);
      deps.plans.keep(key, []);
    },
    async end(bundle) {
      deps.plans.keep(keyOf(bundle), []);
      for (const rollout of objects.of(bundle)) {
        const { status } = rollout;
        if (status !== undefined && !isOver(status.phase))
          await objects.store(rollout, withoutStages(status, formatTimeMs(deps.clock.now())));
      }
    },
    async plan(inputs) {
      const revision = await revisionOf(inputs.bundle, inputs.pack);
      refuseLarge(revision);
      for (let step = 0; step < mostSteps; step += 1) {
        const made = await makeStep(inputs, revision);
        if (made !== "again") return made;
      }
      return undefined;
    },
  };

  async function makeStep<P extends StagedPlacement>(
    inputs: StagedInputs<P>,
    revision: Revision,
  ): Promise<StagedPlan<P> | "again"> {
    const { bundle, strategy } = inputs;
    const rollouts = objects.of(bundle);
    const choice = chooseRollout(rollouts, revision, strategy);
    if (choice.kind === "start") {
      await startRollout(inputs, revision, rollouts);
      return "again";
    }
    const { rollout } = choice;
    if (rollout.spec.revision === revision.revision)
      await Promise.all(revision.contents.map((content) => deps.contents.ensure(content)));
    const contents = await contentsOf(inputs, rollout, revision);
    const slices = createTimeSlices();
    const sources = memberSources(bundle, inputs.placements, {
      existing: inputs.existing(),
      contents,
      signer: deps.deploymentSigner,
    });
    if (slices.isOver) await slices.pause();
    const options = memberOptions(inputs, rollout);
    const members = membersOf(bundle, sources, options);
    const stable = rollout.status?.stable ?? stableOf(rollouts, rollout);
    const checkedSinceMs = await checkedSinceFor(rollout);
    if (slices.isOver) await slices.pause();
    const step = stepInputs(inputs, { rollout, sources, members, stable, checkedSinceMs });
    const { goesBack, isSuperseded, next } = choice;
    if (slices.isOver) await slices.pause();
    const asked = { ...step, goesBack, isSuperseded, next };
    const result = stepRollout(asked);
    if (slices.isOver) await slices.pause();
    if (!result.isStored) {
      // What an older cache shows may end a rollout that is not over.
      if (await inputs.catchUp()) return "again";
      await objects.store(rollout, result.status);
      return "again";
    }
    const { status } = result;
    deps.plans.ask(rollout, result.toPlan, sources);
    await deps.plans.store(rollout, status, { members, assignment: step.assignment });
    const gateInputs = {
      rollout,
      status,
      stages: stagesOf(strategy),
      waitingIn: (stage: string, { plan }: GateRecord) =>
        waitingIn(members, step.assignment, stage).filter((member) => isPlannedIn(member, plan)),
    };
    const withGates = await gateWriter.ensure(gateInputs);
    if (withGates !== status) {
      await objects.store(rollout, withGates);
      return "again";
    }
    const forces = members.some(
      ({ key, force }) => force === "waiting" && !result.heldRequests.has(key),
    );
    if ((result.promotions.length > 0 || forces) && (await inputs.catchUp())) return "again";
    for (const outdated of outdatedRollouts(rollouts, strategy)) await objects.remove(outdated);
    deps.plans.keep(keyOf(bundle), [rollout]);
    const countsAtMs = await storeCounts(bundle, rollout, status);
    return {
      targets: await targets.of({
        ...inputs,
        rollout,
        rollouts,
        contents,
        members,
        result,
        assignment: step.assignment,
      }),
      rollout,
      status,
      remarks: [
        approvalRemark(rollout.metadata.name, result.lackingApproval),
        unassignedRemark(step),
      ].filter((text) => text !== undefined),
      wakesAtMs: earlier(result.wakesAtMs, countsAtMs),
      promoted: result.promotions.map(({ member }) => member.key),
      conclude: () => gateWriter.conclude({ rollout, status }),
      reports: rolloutReports(
        { bundle, rollout, step: asked, result, sources, options },
        { ...deps, ...inputs, signer: deps.deploymentSigner },
      ),
    };
  }

  function memberOptions<P extends StagedPlacement>(
    { bundle, strategy, needsApproval }: StagedInputs<P>,
    rollout: BundleRollout,
  ): MemberOptions {
    const isPlanned = hasPlanGates(strategy);
    return {
      skip: new Set(rollout.spec.skip ?? []),
      testsOf: releaseTestsIn(bundle, rollout),
      needsApproval,
      planOf: (source) => (isPlanned ? deps.plans.planOf(rollout, source) : undefined),
    };
  }

  async function startRollout<P extends StagedPlacement>(
    { bundle, existing }: StagedInputs<P>,
    { revision, version, targets, contents }: Revision,
    rollouts: readonly BundleRollout[],
  ): Promise<void> {
    await Promise.all(contents.map((content) => deps.contents.ensure(content)));
    const { targetRestrictions, targetCustomizationMode: mode } = bundle.spec;
    const app = appInLabels(bundle.metadata.labels) ?? {
      kind: "Bundle",
      name: bundle.metadata.name,
    };
    const restrictions = (targetRestrictions ?? []).map((each) => ({ ...each }));
    await objects.create(
      bundle,
      {
        app,
        revision,
        ...(version !== undefined && { version }),
        targets,
        ...(restrictions.length > 0 && { targetRestrictions: restrictions }),
        ...(mode === "FirstMatch" && { targetCustomizationMode: mode }),
      },
      nextNumber(deps.rollouts.list(), bundle, [...rollouts], existing()),
    );
  }

  /** The content of the revision for each target cluster. */
  async function contentsOf<P extends StagedPlacement>(
    { placements, groups }: StagedInputs<P>,
    rollout: BundleRollout,
    { revision }: Revision,
  ): Promise<ReadonlyMap<ObjectKey, PinnedContent>> {
    if (rollout.spec.revision === revision)
      return new Map(placements.map((placement) => [placement.key, placement]));
    const clusters = placements.map(({ cluster }) => cluster);
    return await pinnedContents(rollout, clusters, groups, createTimeSlices());
  }

  function stepInputs<P extends StagedPlacement>(
    { bundle, strategy, groups, clusterOf }: StagedInputs<P>,
    {
      rollout,
      sources,
      members,
      stable,
      checkedSinceMs,
    }: {
      readonly rollout: BundleRollout;
      readonly sources: readonly SourceOfMember[];
      readonly members: readonly Member[];
      readonly stable: string | undefined;
      readonly checkedSinceMs: number | undefined;
    },
  ): Omit<StepInputs, "goesBack" | "isSuperseded" | "next"> {
    const clusters = sources
      .filter(({ content }) => content !== undefined)
      .map(({ cluster, key }) => ({ ...toTargetCluster(cluster), key }));
    const { namespace = "" } = bundle.metadata;
    const windows = deps.windows.in(namespace);
    const nowMs = deps.clock.now();
    return {
      name: rollout.metadata.name,
      spec: rollout.spec,
      stored: rollout.status,
      strategy,
      members,
      assignment: assignStages(stagesOf(strategy), clusters, groups),
      stable,
      isAdopted: members.length > 0 && members.every(hasRevision),
      isPaused: bundle.spec.paused === true || bundle.spec.suspend === true,
      facts: {
        windowOf: windows.windowOf,
        openingOf: windows.openingOf,
        isRolledOut: (app) => isRolledOut(objects.inNamespace(namespace), app),
        awaitedProblem: (app) => deps.awaited.problemOf(namespace, app),
        decisionOf(record) {
          const found = gateOf(rollout, record);
          const decision = found?.status?.decision;
          return (
            found && decision && { ...decision, verified: isNameChecked(found, checkedSinceMs) }
          );
        },
        acceptsUnverified: deps.unverifiedApprovals === true,
      },
      dependencyProblem: (name) =>
        dependencyProblem(
          {
            rollouts: objects.inNamespace(namespace),
            bundleNamed: (each) => deps.bundles.get(keyOf({ namespace, name: each })),
            strategyOf: deps.strategyOf,
          },
          rollout,
          name,
        ),
      isNeverOpenFor({ key }, ofStage) {
        const cluster = clusterOf(key);
        return cluster !== undefined && windows.isNeverOpenIn(cluster, ofStage, nowMs);
      },
      nowMs,
    };
  }

  /** The Gate of a record; undefined: it is gone, or another one has its name. */
  function gateOf(
    { metadata: { namespace = "" } }: BundleRollout,
    { gate: name, uid }: GateRecord,
  ) {
    const found = deps.gates.get(keyOf({ namespace, name }));
    return found !== undefined && found.metadata.uid === uid ? found : undefined;
  }

  /** Read only where somebody has decided: `namesCheckedSince`. */
  async function checkedSinceFor(rollout: BundleRollout): Promise<number | undefined> {
    const isDecided = (rollout.status?.stages ?? []).some(({ gates = [] }) =>
      gates.some(
        (record) =>
          record.result === "Waiting" && gateOf(rollout, record)?.status?.decision !== undefined,
      ),
    );
    return isDecided ? await namesCheckedSince(deps.rest) : undefined;
  }

  /** When they are stored at the latest, if not now. */
  async function storeCounts(
    bundle: Bundle,
    rollout: BundleRollout,
    status: BundleRolloutStatus,
  ): Promise<number | undefined> {
    const stored = rollout.status;
    if (isDeepStrictEqual(withoutGeneration(stored), status)) return undefined;
    const now = deps.clock.now();
    const dueAtMs = (countedAt.get(keyOf(bundle)) ?? 0) + countsEveryMs;
    const isUrgent = stored?.phase !== status.phase || stored.reason !== status.reason;
    if (now < dueAtMs && !isUrgent) return dueAtMs;
    countedAt.set(keyOf(bundle), now);
    await objects.store(rollout, status);
    return undefined;
  }
}

function earlier(one: number | undefined, other: number | undefined): number | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return Math.min(one, other);
}
