/** A fleet in memory for the engine of staged rollouts: clusters, the rollouts of one Bundle, its gates, and a clock. */
import type { RolloutStrategy } from "@flotilla/shared/api";
import type {
  BundleRollout,
  BundleRolloutStatus,
  GateDecision,
} from "@flotilla/shared/api/rollout";
import type { Member } from "../member.ts";
import type { WindowState } from "../stage-windows.ts";
import { type Promoted, type StepResult, stepRollout } from "../staged-step.ts";
import type { StepInputs } from "../step-inputs.ts";

/** A cluster as it is; the revision's content is its name. */
export interface SimulatedCluster {
  name: string;
  labels: Record<string, string>;
  desired: string;
  applied: string;
  isReady: boolean;
  unreadySinceMs: number | undefined;
  promotion: Member["promotion"];
  hasGivenUp: boolean;
  waitsForDependency: boolean;
  dependencies: readonly string[];
  dependenciesMetMs: number | undefined;
  tests: Member["tests"];
  testsPassed: boolean | undefined;
  isConnected: boolean;
  offlineSince: string;
  isPaused: boolean;
  isOffSchedule: boolean;
  isHeld: boolean;
  /** Its deployment is written as paused. */
  wasPaused: boolean;
  /** What others have changed in it, which is a part of what a plan would change; "same": what is planned is there already. */
  live: string;
  /** Its agent makes no plans. */
  isOutdated: boolean;
  /** Its agent plans once more right before Helm runs. */
  verifies: boolean;
  /** The content that its agent has refused. */
  refused: string | undefined;
}

/** What an agent has answered. */
export interface SimulatedPlan {
  readonly content: string;
  readonly applied: string;
  readonly atMs: number;
  /** How often it had refused what was promoted. */
  readonly refusals: number;
  /** Undefined: it makes no plans. "": nothing would change. */
  readonly diff: string | undefined;
}

/** A Schedule as it is: it stays so, or it opens again and again, `offsetMs` after the beginning first. */
export type SimulatedWindow =
  | "open"
  | "closed"
  | "missing"
  | { readonly everyMs: number; readonly forMs: number; readonly offsetMs: number };

/** A Schedule of a simulation at a time. */
export function windowStateOf(
  { windows }: Simulation,
  schedule: string,
  atMs: number,
): WindowState {
  const window = windows.get(schedule) ?? "open";
  if (window === "missing") {
    const problem = `there is no Schedule ${schedule}`;
    return { isOpen: false, changesAtMs: undefined, problem };
  }
  if (typeof window === "string") return { isOpen: window === "open", changesAtMs: undefined };
  const { everyMs, forMs, offsetMs } = window;
  const sinceMs = (((atMs - startMs - offsetMs) % everyMs) + everyMs) % everyMs;
  const isOpen = sinceMs < forMs;
  return { isOpen, changesAtMs: atMs - sinceMs + (isOpen ? forMs : everyMs) };
}

/** One pass: what it decided or promoted. */
export interface Pass {
  readonly inputs: StepInputs;
  readonly result: StepResult;
  readonly promoted: readonly Promoted[];
  /** The clusters as they are: a leader whose cache is older has others in its inputs. */
  readonly actual: readonly Member[];
}

export interface Simulation {
  /** The engine; a test may plant a fault in it. */
  step: (inputs: StepInputs) => StepResult;
  readonly clusters: Map<string, SimulatedCluster>;
  nowMs: number;
  strategy: RolloutStrategy;
  desired: string;
  isPaused: boolean;
  /** What the tests of the chart mean, in each cluster. */
  readonly tests: Member["tests"];
  /** Whether the rollout of the other app has come so far as gates wait for. */
  isOtherRolledOut: boolean;
  /** What a new leader knows of deployments, until it has caught up; undefined: it has. */
  older: ReadonlyMap<string, SimulatedCluster> | undefined;
  /** Whether a new leader sees what the last one wrote before it decides or promotes anything. */
  catchesUp: boolean;
  /** How many clusters have joined: each has a name of its own. */
  joined: number;
  /** Schedules by name; one that is not here is open. */
  readonly windows: Map<string, SimulatedWindow>;
  rollouts: BundleRollout[];
  /** What keeps the rollouts of dependencies from going on, by their names. */
  readonly dependencyProblems: Map<string, string>;
  /** By UID of the Gate. */
  readonly decisions: Map<string, GateDecision>;
  /** Each rollout with each diff that was approved in it, also in stages that are gone. */
  readonly approved: Set<string>;
  /** What the leader remembers of the answers of agents, by name. */
  readonly plans: Map<string, SimulatedPlan>;
  /** Whether agents answer what they are asked. */
  isAnswering: boolean;
  onPass: (pass: Pass) => void;
}

/** When all simulations begin. */
const startMs = Date.parse("2026-12-01T00:00:00Z");

export function simulate(
  strategy: RolloutStrategy,
  clusters: readonly SimulatedCluster[],
  tests: Simulation["tests"] = "Ignored",
): Simulation {
  return {
    step: stepRollout,
    clusters: new Map(clusters.map((cluster) => [cluster.name, cluster])),
    nowMs: startMs,
    strategy,
    desired: "v2",
    isPaused: false,
    tests,
    isOtherRolledOut: false,
    older: undefined,
    catchesUp: true,
    joined: 0,
    windows: new Map(),
    rollouts: [],
    dependencyProblems: new Map(),
    decisions: new Map(),
    approved: new Set(),
    plans: new Map(),
    isAnswering: true,
    onPass: () => undefined,
  };
}

