/** The front ends of the hub: to add a kind, list it here. */
import type { Patterns } from "@flotilla/shared/regex";
import { runHelmOps } from "../helmop/index.ts";
import { runHelmReleases } from "../helmrelease/index.ts";
import type { FrontEndParts, RunningFrontEnd } from "../lifecycle/index.ts";
import type { ChartResolver } from "../resolve/index.ts";
import type { RunDeps } from "./deps.ts";

export interface FrontEndDeps extends RunDeps, FrontEndParts {
  readonly charts: ChartResolver;
  readonly patterns: Patterns;
}

export function runFrontEnds(deps: FrontEndDeps): readonly RunningFrontEnd[] {
  const { flux } = deps;
  return [
    runHelmOps(deps),
    ...(flux === undefined
      ? []
      : [
          runHelmReleases({
            ...deps,
            flux: flux.informers,
            options: flux.options,
            durations: flux.durations,
          }),
        ]),
  ];
}
