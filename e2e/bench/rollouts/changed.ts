/** One change for all clusters of a fleet, and what it took. */
import type { RolloutStrategy } from "@flotilla/shared/api";
import { clusterNamespaceName, workspaceNamespace } from "@flotilla/shared/api/names";
import type { BundleRollout } from "@flotilla/shared/api/rollout";
import { brokenLimits, mostWrites, spanOf } from "../../src/rollout/observed-limits.ts";
import { type ByProcess, difference, processorOf } from "./processes.ts";
import {
  app,
  change,
  contentsNow,
  observedQuarters,
  rolloutAs,
  type StagedFleet,
  untilNoWrites,
  untilReady,
  writesSince,
} from "./staged-fleet.ts";

/** One change, from the patch of the HelmOp until all clusters are ready. */
export interface Changed {
  readonly ms: number;
  /** For each stage, one after the other: from its first promotion until its last cluster is ready. */
  readonly criticalMs: number;
  readonly lagMs: number;
  readonly processor: ByProcess;
  /** What the API server stores of the BundleDeployment of one cluster. */
  readonly storedBytes: number;
  readonly broken: readonly string[];
  readonly mostWrites: number;
  readonly decisions: number;
  readonly writes: ReadonlyMap<string, number>;
  readonly toLastWriteMs: number;
}

/** `strategy`: null: all at once. `maxUnavailable`: in flight in each stage. */
export async function changed(
  fleet: StagedFleet,
  strategy: RolloutStrategy | null,
  maxUnavailable: number,
): Promise<Changed> {
  const { bench, observer, agents, stageClusters } = fleet;
  const counts = await untilNoWrites(fleet);
  await bench.hubLag();
  const processorBefore = await processorOf(fleet);
  const [from, rolloutsFrom] = [observer.states.length, observer.rollouts.length];
  const before = contentsNow(observer);
  const begunAtMs = performance.now();
  await change(fleet, strategy);
  const content = await untilReady(fleet, agents, { from, before });
  const ms = performance.now() - begunAtMs;
  if (strategy !== null) await rolloutAs(fleet, ({ status }) => status?.phase === "Completed");
  const lag = await bench.hubLag();
  const processor = difference(processorBefore, await processorOf(fleet));
  const after = await untilNoWrites(fleet);
  const states = observer.states.slice(from);
  const spans = stageClusters.flatMap((clusters) => spanOf(states, content, clusters) ?? []);
  return {
    ms,
    criticalMs: spans.reduce((sum, { beginsAtMs, endsAtMs }) => sum + endsAtMs - beginsAtMs, 0),
    lagMs: lag.p99Ms,
    processor,
    storedBytes: await storedBytes(fleet),
    broken:
      strategy === null
        ? []
        : brokenLimits(states, content, observedQuarters(fleet, maxUnavailable)),
    mostWrites: mostWrites(states),
    decisions: decisionsIn(observer.rollouts.slice(rolloutsFrom)),
    writes: new Map(writesSince(counts, after)),
    toLastWriteMs: performance.now() - begunAtMs,
  };
}

/** How often the phase of the rollout, or of a stage, or a gate was another one. */
function decisionsIn(rollouts: readonly BundleRollout[]): number {
  const decided = rollouts.map(({ metadata, status }) =>
    JSON.stringify([
      metadata.name,
      status?.phase,
      (status?.stages ?? []).map(({ phase, gates }) => [phase, gates]),
    ]),
  );
  return decided.filter((each, index) => each !== decided[index - 1]).length;
}

/** As the API server gives it, which is how it stores it. */
async function storedBytes({ bench, stageClusters }: StagedFleet): Promise<number> {
  const [cluster = ""] = stageClusters[0] ?? [];
  const namespace = clusterNamespaceName(workspaceNamespace, cluster);
  const path = `/apis/fleet.cattle.io/v1alpha1/namespaces/${namespace}/bundledeployments/${app}`;
  return Buffer.byteLength(await bench.fleet.hub.raw(path));
}
