/** HelmReleases as the leader runs them. */
import type { FluxCaches } from "../../base/index.ts";
import type { FrontEndParts, RunningFrontEnd } from "../lifecycle/running.ts";
import {
  createHelmReleaseController,
  type HelmReleaseControllerDeps,
  releasesOfBundle,
} from "./controller.ts";
import { createHelmReleasePublisher, type HelmReleasePublisherDeps } from "./publisher.ts";
import { createYieldToFluxController } from "./yield-to-flux.ts";

export interface HelmReleaseRunDeps
  extends FrontEndParts,
    Omit<HelmReleaseControllerDeps, "statuses">,
    Pick<HelmReleasePublisherDeps, "observer"> {
  readonly flux: FluxCaches;
}

export function runHelmReleases(deps: HelmReleaseRunDeps): RunningFrontEnd {
  const { flux } = deps;
  // A reconcile or a write of a status may be in progress when Flux's controllers start.
  const fenced = { ...deps, rest: flux.fence(deps.rest) };
  const statuses = createHelmReleasePublisher(fenced);
  return {
    kind: "HelmRelease",
    controllers: [
      createHelmReleaseController({ ...fenced, statuses }),
      createYieldToFluxController(deps),
    ],
    flush: statuses.flush,
    refresh(bundle) {
      for (const release of releasesOfBundle(flux, bundle)) statuses.refresh(release);
    },
    refreshLater(bundle) {
      for (const release of releasesOfBundle(flux, bundle)) statuses.refreshLater(release);
    },
    objectOf: (key) => flux.helmReleases.store.get(key),
  };
}
