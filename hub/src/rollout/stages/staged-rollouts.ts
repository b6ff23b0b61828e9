/** The staged rollouts of Bundles: makes the steps of one, stores what it decides, and only then says what each cluster gets. */
import { isDeepStrictEqual } from "node:util";
import type {
  Bundle,
  BundleDeployment,
  BundleTarget,
  Cluster,
  Promotion,
  RolloutStrategy,
} from "@flotilla/shared/api";
import { appInLabels } from "@flotilla/shared/api/apps";
import type { BundleRollout, BundleRolloutStatus, Gate } from "@flotilla/shared/api/rollout";
import { createTimeSlices } from "@flotilla/shared/concurrency";
import { unpackContent } from "@flotilla/shared/content";
import type { Store } from "@flotilla/shared/kube/cache";
import { keyOf, type ObjectKey } from "@flotilla/shared/kube/objects";
import { formatUsed, usedBy } from "@flotilla/shared/referenced";
import { type Clock, formatTimeMs } from "@flotilla/shared/time";
import { isForCluster } from "../../base/index.ts";
import {
  assignStages,
  type ContentStore,
  type DataSigner,
  type DeploymentSigner,
  stagesOf,
  type TargetGroup,
  toTargetCluster,
} from "../../rules/index.ts";
import { chooseRollout, completedOf, outdatedRollouts } from "./choose-rollout.ts";
import { createGateWriter } from "./gate-writer.ts";
import { hasRevision, type Member } from "./member.ts";
import { memberOf } from "./members.ts";
import { type PinnedContent, pinnedContents } from "./pinned-contents.ts";
import { type Revision, type RevisionContent, revisionOf } from "./revision.ts";
import { isRolledOut, needsTests, nextNumber, refuseLarge, stableOf } from "./rollout-facts.ts";
import { createRolloutObjects, type RolloutObjectsDeps } from "./rollout-objects.ts";
import { isOver, withoutGeneration, withoutStages } from "./staged-status.ts";
import { type Promoted, type StepResult, stepRollout } from "./staged-step.ts";
import type { StepInputs } from "./step-inputs.ts";

export interface StagedRolloutsDeps extends Omit<RolloutObjectsDeps, "signer"> {
  readonly gates: Store<Gate>;
  readonly signer: DataSigner;
  readonly deploymentSigner: DeploymentSigner;
  readonly contents: Pick<ContentStore, "ensure" | "read">;
  readonly clock: Pick<Clock, "now">;
}

/** A target cluster of a Bundle, with the content that its spec has for it now. */
export interface StagedPlacement {
  readonly cluster: Cluster;
  readonly namespace: string;
  readonly deploymentId: string;
  readonly referencedObjects: readonly string[];
  readonly isSuspended: boolean;
}

export interface StagedInputs<P extends StagedPlacement> {
  readonly bundle: Bundle;
  readonly strategy: RolloutStrategy;
  readonly placements: readonly P[];
  /** The deployments of the Bundle, as they are known now. */
  readonly existing: () => readonly BundleDeployment[];
  readonly groups: readonly TargetGroup[];
  readonly pack: (target: BundleTarget) => Promise<RevisionContent>;
  /** Makes sure that `existing` has every write of the leader before; returns whether it has not had to do so until now. */
  readonly catchUp: () => Promise<boolean>;
}

/** What one cluster gets. */
export interface StagedTarget<P> {
  readonly placement: P;
  /** Undefined: it keeps what it has, and gets nothing where it has nothing. */
  readonly gets: (PinnedContent & { readonly promotion: Promotion | undefined }) | undefined;
}

export interface StagedPlan<P> {
  readonly targets: readonly StagedTarget<P>[];
  readonly rollout: BundleRollout;
  readonly status: BundleRolloutStatus;
  /** When it may change by time alone, ms since 1970. */
  readonly wakesAtMs: number | undefined;
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
  /** When numbers were stored last, by key of the Bundle. */
  const countedAt = new Map<ObjectKey, number>();

