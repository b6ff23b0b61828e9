/** The controllers of Flux's kinds, put together. */
import type { Bundle } from "@flotilla/shared/api";
import type { Controller } from "@flotilla/shared/kube/controller";
import type { ObjectKey } from "@flotilla/shared/kube/objects";
import type { Patterns } from "@flotilla/shared/regex";
import { createBucketController, createBucketListings } from "../bucket/index.ts";
import { chartsOfGitRepositories, createGitRepositoryController } from "../gitrepository/index.ts";
import {
  chartsOfBuckets,
  chartsOfHelmRepositories,
  createHelmChartController,
} from "../helmchart/index.ts";
import {
  createHelmReleaseController,
  createHelmReleasePublisher,
  createYieldToFluxController,
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
  runDeps: RunDeps,
  fluxDeps: FluxDeps,
  parts: FluxParts,
): FluxControllers {
  const { informers: flux, readIndex, gitParts, bucketClient, artifacts } = fluxDeps;
  const { options, durations, budget, readChart } = fluxDeps;
  const deps = {
    ...runDeps,
    // A reconcile or a write of a status may be in progress when Flux's controllers start.
    rest: flux.fence(runDeps.rest),
    durations,
  };
  const statuses = createHelmReleasePublisher({ ...deps, ...parts, flux });
  const helmRepositories = createHelmRepositoryController({ ...deps, flux, readIndex });
  const gitRepositories = createGitRepositoryController({ ...deps, ...gitParts, flux });
  const ociRepositories = createOciRepositoryController({ ...deps, flux, artifacts });
  const listings = createBucketListings(bucketClient);
  const buckets = createBucketController({ ...deps, flux, listings });
  const helmCharts = createHelmChartController({
    ...deps,
    flux,
    sources: {
      HelmRepository: chartsOfHelmRepositories({
        store: flux.helmRepositories.store,
        resolver: deps.resolver,
        artifacts,
      }),
      GitRepository: chartsOfGitRepositories({
        ...gitParts,
        store: flux.gitRepositories.store,
        signer: deps.signer,
        budget,
        readChart,
      }),
      Bucket: chartsOfBuckets({
        store: flux.buckets.store,
        client: bucketClient,
        listings,
        signer: deps.signer,
        budget,
        readChart,
      }),
    },
  });
  const helmReleases = createHelmReleaseController({ ...deps, ...parts, flux, statuses, options });
  const sources = [helmRepositories, ociRepositories, gitRepositories, buckets, helmCharts];
  return {
    all: [
      ...sources.map(({ controller }) => controller),
      helmReleases,
      createYieldToFluxController({ ...runDeps, flux }),
    ],
    publishers: [...sources.map((source) => source.statuses), statuses],
    refreshBundle(key) {
      for (const release of releasesOfBundle(flux, key)) statuses.refresh(release);
    },
    refreshBundleLater(key) {
      for (const release of releasesOfBundle(flux, key)) statuses.refreshLater(release);
    },
  };
}
