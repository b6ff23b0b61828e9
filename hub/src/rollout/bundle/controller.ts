/** The controller of Bundles: what it watches, and how a change maps to keys. */
import { isDeepStrictEqual } from "node:util";
import type { Bundle, BundleDeployment, BundleStatus, Cluster } from "@flotilla/shared/api";
import { hubNamespace } from "@flotilla/shared/api/names";
import type { Semaphore } from "@flotilla/shared/concurrency";
import { byNamespace, type Change } from "@flotilla/shared/kube/cache";
import {
  type Controller,
  createController,
  isExistenceChange,
  isSpecChange,
  ownKey,
  through,
  type Watch,
  watch,
} from "@flotilla/shared/kube/controller";
import { keyOf, type ObjectKey, refOf } from "@flotilla/shared/kube/objects";
import type { Patterns } from "@flotilla/shared/regex";
import {
  bundleKeyOf,
  byRolloutNamespace,
  byRolloutPolicy,
  type ControllerDeps,
  type Publisher,
  presenceOf,
  userFields,
} from "../../base/index.ts";
import type { StatusObserver } from "../../events/index.ts";
import { isAppliedByHand } from "../../frontends/index.ts";
import {
  type ChartAccess,
  type ChartResolver,
  type ContentStore,
  createDeploymentSigner,
  createRolloutStrategies,
  type HubRules,
  isFetchFailureChange,
  type Mappings,
  mayHold,
  type PinSigner,
  policiesIn,
  type Schedules,
  signatureOf,
} from "../../rules/index.ts";
import { runPlanCollection } from "../plan/collect-plans.ts";
import type { AskAgent } from "../plan/plan-outcome.ts";
import { createPlanner } from "../stageplan/planner.ts";
import { createStagedPlans } from "../stageplan/staged-plans.ts";
import { createRolloutWindows } from "../stages/rollout-windows.ts";
import { createStagedRollouts, type StagedRolloutsDeps } from "../stages/staged-rollouts.ts";
import { stagedWatches } from "../stages/staged-watches.ts";
import { clusterWatch } from "./cluster-watch.ts";
import { coalesce } from "./coalesce.ts";
import { mappingWatches } from "./mapping-watches.ts";
import { createContentPacker, type Pack } from "./place.ts";
import { bundlePreparer, type OwnerOf } from "./prepare.ts";
import { bundleReconciler } from "./reconcile.ts";

export interface BundleControllerDeps extends ControllerDeps, HubRules {
  readonly statuses: Publisher<BundleStatus, Bundle>;
  readonly access: ChartAccess;
  /** The Secrets that Bundles without a HelmOp refer to. */
  readonly secrets: Watch;
  readonly charts: ChartResolver;
  readonly schedules: Pick<Schedules, "coverageOf" | "judge">;
  readonly mappings: Mappings;
  readonly contents: Pick<ContentStore, "ensure" | "read">;
  readonly patterns: Patterns;
  /** How a content is packed; by default as agents expect it. */
  readonly pack?: Pack;
  readonly signer: PinSigner;
  /** As for staged rollouts. */
  readonly unverifiedApprovals?: boolean | undefined;
  /** The events of staged rollouts. */
  readonly observer?: Pick<StatusObserver, "rollout"> | undefined;
  /** Objects of front ends, which Bundles are made for. */
  readonly ownerOf: OwnerOf;
  /** Called with the key of each BundleDeployment that was written. */
  readonly onWritten: (key: ObjectKey) => void;
  readonly deploymentWrites: Semaphore;
  /** Rolls up the statuses that depend on a Bundle. */
  readonly refresh: (key: ObjectKey) => void;
  /** Asks the agent of a cluster what would change. */
  readonly askAgent: AskAgent;
}

/** One reconcile may wait five minutes for a large index of a slow repository, as in Fleet. */
const timeoutMs = 6 * 60_000;