  return {
    forget(key) {
      countedAt.delete(key);
    },
    async end(bundle) {
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
    const members = membersOf(inputs, rollout, contents);
    const stable = rollout.status?.stable ?? stableOf(rollouts, rollout);
    const step = stepInputs(inputs, { rollout, members, stable });
    const { goesBack, isSuperseded, next } = choice;
    const result = stepRollout({ ...step, goesBack, isSuperseded, next });
    if (!result.isStored) {
      await objects.store(rollout, result.status);
      return "again";
    }
    const gateInputs = {
      rollout,
      status: result.status,
      stages: stagesOf(strategy),
      waitingIn: (stage: string) => waitingIn(members, step.assignment, stage),
    };
    const withGates = await gateWriter.ensure(gateInputs);
    if (withGates !== result.status) {
      await objects.store(rollout, withGates);
      return "again";
    }
    if (result.promotions.length > 0 && (await inputs.catchUp())) return "again";
    await gateWriter.conclude(gateInputs);
    for (const outdated of outdatedRollouts(rollouts, strategy)) await objects.remove(outdated);
    const countsAtMs = await storeCounts(bundle, rollout, result.status);
    return {
      targets: await targetsOf(inputs, { rollout, rollouts, contents, members, result }),
      rollout,
      status: result.status,
      wakesAtMs: earlier(result.wakesAtMs, countsAtMs),
    };
  }

  async function startRollout<P extends StagedPlacement>(
    { bundle, existing }: StagedInputs<P>,
    { revision, version, targets, contents }: Revision,
    rollouts: readonly BundleRollout[],
  ): Promise<void> {
    await Promise.all(contents.map((content) => deps.contents.ensure(content)));
    const { targetRestrictions } = bundle.spec;
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
      return new Map(placements.map((placement) => [keyOf(placement.cluster), placement]));
    const clusters = placements.map(({ cluster }) => cluster);
    return await pinnedContents(rollout, clusters, groups, createTimeSlices());
  }

  function membersOf<P extends StagedPlacement>(
    { bundle, placements, existing }: StagedInputs<P>,
    { spec }: BundleRollout,
    contents: ReadonlyMap<ObjectKey, PinnedContent>,
  ): readonly Member[] {
    const deployments = new Map(
      existing()
        .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
        .map((deployment) => [deployment.metadata.namespace, deployment]),
    );
    const skip = new Set(spec.skip ?? []);
    const isHeld = bundle.spec.paused === true || bundle.spec.suspend === true;
    const ordered = [...placements].sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
    return ordered.map(({ cluster, namespace, isSuspended }) => {
      const found = deployments.get(namespace);
      // One of an earlier Cluster of that name is deleted.
      const isOwn = found !== undefined && isForCluster(found, cluster.metadata.uid);
      const deployment = isOwn ? found : undefined;
      return memberOf({
        cluster,
        deployment,
        isSigned:
          deployment !== undefined &&
          deps.deploymentSigner.isSignedFor(deployment, bundle.metadata.uid),
        content: contents.get(keyOf(cluster))?.deploymentId ?? "",
        isHeld: isHeld || isSuspended,
        skip,
      });
    });
  }

  function stepInputs<P extends StagedPlacement>(
    { bundle, strategy, placements, groups }: StagedInputs<P>,
    {
      rollout,
      members,
      stable,
    }: {
      readonly rollout: BundleRollout;
      readonly members: readonly Member[];
      readonly stable: string | undefined;
    },
  ): Omit<StepInputs, "goesBack" | "isSuperseded" | "next"> {
    const matching = new Set(members.filter(({ content }) => content !== "").map(({ key }) => key));
    const clusters = placements
      .map(({ cluster }) => ({ ...toTargetCluster(cluster), key: keyOf(cluster) }))
      .filter(({ key }) => matching.has(key));
    const { namespace = "" } = bundle.metadata;
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
      needsTests: needsTests(bundle),
      facts: {
        isScheduleOpen: () => undefined,
        isRolledOut: (app) => isRolledOut(objects.inNamespace(namespace), app),
        decisionOf({ gate, uid }) {
          const found = deps.gates.get(keyOf({ namespace, name: gate }));
          return found !== undefined && found.metadata.uid === uid
            ? found.status?.decision
            : undefined;
        },
      },
      windowOf: () => undefined,
      nowMs: deps.clock.now(),
    };
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

  async function targetsOf<P extends StagedPlacement>(
    inputs: StagedInputs<P>,
    parts: {
      readonly rollout: BundleRollout;
      readonly rollouts: readonly BundleRollout[];
      readonly contents: ReadonlyMap<ObjectKey, PinnedContent>;
      readonly members: readonly Member[];
      readonly result: StepResult;
    },
  ): Promise<readonly StagedTarget<P>[]> {
    const { rollout, rollouts, contents, members, result } = parts;
    const promoted = new Map(result.promotions.map((each) => [each.member.key, each] as const));
    const byKey = new Map(members.map((member) => [member.key, member] as const));
    const stable = await stableContents(inputs, parts, rollouts);
    const targets: StagedTarget<P>[] = [];
    for (const placement of inputs.placements) {
      const key = keyOf(placement.cluster);
      const [promotion, member] = [promoted.get(key), byKey.get(key)];
      const content = contents.get(key);
      const fallback = stable.get(key);
      if (promotion !== undefined)
        targets.push({
          placement,
          gets: await promotedContent({ rollout, rollouts, own: content }, promotion),
        });
      else if (member !== undefined && hasRevision(member) && content !== undefined)
        targets.push({ placement, gets: { ...pick(content), promotion: member.promotion } });
      else if (member?.desired === "" && !member.isPaused && fallback !== undefined)
        targets.push({ placement, gets: { ...fallback, promotion: undefined } });
      else targets.push({ placement, gets: undefined });
    }
    return targets;
  }

  async function promotedContent(
    {
      rollout,
      rollouts,
      own,
    }: {
      readonly rollout: BundleRollout;
      readonly rollouts: readonly BundleRollout[];
      readonly own: PinnedContent | undefined;
    },
    { member, content, isRollback }: Promoted,
  ): Promise<PinnedContent & { readonly promotion: Promotion }> {
    const promotion = {
      rollout: rollout.metadata.name,
      at: formatTimeMs(deps.clock.now()),
      from: member.desired,
      wasReady: member.isReady,
    };
    const referencedObjects = isRollback
      ? await referencesOf(content, rollouts)
      : (own?.referencedObjects ?? []);
    return { deploymentId: content, referencedObjects, promotion };
  }

  /** The objects that a stored content refers to: a BundleDeployment names those of what it runs alone. */
  async function referencesOf(
    deploymentId: string,
    rollouts: readonly BundleRollout[],
  ): Promise<readonly string[]> {
    const pinned = rollouts
      .flatMap(({ spec }) => spec.targets)
      .find((target) => target.deploymentID === deploymentId);
    if (pinned !== undefined) return pinned.referencedObjects ?? [];
    // Of before the strategy had stages.
    const bytes = await deps.contents.read(deploymentId);
    return formatUsed(usedBy(await unpackContent({ deploymentId, bytes })));
  }

  /** What clusters get that have nothing yet and whose turn has not come: the revision before. */
  async function stableContents<P extends StagedPlacement>(
    { placements, groups }: StagedInputs<P>,
    { members, result }: { readonly members: readonly Member[]; readonly result: StepResult },
    rollouts: readonly BundleRollout[],
  ): Promise<ReadonlyMap<ObjectKey, PinnedContent>> {
    const stable = completedOf(rollouts, result.status.stable);
    const fresh = new Set(members.filter(({ desired }) => desired === "").map(({ key }) => key));
    if (stable === undefined || fresh.size === 0) return new Map();
    const clusters = placements
      .map(({ cluster }) => cluster)
      .filter((each) => fresh.has(keyOf(each)));
    return await pinnedContents(stable, clusters, groups, createTimeSlices());
  }
}

function pick({ deploymentId, referencedObjects }: PinnedContent): PinnedContent {
  return { deploymentId, referencedObjects };
}

function nameOf({ cluster }: StagedPlacement): string {
  return `${cluster.metadata.name} ${cluster.metadata.namespace ?? ""}`;
}

function earlier(one: number | undefined, other: number | undefined): number | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return Math.min(one, other);
}

function waitingIn(
  members: readonly Member[],
  assignment: ReadonlyMap<string, string>,
  stage: string,
): readonly string[] {
  return members
    .filter((member) => assignment.get(member.key) === stage && !hasRevision(member))
    .map(({ key }) => key);
}
