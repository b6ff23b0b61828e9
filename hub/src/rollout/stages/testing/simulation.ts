/** A fleet in memory for the engine of staged rollouts: clusters, the rollouts of one Bundle, its gates, and a clock. */
import type { RolloutStrategy } from "@flotilla/shared/api";
import type {
  BundleRollout,
  BundleRolloutStatus,
  GateDecision,
  GateRecord,
} from "@flotilla/shared/api/rollout";
import { formatTimeMs } from "@flotilla/shared/time";
import { assignStages, stagesOf } from "../../../rules/index.ts";
import { chooseRollout, completedOf } from "../choose-rollout.ts";
import { hasRevision, type Member, type MemberPlan } from "../member.ts";
import { plannedAgainAt, takenBack } from "../refusals.ts";
import { stableOf } from "../rollout-facts.ts";
import { openingOf, type WindowOf, type WindowState } from "../stage-windows.ts";
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
  testsPassed: boolean | undefined;
  isConnected: boolean;
  isPaused: boolean;
  isOffSchedule: boolean;
  isHeld: boolean;
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
}

export interface Simulation {
  readonly clusters: Map<string, SimulatedCluster>;
  nowMs: number;
  strategy: RolloutStrategy;
  desired: string;
  isPaused: boolean;
  /** Schedules by name; one that is not here is open. */
  readonly windows: Map<string, SimulatedWindow>;
  rollouts: BundleRollout[];
  /** By UID of the Gate. */
  readonly decisions: Map<string, GateDecision>;
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
): Simulation {
  return {
    clusters: new Map(clusters.map((cluster) => [cluster.name, cluster])),
    nowMs: startMs,
    strategy,
    desired: "v2",
    isPaused: false,
    windows: new Map(),
    rollouts: [],
    decisions: new Map(),
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
    testsPassed: undefined,
    isConnected: true,
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

function replace(simulation: Simulation, rollout: BundleRollout): void {
  simulation.rollouts = simulation.rollouts.map((each) =>
    each.spec.number === rollout.spec.number ? rollout : each,
  );
}

/** Makes passes until nothing more follows; returns the names of the clusters that were promoted, in order. */
export function settle(simulation: Simulation): readonly string[] {
  const names: string[] = [];
  for (let passes = 0; passes < 200; passes += 1) {
    const promoted = pass(simulation);
    if (promoted === undefined) return names;
    names.push(...promoted);
  }
  throw new Error("it never settles");
}

/** One pass; undefined: nothing was decided or promoted. */
export function pass(simulation: Simulation): readonly string[] | undefined {
  const { rollouts, strategy, desired } = simulation;
  const choice = chooseRollout(rollouts, { revision: desired, version: desired }, strategy);
  if (choice.kind === "start") {
    const number = 1 + Math.max(0, ...rollouts.map(({ spec }) => spec.number));
    simulation.rollouts = [...rollouts, newRollout(number, desired)];
    return [];
  }
  const { rollout, goesBack, isSuperseded, next } = choice;
  const stable = rollout.status?.stable ?? stableOf(rollouts, rollout);
  const inputs = { ...inputsOf(simulation, rollout), stable, goesBack, isSuperseded, next };
  const result = stepRollout(inputs);
  simulation.onPass({ inputs, result, promoted: result.promotions });
  // As the API server stores it: JSON.
  const status: BundleRolloutStatus = JSON.parse(JSON.stringify(withGates(result.status)));
  replace(simulation, { ...rollout, status });
  const changes = takeBack(simulation);
  hold(simulation, result.held);
  for (const promotion of result.promotions) promote(simulation, rollout.metadata.name, promotion);
  deployStable(simulation, rollout);
  const answers = answerPlans(simulation, rollout, result.toPlan);
  const isIdle = result.isStored && result.promotions.length + answers + changes === 0;
  return isIdle && withGates(result.status) === result.status
    ? undefined
    : result.promotions.map(({ member }) => member.key);
}

/** The agents answer what the step asks for; returns how many did. */
function answerPlans(
  { plans, clusters, isAnswering, nowMs }: Simulation,
  { spec }: BundleRollout,
  members: readonly Member[],
): number {
  if (!isAnswering) return 0;
  for (const { key, applied } of members) {
    const cluster = clusters.get(key);
    if (cluster === undefined) continue;
    const content = spec.revision;
    const refusals = refusalsIn(cluster);
    plans.set(key, { content, applied, atMs: nowMs, refusals, diff: diffIn(cluster, content) });
  }
  return members.length;
}

/** A refusal that was not taken back yet is one more. */
function refusalsIn({ promotion, refused }: SimulatedCluster): number {
  return (promotion?.refused ?? 0) + (refused === undefined ? 0 : 1);
}

/** What would change in it: "" nothing, undefined: its agent makes no plans. */
export function diffIn(
  { isOutdated, applied, live }: SimulatedCluster,
  content: string,
): string | undefined {
  if (isOutdated) return undefined;
  return live === "same" || applied === content ? "" : `${applied} to ${content} ${live}`;
}

/** As long as an answer counts, and how long after none the agent is asked again. */
const freshMs = 15 * 60_000;
const retryMs = 60_000;

/** What the leader knows of it, while that fits. */
function planIn(
  { plans, nowMs }: Simulation,
  cluster: SimulatedCluster,
  content: string,
): MemberPlan | undefined {
  const { name, applied, promotion } = cluster;
  const againAtMs = plannedAgainAt(promotion);
  if (againAtMs !== undefined && nowMs < againAtMs)
    return { kind: "unknown", message: "its agent has refused again", untilMs: againAtMs };
  const plan = plans.get(name);
  if (plan === undefined || plan.content !== content || plan.applied !== applied) return undefined;
  if (plan.refusals !== refusalsIn(cluster)) return undefined;
  const untilMs = plan.atMs + (plan.diff === undefined ? retryMs : freshMs);
  if (nowMs > untilMs) return undefined;
  return plan.diff === undefined
    ? { kind: "unknown", message: "its agent is older", untilMs }
    : { kind: "known", diff: plan.diff, fails: false };
}

function newRollout(number: number, revision: string): BundleRollout {
  return {
    metadata: { name: `web-${number}`, namespace: "fleet-default", uid: `uid-${number}` },
    spec: {
      bundle: { name: "web", uid: "uid-web" },
      app: { kind: "HelmOp", name: "web" },
      number,
      revision,
      version: revision,
      targets: [{ clusterSelector: {}, deploymentID: revision }],
      signature: "",
    },
  };
}

/** The Gates of records that have none, with the UID that an API server would give. */
function withGates(status: BundleRolloutStatus): BundleRolloutStatus {
  const isMissing = ({ result, uid }: GateRecord) => result === "Waiting" && uid === undefined;
  const isComplete = !(status.stages ?? []).some(({ gates }) => (gates ?? []).some(isMissing));
  if (isComplete) return status;
  return {
    ...status,
    stages: (status.stages ?? []).map((stage) => ({
      ...stage,
      ...(stage.gates !== undefined && {
        gates: stage.gates.map((record) =>
          isMissing(record) ? { ...record, uid: `uid-${record.gate}` } : record,
        ),
      }),
    })),
  };
}

function membersOf(simulation: Simulation, { spec }: BundleRollout): readonly Member[] {
  const skip = new Set(spec.skip ?? []);
  return [...simulation.clusters.values()]
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .map((simulated) => {
      const {
        name,
        labels: _,
        live: _live,
        isOutdated: _outdated,
        verifies,
        ...cluster
      } = simulated;
      const isRefused = cluster.refused !== undefined;
      const desired = isRefused ? (cluster.promotion?.from ?? "") : cluster.desired;
      return {
        ...cluster,
        desired,
        key: name,
        content: spec.revision,
        isReady: cluster.isReady && cluster.applied === desired,
        cannotVerify: verifies ? undefined : "its agent is older",
        isPaused: cluster.isPaused || simulation.isPaused,
        isSkipped: skip.has(name),
        message: "",
        plan: planIn(simulation, simulated, spec.revision),
      };
    });
}

function inputsOf(
  simulation: Simulation,
  rollout: BundleRollout,
): Omit<StepInputs, "stable" | "goesBack" | "isSuperseded" | "next"> {
  const { strategy, nowMs, isPaused } = simulation;
  const windowOf: WindowOf = ({ schedule = "" }, atMs) => windowStateOf(simulation, schedule, atMs);
  const members = membersOf(simulation, rollout);
  const clusters = [...simulation.clusters.values()].map(({ name, labels }) => ({
    key: name,
    name,
    labels,
  }));
  return {
    name: rollout.metadata.name,
    spec: rollout.spec,
    stored: rollout.status,
    strategy,
    members,
    assignment: assignStages(stagesOf(strategy), clusters, []),
    isAdopted: members.length > 0 && members.every(hasRevision),
    isPaused,
    needsTests: false,
    facts: {
      windowOf,
      openingOf: (windows, atMs) => openingOf(windows, windowOf, atMs),
      isRolledOut: () => false,
      awaitedProblem: () => undefined,
      decisionOf({ uid = "" }) {
        const decision = simulation.decisions.get(uid);
        return decision && { ...decision, verified: true };
      },
      acceptsUnverified: false,
    },
    isNeverOpenFor: () => false,
    nowMs,
  };
}

/** What was refused is taken back, whatever the rollout does; returns in how many clusters. */
function takeBack({ clusters, nowMs }: Simulation): number {
  let count = 0;
  for (const cluster of clusters.values()) {
    const { promotion, refused } = cluster;
    if (promotion === undefined || refused === undefined) continue;
    count += 1;
    cluster.desired = promotion.from;
    cluster.promotion = takenBack(promotion, refused, nowMs);
    cluster.refused = undefined;
    // Nothing was changed in it.
    const wasReady = promotion.from !== "" && promotion.wasReady !== false;
    cluster.isReady = wasReady && cluster.applied === cluster.desired;
    if (cluster.isReady) cluster.unreadySinceMs = undefined;
  }
  return count;
}

function promote(
  simulation: Simulation,
  rollout: string,
  { member, content, planned }: Promoted,
): void {
  const cluster = simulation.clusters.get(member.key);
  if (cluster === undefined) return;
  const { desired: from, isReady } = member;
  const refused = member.promotion?.rollout === rollout ? member.promotion.refused : undefined;
  cluster.promotion = {
    ...{ rollout, at: formatTimeMs(simulation.nowMs), from },
    ...(from !== "" && !isReady && { wasReady: false }),
    ...(planned !== undefined && { planned }),
    ...(planned !== undefined && refused !== undefined && { refused }),
  };
  cluster.desired = content;
  cluster.hasGivenUp = false;
  cluster.testsPassed = undefined;
  cluster.isReady = false;
  cluster.isHeld = false;
  cluster.unreadySinceMs = simulation.nowMs;
}

/** As the plan of deployments writes it: what goes on begins its deadline again. */
function hold({ clusters, nowMs }: Simulation, held: ReadonlySet<string>): void {
  for (const cluster of clusters.values()) {
    const isHeld = held.has(cluster.name);
    if (cluster.isHeld && !isHeld && cluster.promotion !== undefined)
      cluster.promotion = { ...cluster.promotion, at: formatTimeMs(nowMs) };
    cluster.isHeld = isHeld;
  }
}

/** New clusters whose turn has not come get the revision before. */
function deployStable(simulation: Simulation, { status }: BundleRollout): void {
  const stable = completedOf(simulation.rollouts, status?.stable)?.spec.revision;
  if (stable === undefined) return;
  for (const cluster of simulation.clusters.values())
    if (cluster.desired === "" && !cluster.isPaused) {
      cluster.desired = stable;
      cluster.unreadySinceMs = simulation.nowMs;
    }
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

/** All clusters that are connected and not paused become ready, except those named. */
export function report(simulation: Simulation, except: readonly string[] = []): void {
  for (const cluster of simulation.clusters.values())
    if (cluster.isConnected && !cluster.isPaused && !except.includes(cluster.name))
      becomeReady(cluster);
}

/** Settles, and all become ready, so many times; the clusters promoted each time. */
export function rounds(
  simulation: Simulation,
  count: number,
  except: readonly string[] = [],
): readonly (readonly string[])[] {
  return Array.from({ length: count }, () => {
    const promoted = settle(simulation);
    report(simulation, except);
    return promoted;
  });
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