/** Ready with the revision `v1`, unless other fields are given. */
export function aSimulatedCluster(
  name: string,
  fields: Partial<SimulatedCluster> = {},
): SimulatedCluster {
  return {
    name,
    labels: {},
    desired: "v1",
    applied: "v1",
    isReady: true,
    unreadySinceMs: undefined,
    promotion: undefined,
    hasGivenUp: false,
    waitsForDependency: false,
    dependencies: [],
    dependenciesMetMs: undefined,
    wasPaused: false,
    tests: "Ignored",
    testsPassed: undefined,
    isConnected: true,
    offlineSince: "",
    isPaused: false,
    isOffSchedule: false,
    isHeld: false,
    live: "",
    isOutdated: false,
    verifies: true,
    refused: undefined,
    ...fields,
  };
}

/** Whether a revision has something for a cluster. `v4` is for some regions only; all others for all clusters. */
export function isTargetOf(revision: string, { labels }: SimulatedCluster): boolean {
  return revision !== "v4" || labels["region"] !== "c";
}

/** So many, c00 and so on. */
export function simulatedClusters(
  count: number,
  fields: Partial<SimulatedCluster> = {},
): SimulatedCluster[] {
  return Array.from({ length: count }, (_, index) =>
    aSimulatedCluster(`c${String(index).padStart(2, "0")}`, { ...fields, labels: {} }),
  );
}

/** A cluster that has nothing yet. */
export const fresh = { desired: "", applied: "", isReady: false } as const;

/** The newest rollout. */
export function currentOf({ rollouts }: Simulation): BundleRollout {
  const newest = rollouts.at(-1);
  if (newest === undefined) throw new Error("no rollout was started");
  return newest;
}

export function statusOf(simulation: Simulation): BundleRolloutStatus {
  const { status } = currentOf(simulation);
  if (status === undefined) throw new Error("no step was stored");
  return status;
}

/** A person writes fields of the newest rollout. */
export function command(simulation: Simulation, fields: Partial<BundleRollout["spec"]>): void {
  const newest = currentOf(simulation);
  replace(simulation, { ...newest, spec: { ...newest.spec, ...fields } });
}

/** Writes a rollout that there is. */
export function replace(simulation: Simulation, rollout: BundleRollout): void {
  simulation.rollouts = simulation.rollouts.map((each) =>
    each.spec.number === rollout.spec.number ? rollout : each,
  );
}

/** What would change in it: "" nothing, undefined: its agent makes no plans. */
export function diffIn(
  { isOutdated, applied, live }: SimulatedCluster,
  content: string,
): string | undefined {
  if (isOutdated) return undefined;
  return live === "same" || applied === content ? "" : `${applied} to ${content} ${live}`;
}

/** The agent has applied what is desired, and it is ready; or it has refused it, because something else would change than was approved. */
export function becomeReady(cluster: SimulatedCluster): void {
  const { applied, desired, promotion, verifies } = cluster;
  if (cluster.refused !== undefined) return;
  if (promotion?.planned !== undefined && applied !== desired) {
    const diff = diffIn(cluster, desired);
    // It is not sent to one that does not verify.
    if (!verifies || diff === undefined) return;
    if (diff !== "" && diff !== promotion.planned) {
      cluster.refused = desired;
      return;
    }
  }
  cluster.applied = cluster.desired;
  cluster.isReady = cluster.desired !== "";
  cluster.unreadySinceMs = undefined;
  cluster.hasGivenUp = false;
}

/** What was applied is not ready any more. */
export function breakDown(simulation: Simulation, cluster: SimulatedCluster): void {
  if (!cluster.isReady) return;
  cluster.isReady = false;
  cluster.unreadySinceMs = simulation.nowMs;
}

/** Its agent reports that it waits for a dependency, or that it does not any more. */
export function waitForDependency(
  { nowMs }: Simulation,
  cluster: SimulatedCluster,
  waits: boolean,
): void {
  if (cluster.waitsForDependency && !waits) cluster.dependenciesMetMs = nowMs;
  cluster.waitsForDependency = waits;
}

/** All clusters that are connected and not paused become ready, except those named. */
export function report(simulation: Simulation, except: readonly string[] = []): void {
  for (const cluster of simulation.clusters.values())
    if (cluster.isConnected && !cluster.isPaused && !except.includes(cluster.name))
      becomeReady(cluster);
}

/** Somebody decides the Gate of this name. */
export function decideGate(
  simulation: Simulation,
  name: string,
  result: "Passed" | "Failed",
): void {
  const records = (statusOf(simulation).stages ?? []).flatMap(({ gates }) => gates ?? []);
  const record = records.findLast((each) => each.name === name && each.result === "Waiting");
  if (record?.uid === undefined) return;
  simulation.decisions.set(record.uid, { result, by: "alice", digest: record.digest });
}

export function pause(simulation: Simulation, ms: number): void {
  simulation.nowMs += ms;
}

export const minutes = 60_000;
