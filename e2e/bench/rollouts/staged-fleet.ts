/** A hub with simulated agents and one HelmOp for all of them, and what changes that HelmOp. */
import { setTimeout as sleep } from "node:timers/promises";
import { helmOps, type RolloutStage, type RolloutStrategy } from "@flotilla/shared/api";
import { workspaceNamespace as namespace } from "@flotilla/shared/api/names";
import type { BundleRollout } from "@flotilla/shared/api/rollout";
import { newContent, type ObservedStage } from "../../src/rollout/observed-limits.ts";
import { type Observer, observeRollouts } from "../../src/rollout/rollout-observer.ts";
import { type AgentsFleet, startAgentsFleet } from "../agents/agents-fleet.ts";
import type { Simulation } from "../agents/simulation.ts";
import { requestCounts, since } from "../measure/request-counts.ts";

/** The name of the HelmOp. */
export const app = "many-1";
export const stageCount = 4;

const quietMs = 2_000;

export interface StagedFleet {
  readonly bench: AgentsFleet;
  readonly agents: number;
  readonly simulation: Simulation;
  readonly observer: Observer;
  /** The clusters of each stage of `stages`. */
  readonly stageClusters: readonly ReadonlySet<string>[];
  close(): Promise<void>;
}

/** Resolves when all agents have the HelmOp. */
export async function startStagedFleet(agents: number): Promise<StagedFleet> {
  return await connectStagedFleet(await startAgentsFleet(), agents);
}

/** As `startStagedFleet`, with a hub that runs. `apps`: HelmOps for all agents; default: one. */
export async function connectStagedFleet(
  bench: AgentsFleet,
  agents: number,
  apps = 1,
): Promise<StagedFleet> {
  const observer = await observeRollouts(bench.fleet.hub, app);
  const simulation = await bench.simulate("many", agents, { keep: true, bundles: apps });
  await observer.until(() => countReady(observer) === agents);
  const names = [...observer.latest.keys()].sort((a, b) => (a < b ? -1 : 1));
  const size = Math.ceil(agents / stageCount);
  return {
    bench,
    agents,
    simulation,
    observer,
    stageClusters: Array.from(
      { length: stageCount },
      (_, index) => new Set(names.slice(index * size, (index + 1) * size)),
    ),
    async close() {
      await observer.close();
      await bench.close();
    },
  };
}

/** A quarter of the clusters each, with these fields. */
export function quarters(agents: number, fields: Partial<RolloutStage> = {}): RolloutStrategy {
  const upTo = Math.ceil(agents / stageCount);
  return {
    stages: Array.from({ length: stageCount }, (_, index) => ({
      name: `quarter-${index + 1}`,
      ...(index < stageCount - 1 && { upTo }),
      ...fields,
    })),
  };
}

/** The stages of `quarters` as they are observed. */
export function observedQuarters(
  { stageClusters }: Pick<StagedFleet, "stageClusters">,
  maxUnavailable: number,
): readonly ObservedStage[] {
  return stageClusters.map((clusters) => ({ clusters, maxUnavailable }));
}

let revisions = 0;

/** A content that no cluster had before, under this strategy; null: to all clusters at once. */
export async function change(
  { bench }: Pick<StagedFleet, "bench">,
  rolloutStrategy: RolloutStrategy | null,
): Promise<void> {
  revisions += 1;
  const helm = { chart: `https://charts.example.com/web-${revisions}.0.0.tgz` };
  await bench.fleet.hub.patch(
    helmOps,
    { namespace, name: app },
    { type: "merge", body: { spec: { helm, rolloutStrategy } } },
  );
}

/** The contents that clusters have now. */
export function contentsNow({ latest }: Pick<Observer, "latest">): ReadonlySet<string> {
  return new Set([...latest.values()].map(({ desired }) => desired));
}

/** Resolves with the new content when so many clusters have it and are ready. */
export async function untilReady(
  { observer }: Pick<StagedFleet, "observer">,
  count: number,
  { from, before }: { readonly from: number; readonly before: ReadonlySet<string> },
): Promise<string> {
  let content: string | undefined;
  let seen = from;
  const ready = new Set<string>();
  await observer.until(() => {
    content ??= newContent(observer.states.slice(seen), before);
    for (; seen < observer.states.length; seen += 1) {
      const state = observer.states[seen];
      if (state?.desired === content && state?.isReady === true) ready.add(state.cluster);
    }
    return ready.size >= count;
  });
  return content ?? "";
}

function countReady({ latest }: Observer): number {
  return [...latest.values()].filter(({ isReady }) => isReady).length;
}

/** The newest rollout of the app, as soon as it is as desired. */
export async function rolloutAs(
  { observer }: Pick<StagedFleet, "observer">,
  isDesired: (rollout: BundleRollout) => boolean,
): Promise<BundleRollout> {
  const newest = () => observer.rollouts.at(-1);
  const isReached = () => {
    const rollout = newest();
    return rollout !== undefined && isDesired(rollout);
  };
  await observer.until(isReached);
  const rollout = newest();
  if (rollout === undefined) throw new Error(`there is no rollout of ${app}`);
  return rollout;
}

export type Counts = Awaited<ReturnType<typeof requestCounts>>;

export function writesSince(before: Counts, after: Counts) {
  return since(before, after).filter(([what]) => /^(POST|PUT|PATCH|APPLY|DELETE)/.test(what));
}

/** Statuses are written for a while after the last report. */
export async function untilNoWrites({ bench }: Pick<StagedFleet, "bench">): Promise<Counts> {
  for (let last = await requestCounts(bench); ; ) {
    await sleep(quietMs);
    const next = await requestCounts(bench);
    if (writesSince(last, next).length === 0) return next;
    last = next;
  }
}
