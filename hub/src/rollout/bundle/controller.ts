/** The controller of Bundles: what it watches, and how a change maps to keys. */
import { isDeepStrictEqual } from "node:util";
import type { Bundle, BundleStatus, Cluster } from "@flotilla/shared/api";
import { hubNamespace } from "@flotilla/shared/api/names";
import type { Semaphore } from "@flotilla/shared/concurrency";
import { byNamespace, type Change } from "@flotilla/shared/kube/cache";
import {
  type Controller,
  createController,
  type Enqueue,
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
  byRolloutNamespace,
  byRolloutPolicy,
  type ControllerDeps,
  type Publisher,
  presenceOf,
  userFields,
} from "../../base/index.ts";
import type { StatusObserver } from "../../events/index.ts";
import {
  type ChartAccess,
  type ChartResolver,
  type ContentStore,
  createAwaitedApps,
  createDeploymentSigner,
  createMissingReferences,
  createRolloutStrategies,
  type DeploymentSigner,
  type HubRules,
  type Mappings,
  mayHold,
  type PinSigner,
  policiesIn,
  type Schedules,
  type WorkspaceObjects,
} from "../../rules/index.ts";
import { runPlanCollection } from "../plan/collect-plans.ts";
import type { AskAgent } from "../plan/plan-outcome.ts";
import { createPlanner } from "../stageplan/planner.ts";
import { createStagedPlans } from "../stageplan/staged-plans.ts";
import { createRolloutWindows } from "../stages/rollout-windows.ts";
import { createStagedRollouts, type StagedRolloutsDeps } from "../stages/staged-rollouts.ts";
import { decisionWatches, stagedWatches } from "../stages/staged-watches.ts";
import { clusterWatch, isTargetingChange } from "./cluster-watch.ts";
import { type Coalescer, coalesce, createCoalescer } from "./coalesce.ts";
import { deploymentWatches } from "./deployment-watches.ts";
import { createHubValues, watchValues } from "./hub-values.ts";
import { mappingWatches } from "./mapping-watches.ts";
import { createContentPacker, type Pack } from "./place.ts";
import { bundlePreparer, type OwnerOf } from "./prepare.ts";
import { bundleReconciler } from "./reconcile.ts";
import { createReportPasses, type ReportPasses } from "./report-passes.ts";

export interface BundleControllerDeps extends ControllerDeps, HubRules {
  readonly statuses: Publisher<BundleStatus, Bundle>;
  readonly access: ChartAccess;
  /** The Secrets that Bundles without a HelmOp refer to. */
  readonly secrets: Watch;
  /** Objects with values, which belong to the contents of Bundles with stages. */
  readonly objects: Pick<WorkspaceObjects, "watch" | "unwatch" | "known" | "onChange">;
  readonly charts: ChartResolver;
  readonly schedules: Pick<Schedules, "coverageOf" | "judge" | "windowsOf">;
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
  const strategies = createRolloutStrategies(caches.rolloutPolicies.store);
  const awaited = createAwaitedApps({ bundles: caches.bundles.store, strategies });
  const planner = createPlanner({ ...deps, ask: deps.askAgent });
  // A budget each: neither a decision nor the end of a stage waits for what many clusters do meanwhile.
  const newCoalescer = () => createCoalescer(caches.clusters.store, deps.clock);
  const coalescer = newCoalescer();
  const decisions = newCoalescer();
  const passes = createReportPasses(deps.clock, newCoalescer());
  const values = createHubValues(deps);
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
      values,
      policy: {
        policies: caches.policies.store,
        patterns: deps.patterns,
        requireServiceAccount: deps.requireServiceAccount,
      },
      deploymentSigner,
      passes,
      staged: createStagedRollouts({
        ...deps,
        rollouts: caches.rollouts.store,
        gates: caches.gates.store,
        bundles: caches.bundles.store,
        strategyOf: strategies.strategyOf,
        awaited,
        windows: createRolloutWindows({ schedules: caches.schedules.store, rules: deps.schedules }),
        deploymentSigner,
        beforeWrite: rolloutObserver(deps),
        plans: createStagedPlans({
          rest: deps.rest,
          planner,
          namespace: hubNamespace,
          onPlanned(key) {
            passes.changed(key);
            controller.enqueue(key);
          },
        }),
      }),
      prepare: bundlePreparer({
        ...deps,
        helmOps: caches.helmOps.store,
        policies: caches.policies.store,
        strategies,
        awaited,
        references: createMissingReferences({
          schedules: caches.schedules.store,
          strategies,
          awaited,
        }),
      }),
      policiesIn: (namespaces) => policiesIn(caches.policies.store, namespaces, deps),
    }),
    logFields: (key) => userFields(caches.bundles.store.get(key)),
    log: deps.log,
    metrics: deps.metrics,
    clock: deps.clock,
    watches: [
      ...bundleWatches(
        { ...deps, coalescer, decisions, passes, deploymentSigner },
        (key, delayMs) => controller.enqueueAfter(key, delayMs),
      ),
      through(watchValues(deps.objects, values), noting(passes)),
    ],
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