export function createBundleController(deps: BundleControllerDeps): Controller {
  const { caches } = deps;
  const deploymentSigner = createDeploymentSigner(deps.signer);
  const planner = createPlanner({ ...deps, ask: deps.askAgent });
  const controller: Controller = createController({
    name: "bundle",
    workers: 16,
    timeoutMs,
    reconcile: bundleReconciler({
      ...deps,
      bundles: caches.bundles.store,
      deployments: caches.deployments.store,
      clusters: caches.clusters.store,
      groups: caches.groups.store,
      packer: createContentPacker(deps.pack),
      policy: {
        policies: caches.policies.store,
        patterns: deps.patterns,
        requireServiceAccount: deps.requireServiceAccount,
      },
      deploymentSigner,
      staged: createStagedRollouts({
        ...deps,
        rollouts: caches.rollouts.store,
        gates: caches.gates.store,
        windows: createRolloutWindows({ schedules: caches.schedules.store, rules: deps.schedules }),
        deploymentSigner,
        beforeWrite: rolloutObserver(deps),
        plans: createStagedPlans({
          rest: deps.rest,
          planner,
          namespace: hubNamespace,
          onPlanned: (key) => controller.enqueue(key),
        }),
      }),
      prepare: bundlePreparer({
        ...deps,
        helmOps: caches.helmOps.store,
        policies: caches.policies.store,
        strategies: createRolloutStrategies(caches.rolloutPolicies.store),
      }),
      policiesIn: (namespaces) => policiesIn(caches.policies.store, namespaces, deps),
    }),
    logFields: (key) => userFields(caches.bundles.store.get(key)),
    log: deps.log,
    metrics: deps.metrics,
    clock: deps.clock,
    watches: bundleWatches(deps, (key, delayMs) => controller.enqueueAfter(key, delayMs)),
  });
  return {
    ...controller,
    async run(signal, abort) {
      const ending = new AbortController();
      const collecting = runPlanCollection(
        { ...deps, rollouts: caches.rollouts.store, namespace: hubNamespace },
        AbortSignal.any([signal, ending.signal]),
      );
      try {
        await controller.run(signal, abort);
      } finally {
        planner.stop();
        ending.abort();
        await collecting;
      }
    },
  };
}

/** Tells the app about its rollout. A forged BundleRollout never gets here: the hub writes the status of its own alone. */
function rolloutObserver({
  caches,
  observer,
  ownerOf,
}: Pick<
  BundleControllerDeps,
  "caches" | "observer" | "ownerOf"
>): StagedRolloutsDeps["beforeWrite"] {
  return (rollout, next) => {
    const { app, bundle: of } = rollout.spec;
    const { namespace = "" } = rollout.metadata;
    const bundle = caches.bundles.store.get(keyOf({ namespace, name: of.name }));
    if (bundle === undefined || bundle.metadata.uid !== of.uid) return;
    const owner = ownerOf(app.kind, keyOf({ namespace, name: app.name }));
    observer?.rollout({ rollout, bundle, app: owner }, next);
  };
}

