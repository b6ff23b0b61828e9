/** What changes of BundleDeployments mean for the Bundles that they were made for. */
import type { Bundle, BundleDeployment } from "@flotilla/shared/api";
import type { Change } from "@flotilla/shared/kube/cache";
import {
  type Enqueue,
  isSpecChange,
  through,
  type Watch,
  watch,
} from "@flotilla/shared/kube/controller";
import type { ObjectKey } from "@flotilla/shared/kube/objects";
import { bundleKeyOf, type ControllerDeps, clusterKeyOf } from "../../base/index.ts";
import { isAppliedByHand } from "../../frontends/index.ts";
import {
  type DeploymentSigner,
  isFetchFailureChange,
  isStaged,
  mayHold,
  type RolloutStrategies,
  signatureOf,
} from "../../rules/index.ts";
import { isReport } from "../stages/staged-watches.ts";
import type { ReportPasses } from "./report-passes.ts";

export interface DeploymentWatchDeps {
  readonly caches: Pick<
    ControllerDeps["caches"],
    "bundles" | "clusters" | "deployments" | "helmOps"
  >;
  readonly strategyOf: RolloutStrategies["strategyOf"];
  readonly signer: Pick<DeploymentSigner, "replaced">;
  readonly passes: Pick<ReportPasses, "reported" | "changed">;
  /** Coalesces passes over all clusters. */
  readonly coalesced: (enqueue: Enqueue) => Enqueue;
}

/** They replay nothing: a Bundle is replayed itself. */
export function deploymentWatches({
  caches: { bundles, clusters, deployments, helmOps },
  strategyOf,
  signer,
  passes,
  coalesced,
}: DeploymentWatchDeps): readonly Watch[] {
  function bundleWith(
    change: Change<BundleDeployment>,
    isConcerned: (bundle: Bundle, key: ObjectKey) => boolean,
  ): readonly ObjectKey[] {
    return bundleOf(change).filter((key) => {
      const bundle = bundles.store.get(key);
      return bundle !== undefined && isConcerned(bundle, key);
    });
  }

  const isStagedBundle = (bundle: Bundle): boolean => isStaged(strategyOf(bundle));
  /** Other Bundles cost nothing more: their deployments are promoted whatever agents report. */
  const isLimited = (bundle: Bundle): boolean =>
    mayHold(strategyOf(bundle), clusters.store.size) && !isStagedBundle(bundle);

  /** One cluster has changed. */
  const ofOneCluster: Watch = {
    start(enqueue) {
      const later = coalesced(enqueue);
      return deployments.onChange((change) => {
        const { before, after } = change;
        if (before !== undefined && after !== undefined) signer.replaced(before, after);
        const keys = isChangeOfSpec(change)
          ? bundleOf(change)
          : isReport(change)
            ? bundleWith(change, isStagedBundle)
            : [];
        for (const key of keys) {
          if (after === undefined) passes.changed(key);
          const isShort = after !== undefined && passes.reported(key, clusterKeyOf(after));
          if (isShort) enqueue(key);
          else later(key);
        }
      });
    },
  };

  return [
    ofOneCluster,
    // What limits wait for.
    through(
      watch(deployments, {
        predicate: isProgressChange,
        toKeys: (change) => bundleWith(change, isLimited),
        replay: false,
      }),
      coalesced,
    ),
    through(
      watch(deployments, {
        predicate: isFetchFailureChange,
        toKeys: (change) =>
          bundleWith(change, (bundle, key) => isAppliedByHand(bundle, helmOps.store.get(key))),
        replay: false,
      }),
      (enqueue) => {
        const later = coalesced(enqueue);
        return (key) => {
          passes.changed(key);
          later(key);
        };
      },
    ),
  ];
}

/** Predicate: what the hub wants of a deployment that exists may be another thing. */
function isChangeOfSpec(change: Change<BundleDeployment>): boolean {
  return (
    change.before !== undefined &&
    (isSpecChange(change) || isSignatureChange(change) || isAppliedOffSchedule(change))
  );
}

/** Predicate: another content was applied, or what is applied became ready or not ready. */
function isProgressChange({ before, after }: Change<BundleDeployment>): boolean {
  const [a, b] = [before?.status, after?.status];
  return a?.appliedDeploymentID !== b?.appliedDeploymentID || a?.ready !== b?.ready;
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
