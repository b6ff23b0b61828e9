/** What happens to a deployment, one step after the other, with an agent that may end at any time. */
import type { HelmPlan } from "./memory-helm.ts";
import {
  createTestCluster,
  type DesiredDeployment,
  startAgent,
  type TestAgent,
  type TestCluster,
} from "./test-agent.ts";

/** The hub desires something, and the agent does what it can. */
export interface Step extends DesiredDeployment {
  /** What Helm does at each run; absent: it succeeds. */
  readonly helm?: HelmPlan;
  /** What others have done before. */
  readonly others?: (cluster: TestCluster) => Promise<void> | void;
  /** Whether the objects become ready; absent: they do. */
  readonly isReady?: boolean;
  /** The agent ends after this many runs of Helm, because it would go on for ever. */
  readonly maxRuns?: number;
}

export interface Scenario {
  /** What was before. */
  readonly given?: readonly Step[];
  readonly step: Step;
}

export interface Played {
  readonly agent: TestAgent;
  readonly cluster: TestCluster;
  /** The runs of Helm of the last step. */
  readonly runs: readonly string[];
  /** What was decided in the last step; not that nothing is to be done. */
  readonly decisions: readonly string[];
  readonly result: string;
}

export interface Disturbance {
  /** The agent crashes at this write of the last step, and another one goes on. */
  readonly crashAtWrite?: number;
  /** The API server fails this write of the last step, and the agent goes on. */
  readonly failedWrite?: number;
  /** Each step has an agent of its own. */
  readonly restarts?: boolean;
}

export async function play(
  { given = [], step }: Scenario,
  { crashAtWrite = Number.POSITIVE_INFINITY, failedWrite, restarts = false }: Disturbance = {},
): Promise<Played> {
  const cluster = createTestCluster();
  let agent = await startAgent(cluster);
  for (const each of given) {
    await prepare(cluster, each);
    await perform(agent, each, cluster.helm.runs.length);
    if (restarts) agent = await restart(cluster, agent);
  }
  await prepare(cluster, step);
  const before = cluster.helm.runs.length;
  const decidedBefore = cluster.decisions.length;
  const crashed = cluster.crashAtWrite(crashAtWrite).then(() => "crashed" as const);
  if (failedWrite !== undefined) cluster.failWrite(failedWrite);
  let result = await Promise.race([perform(agent, step, before), crashed]);
  if (result === "crashed") {
    agent = await restart(cluster, agent);
    result = await perform(agent, step, before);
  }
  agent.stop();
  const runs = cluster.helm.runs.slice(before);
  return { agent, cluster, runs, decisions: cluster.decisions.slice(decidedBefore), result };
}

async function prepare(cluster: TestCluster, step: Step): Promise<void> {
  const { helm = {}, isReady = true, others } = step;
  cluster.helm.plan(helm);
  cluster.isReady = isReady;
  await others?.(cluster);
}

async function perform(agent: TestAgent, step: Step, before: number): Promise<string> {
  await agent.assign(step);
  return await agent.settle(before + (step.maxRuns ?? Number.POSITIVE_INFINITY));
}

async function restart(cluster: TestCluster, before: TestAgent): Promise<TestAgent> {
  before.stop();
  return await startAgent(cluster);
}
