/** The controllers of Flux's kinds, put together. */
import type { Bundle } from "@flotilla/shared/api";
import type { Controller } from "@flotilla/shared/kube/controller";
import type { ObjectKey } from "@flotilla/shared/kube/objects";
import type { Patterns } from "@flotilla/shared/regex";
import { chartsOfHelmRepositories, createHelmChartController } from "../helmchart/index.ts";
import {
  createHelmReleaseController,
  createHelmReleasePublisher,
  releasesOfBundle,
} from "../helmrelease/index.ts";
import { createHelmRepositoryController } from "../helmrepository/index.ts";
import { createOciRepositoryController } from "../ocirepository/index.ts";
import type { Aggregates } from "../summary/index.ts";
import type { FluxDeps, RunDeps } from "./deps.ts";

export interface FluxControllers {
  readonly all: readonly Controller[];
  readonly publishers: readonly { readonly flush: () => Promise<void> }[];
  /** The state of a Bundle has changed. */
  refreshBundle(key: ObjectKey): void;
  refreshBundleLater(key: ObjectKey): void;
}

export interface FluxParts {
  readonly aggregates: Aggregates;
  readonly decided: (bundle: Bundle) => Bundle;
  readonly patterns: Patterns;
}

export function createFluxControllers(
  deps: RunDeps,
  { informers: flux, readIndex, artifacts, options }: FluxDeps,
  parts: FluxParts,
): FluxControllers {
  const statuses = createHelmReleasePublisher({ ...deps, ...parts, flux });
  const helmRepositories = createHelmRepositoryController({ ...deps, flux, readIndex });
  const ociRepositories = createOciRepositoryController({ ...deps, flux, artifacts });
  const helmCharts = createHelmChartController({
    ...deps,
    flux,
    sources: {
      HelmRepository: chartsOfHelmRepositories({
        store: flux.helmRepositories.store,
        resolver: deps.resolver,
        artifacts,
      }),
    },
  });
  const helmReleases = createHelmReleaseController({ ...deps, ...parts, flux, statuses, options });
  return {
    all: [
      helmRepositories.controller,
      ociRepositories.controller,
      helmCharts.controller,
      helmReleases,
    ],
    publishers: [
      helmRepositories.statuses,
      ociRepositories.statuses,
      helmCharts.statuses,
      statuses,
    ],
    refreshBundle(key) {
      for (const release of releasesOfBundle(flux, key)) statuses.refresh(release);
    },
    refreshBundleLater(key) {
      for (const release of releasesOfBundle(flux, key)) statuses.refreshLater(release);
    },
  };
}
