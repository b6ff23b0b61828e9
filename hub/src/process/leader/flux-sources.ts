/** The controllers of Flux's sources of charts, put together. */
import type { Controller } from "@flotilla/shared/kube/controller";
import {
  chartsOfBuckets,
  chartsOfGitRepositories,
  chartsOfHelmRepositories,
  createBucketController,
  createBucketListings,
  createGitRepositoryController,
  createHelmChartController,
  createHelmRepositoryController,
  createOciRepositoryController,
} from "../../sources/index.ts";
import type { FluxDeps, RunDeps } from "./deps.ts";

export interface FluxSources {
  readonly controllers: readonly Controller[];
  readonly publishers: readonly { readonly flush: () => Promise<void> }[];
}

export function createFluxSources(runDeps: RunDeps, fluxDeps: FluxDeps): FluxSources {
  const { informers: flux, readIndex, gitParts, bucketClient, artifacts } = fluxDeps;
  const { durations, budget, readChart } = fluxDeps;
  const deps = {
    ...runDeps,
    // A reconcile or a write of a status may be in progress when Flux's controllers start.
    rest: flux.fence(runDeps.rest),
    durations,
  };
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
  const sources = [helmRepositories, ociRepositories, gitRepositories, buckets, helmCharts];
  return {
    controllers: sources.map(({ controller }) => controller),
    publishers: sources.map(({ statuses }) => statuses),
  };
}