/** Whatever is not a report of one cluster needs a pass over all. */
function noting({ changed }: Pick<ReportPasses, "changed">) {
  return (enqueue: Enqueue) =>
    (key: ObjectKey): void => {
      changed(key);
      enqueue(key);
    };
}

export interface BundleWatchDeps
  extends Pick<BundleControllerDeps, "caches" | "statuses" | "mappings" | "secrets"> {
  readonly coalescer: Coalescer;
  /** For what somebody decides. */
  readonly decisions: Coalescer;
  readonly passes: Pick<ReportPasses, "reported" | "changed">;
  readonly deploymentSigner: Pick<DeploymentSigner, "replaced">;
}

export function bundleWatches(
  deps: BundleWatchDeps,
  enqueueAfter: (key: ObjectKey, delayMs: number) => void,
): readonly Watch[] {
  const { caches, statuses, mappings, secrets, coalescer, decisions, passes } = deps;
  const { helmOps, bundles, clusters, groups, policies, schedules } = caches;
  const { rolloutPolicies } = caches;
  const { strategyOf } = createRolloutStrategies(rolloutPolicies.store);
  const coalesced = coalesce(enqueueAfter, coalescer);
  const decided = coalesce(enqueueAfter, decisions);

  function bundlesOfNamespace({ key }: Pick<Change<Bundle>, "key">): readonly ObjectKey[] {
    const { namespace = "" } = refOf(key);
    const [own, placed] = [
      bundles.store.byIndex(byNamespace, namespace),
      mappings.bundlesFor(namespace),
    ];
    return [...new Set([...own, ...placed].map(keyOf))];
  }

  function limitedIn({ key }: Change<Cluster>): readonly ObjectKey[] {
    const { namespace = "" } = refOf(key);
    return mappings
      .bundlesFor(namespace, byRolloutNamespace)
      .filter((bundle) => mayHold(strategyOf(bundle), clusters.store.size))
      .map(keyOf);
  }

  const atOnce = [
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
    secrets,
  ];
  const together = [
    clusterWatch({ caches, statuses, mappings }),
    watch(clusters, { predicate: isConnectionChange, toKeys: limitedIn, replay: false }),
    ...stagedWatches(caches, strategyOf, mappings),
  ];
  const noted = noting(passes);
  return [
    // Which Bundles it concerns is only known after a while.
    {
      start: () =>
        clusters.onChange((change) => void (isTargetingChange(change) && passes.changed())),
    },
    ...atOnce.map((each) => through(each, noted)),
    ...together.map((each) => through(each, (enqueue) => noted(coalesced(enqueue)))),
    // With a budget of their own: a decision does not wait for reports, and a thousand decisions a second are not one pass each.
    ...decisionWatches(caches).map((each) => through(each, (enqueue) => noted(decided(enqueue)))),
    ...deploymentWatches({ ...deps, signer: deps.deploymentSigner, strategyOf, coalesced }),
  ];
}

/** Predicate: the API server has other pins now, which may be deployed. */
function arePinsStored({ before, after }: Change<Bundle>): boolean {
  return !isDeepStrictEqual(before?.status?.pins, after?.status?.pins);
}

/** Predicate: an agent connected, or is not connected any more. */
function isConnectionChange({ before, after }: Change<Cluster>): boolean {
  return before !== undefined && after !== undefined && presenceOf(before) !== presenceOf(after);
}
