/** What staged rollouts wait for besides reports: decisions of Gates, commands of users, other apps, and the presence of their clusters. */
import { isDeepStrictEqual } from "node:util";
import type { Bundle, BundleDeployment, Cluster } from "@flotilla/shared/api";
import type { BundleRollout } from "@flotilla/shared/api/rollout";
import type { Change } from "@flotilla/shared/kube/cache";
import { isSpecChange, type Watch, watch } from "@flotilla/shared/kube/controller";
import { keyOf, type ObjectKey, refOf } from "@flotilla/shared/kube/objects";
import {
  awaitsRollouts,
  byAwaiting,
  byRolloutNamespace,
  type ControllerDeps,
  presenceOf,
} from "../../base/index.ts";
import { isStaged, type Mappings, type RolloutStrategies } from "../../rules/index.ts";

type Caches = Pick<
  ControllerDeps["caches"],
  "bundles" | "clusters" | "gates" | "rolloutPolicies" | "rollouts"
>;

/** What somebody decides: commands to a rollout, and Gates. They deliver keys of Bundles. */
export function decisionWatches({
  gates,
  rollouts,
}: Pick<Caches, "gates" | "rollouts">): readonly Watch[] {
  return [
    watch(rollouts, {
      predicate: isSpecChange,
      toKeys: ({ before, after }) =>
        [after ?? before].flatMap((each) =>
          each === undefined
            ? []
            : [keyOf({ namespace: each.metadata.namespace ?? "", name: each.spec.bundle.name })],
        ),
      replay: false,
    }),
    watch(gates, {
      predicate: ({ before, after }) =>
        after === undefined || !isDeepStrictEqual(before?.status?.decision, after.status?.decision),
      toKeys({ before, after }) {
        const gate = after ?? before;
        const { namespace = "" } = gate?.metadata ?? {};
        const rollout = rollouts.store.get(
          keyOf({ namespace, name: gate?.spec.rollout.name ?? "" }),
        );
        return rollout === undefined ? [] : [keyOf({ namespace, name: rollout.spec.bundle.name })];
      },
      replay: false,
    }),
  ];
}

/** Everything else. They deliver keys of Bundles. */
export function stagedWatches(
  { bundles, clusters, rolloutPolicies, rollouts }: Omit<Caches, "gates">,
  strategyOf: RolloutStrategies["strategyOf"],
  mappings: Pick<Mappings, "bundlesFor">,
): readonly Watch[] {
  return [
    // The gates of other apps may wait for it.
    watch(rollouts, {
      predicate: isCompletion,
      toKeys: ({ key }) => awaitingIn(key),
      replay: false,
    }),
    watch(bundles, {
      predicate: isOtherStrategy,
      toKeys: ({ key }) => awaitingIn(key),
      replay: false,
    }),
    watch(rolloutPolicies, {
      predicate: isSpecChange,
      toKeys: ({ key }) => awaitingIn(key),
      replay: false,
    }),
    watch(clusters, {
      predicate: isPromotableChange,
      toKeys: ({ key }) =>
        mappings
          .bundlesFor(refOf(key).namespace ?? "", byRolloutNamespace)
          .map(keyOf)
          .filter(isStagedKey),
      replay: false,
    }),
  ];

  /** The Bundles of the namespace of an object whose gates wait for other apps. */
  function awaitingIn(key: ObjectKey): readonly ObjectKey[] {
    return bundles.store
      .byIndex(byAwaiting, refOf(key).namespace ?? "")
      .filter((bundle) => awaitsRollouts(strategyOf(bundle)))
      .map(keyOf);
  }

  function isStagedKey(key: ObjectKey): boolean {
    const bundle = bundles.store.get(key);
    return bundle !== undefined && isStaged(strategyOf(bundle));
  }
}

/** Predicate: the rollout, or a stage of it, is completed. */
function isCompletion({ before, after }: Change<BundleRollout>): boolean {
  const completed = ({ status }: BundleRollout) =>
    [status, ...(status?.stages ?? [])].filter((each) => each?.phase === "Completed").length;
  return after !== undefined && completed(after) !== (before === undefined ? 0 : completed(before));
}

/** Predicate: an app appears or is gone, or has another strategy. */
function isOtherStrategy({ before, after }: Change<Bundle>): boolean {
  const [a, b] = [before?.spec.rolloutStrategy, after?.spec.rolloutStrategy];
  return (
    before === undefined ||
    after === undefined ||
    before.metadata.deletionTimestamp !== after.metadata.deletionTimestamp ||
    (a !== b && !isDeepStrictEqual(a, b))
  );
}

/** Predicate: the class of the cluster in a rollout may be another one. */
export function isReport({ before, after }: Change<BundleDeployment>): boolean {
  if (before === undefined || after === undefined) return false;
  const [a, b] = [before.status, after.status];
  return (
    a !== b &&
    (a?.ready !== b?.ready ||
      a?.appliedDeploymentID !== b?.appliedDeploymentID ||
      a?.attemptedDeploymentID !== b?.attemptedDeploymentID ||
      a?.lastRequest?.token !== b?.lastRequest?.token ||
      !isDeepStrictEqual(a?.conditions, b?.conditions))
  );
}

/** Predicate: whether the cluster may be promoted has changed. */
function isPromotableChange({ before, after }: Change<Cluster>): boolean {
  if (before === undefined || after === undefined) return false;
  return (
    presenceOf(before) !== presenceOf(after) ||
    before.status?.scheduled !== after.status?.scheduled ||
    before.status?.activeSchedule !== after.status?.activeSchedule
  );
}
