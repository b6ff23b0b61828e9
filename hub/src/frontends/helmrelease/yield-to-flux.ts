/**
 * Leaves releases to Flux: while its controllers run beside the hub, the Bundles of HelmReleases are suspended, because
 * helm-controller and an agent would undo each other's upgrades. Once they are gone, each HelmRelease plans its Bundle
 * again, which resumes it.
 */
import type { Bundle } from "@flotilla/shared/api";
import { appInLabels } from "@flotilla/shared/api/apps";
import {
  type Controller,
  createController,
  done,
  ownKey,
  type Reconcile,
  watch,
} from "@flotilla/shared/kube/controller";
import type { EventRecorder } from "@flotilla/shared/kube/events";
import { keyOf } from "@flotilla/shared/kube/objects";
import type { ControllerDeps, FluxCaches } from "../../base/index.ts";
import { type OwnBundleDeps, type PinSigner, setSuspended } from "../../rules/index.ts";

export interface YieldToFluxDeps extends OwnBundleDeps {
  readonly flux: Pick<FluxCaches, "isLeftToFlux">;
  readonly events: EventRecorder;
}

export function createYieldToFluxController(
  deps: ControllerDeps & {
    readonly flux: Pick<FluxCaches, "isLeftToFlux" | "onLeft">;
    readonly signer: PinSigner;
  },
): Controller {
  const { caches, flux, clock, log, metrics } = deps;
  return createController({
    name: "helmrelease-yield",
    workers: 4,
    clock,
    log,
    metrics,
    watches: [
      watch(caches.bundles, {
        predicate: ({ after }) => after !== undefined && isOfHelmRelease(after),
        toKeys: ownKey,
      }),
      {
        start: (enqueue) =>
          flux.onLeft(() => {
            for (const bundle of caches.bundles.store.list())
              if (isOfHelmRelease(bundle)) enqueue(keyOf(bundle));
          }),
      },
    ],
    reconcile: yieldToFlux({ ...deps, bundles: caches.bundles.store }),
  });
}

export function yieldToFlux(deps: YieldToFluxDeps): Reconcile {
  return async (key, { signal }) => {
    const bundle = deps.bundles.get(key);
    if (!deps.flux.isLeftToFlux() || bundle === undefined || !isOfHelmRelease(bundle))
      return done();
    if (bundle.metadata.deletionTimestamp !== undefined) return done();
    if (await setSuspended(deps, bundle, true, signal))
      deps.events.record(bundle, {
        type: "Normal",
        reason: "LeftToFlux",
        action: "Suspend",
        note: "Flux's controllers run in the hub's cluster, so the agents leave the release of this HelmRelease as it is until the Leases of these controllers are deleted",
      });
    return done();
  };
}

/** Whether a Bundle was made for a HelmRelease, whichever one. */
function isOfHelmRelease({ metadata }: Bundle): boolean {
  return appInLabels(metadata.labels)?.kind === "HelmRelease";
}