export function bundleWatches(
  {
    caches,
    statuses,
    mappings,
    secrets,
    clock,
  }: Pick<BundleControllerDeps, "caches" | "statuses" | "mappings" | "secrets" | "clock">,
  enqueueAfter: (key: ObjectKey, delayMs: number) => void,
): readonly Watch[] {
  const { helmOps, bundles, deployments, clusters, groups, policies, schedules } = caches;
  const { rolloutPolicies } = caches;
  const { strategyOf } = createRolloutStrategies(rolloutPolicies.store);
  const coalesced = coalesce(enqueueAfter, clusters.store, clock);

  function bundlesOfNamespace({ key }: Pick<Change<Bundle>, "key">): readonly ObjectKey[] {
    const { namespace = "" } = refOf(key);
    const [own, placed] = [
      bundles.store.byIndex(byNamespace, namespace),
      mappings.bundlesFor(namespace),
    ];
    return [...new Set([...own, ...placed].map(keyOf))];
  }

  function appliedByHand(change: Change<BundleDeployment>): readonly ObjectKey[] {
    return bundleOf(change).filter((key) => {
      const bundle = bundles.store.get(key);
      return bundle !== undefined && isAppliedByHand(bundle, helmOps.store.get(key));
    });
  }

  /** Other Bundles cost nothing more: their deployments are promoted whatever agents report. */
  function isLimited(bundle: Bundle): boolean {
    return mayHold(strategyOf(bundle), clusters.store.size);
  }

  function limitedOf(change: Change<BundleDeployment>): readonly ObjectKey[] {
    return bundleOf(change).filter((key) => {
      const bundle = bundles.store.get(key);
      return bundle !== undefined && isLimited(bundle);
    });
  }

  function limitedIn({ key }: Change<Cluster>): readonly ObjectKey[] {
    const { namespace = "" } = refOf(key);
    return mappings.bundlesFor(namespace, byRolloutNamespace).filter(isLimited).map(keyOf);
  }

  return [
    watch(bundles, {
      predicate: (change) => isSpecChange(change) || arePinsStored(change),
      toKeys: ownKey,
    }),
    // A Bundle without its HelmOp was applied by hand.
    watch(helmOps, { predicate: isExistenceChange, toKeys: ownKey, replay: false }),
    watch(policies, { predicate: isSpecChange, toKeys: bundlesOfNamespace, replay: false }),
    watch(groups, { predicate: isSpecChange, toKeys: bundlesOfNamespace, replay: false }),
    watch(rolloutPolicies, {
      predicate: isSpecChange,
      toKeys: ({ key }) => bundles.store.byIndex(byRolloutPolicy, key).map(keyOf),
      replay: false,
    }),
    // Its windows open and close by themselves: each reconcile says when the next one is.
    watch(schedules, { predicate: isSpecChange, toKeys: bundlesOfNamespace, replay: false }),
    ...mappingWatches(caches),
    through(clusterWatch({ caches, statuses, mappings }), coalesced),
    through(
      watch(deployments, {
        predicate: (change) =>
          change.before !== undefined &&
          (isSpecChange(change) || isSignatureChange(change) || isAppliedOffSchedule(change)),
        toKeys: bundleOf,
        replay: false,
      }),
      coalesced,
    ),
    // What a rollout waits for.
    through(
      watch(deployments, { predicate: isProgressChange, toKeys: limitedOf, replay: false }),
      coalesced,
    ),
    through(
      watch(clusters, { predicate: isConnectionChange, toKeys: limitedIn, replay: false }),
      coalesced,
    ),
    through(
      watch(deployments, {
        predicate: isFetchFailureChange,
        toKeys: appliedByHand,
        replay: false,
      }),
      coalesced,
    ),
    secrets,
    ...stagedWatches(caches, strategyOf, mappings).map((each) => through(each, coalesced)),
  ];
}

/** Predicate: the API server has other pins now, which may be deployed. */
function arePinsStored({ before, after }: Change<Bundle>): boolean {
  return !isDeepStrictEqual(before?.status?.pins, after?.status?.pins);
}

/** Predicate: another content was applied, or what is applied became ready or not ready. */
function isProgressChange({ before, after }: Change<BundleDeployment>): boolean {
  const [a, b] = [before?.status, after?.status];
  return a?.appliedDeploymentID !== b?.appliedDeploymentID || a?.ready !== b?.ready;
}

/** Predicate: an agent connected, or is not connected any more. */
function isConnectionChange({ before, after }: Change<Cluster>): boolean {
  return before !== undefined && after !== undefined && presenceOf(before) !== presenceOf(after);
}

/** Predicate: what was in flight when a window closed has been applied, so it is not held any more. */
function isAppliedOffSchedule({ before, after }: Change<BundleDeployment>): boolean {
  return (
    after?.spec.offSchedule === true &&
    before?.status?.appliedDeploymentID !== after.status?.appliedDeploymentID &&
    after.status?.appliedDeploymentID === after.spec.deploymentID
  );
}

/** Predicate: somebody has removed the signature of a deployment, or written another one. */
function isSignatureChange({ before, after }: Change<BundleDeployment>): boolean {
  return before !== undefined && after !== undefined && signatureOf(before) !== signatureOf(after);
}

/** Map function: the Bundle that a deployment was made for. */
function bundleOf({ before, after }: Change<BundleDeployment>): readonly ObjectKey[] {
  const deployment = after ?? before;
  return deployment === undefined ? [] : [bundleKeyOf(deployment)];
}
