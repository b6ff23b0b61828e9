/** The passes of a leader over a simulation. */
import type { BundleRollout, BundleRolloutStatus, GateRecord } from "@flotilla/shared/api/rollout";
import { formatTimeMs } from "@flotilla/shared/time";
import { assignStages, stagesOf } from "../../../rules/index.ts";
import { chooseRollout, completedOf } from "../choose-rollout.ts";
import { timeOfStep } from "../decisions.ts";
import { hasRevision, type Member } from "../member.ts";
import { takenBack } from "../refusals.ts";
import { stableOf } from "../rollout-facts.ts";
import { openingOf, type WindowOf } from "../stage-windows.ts";
import type { Promoted } from "../staged-step.ts";
import type { StepInputs } from "../step-inputs.ts";
import { answerPlans, planIn } from "./simulated-plans.ts";
import {
  fresh,
  isTargetOf,
  replace,
  report,
  type SimulatedCluster,
  type Simulation,
  windowStateOf,
} from "./simulation.ts";

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
  const { rollouts, strategy, desired, older } = simulation;
  withdraw(simulation);
  const choice = chooseRollout(rollouts, { revision: desired, version: desired }, strategy);
  if (choice.kind === "start") {
    const number = 1 + Math.max(0, ...rollouts.map(({ spec }) => spec.number));
    simulation.rollouts = [...rollouts, newRollout(number, desired)];
    return [];
  }
  const { rollout, goesBack, isSuperseded, next } = choice;
  const stable = rollout.status?.stable ?? stableOf(rollouts, rollout);
  const inputs = { ...inputsOf(simulation, rollout), stable, goesBack, isSuperseded, next };
  const result = simulation.step(inputs);
  const isWriting = !result.isStored || result.promotions.length > 0;
  if (older !== undefined && simulation.catchesUp && isWriting) {
    simulation.older = undefined;
    return [];
  }
  const actual = older === undefined ? inputs.members : membersOf(simulation, rollout, undefined);
  simulation.onPass({ inputs, result, promoted: result.promotions, actual });
  // As the API server stores it: JSON.
  const status: BundleRolloutStatus = JSON.parse(JSON.stringify(withGates(result.status)));
  replace(simulation, { ...rollout, status });
  for (const { gates = [] } of status.stages ?? [])
    for (const { result: end, plan } of gates)
      if (end === "Passed")
        for (const diff of plan?.diffs ?? [])
          simulation.approved.add(`${rollout.metadata.name} ${diff}`);
  const isDecided = result.isStored && withGates(result.status) === result.status;
  const names = result.promotions.map(({ member }) => member.key);
  const nowMs = timeOfStep(status, simulation.nowMs);
  const at = { ...simulation, nowMs };
  if (older !== undefined) {
    for (const promotion of result.promotions)
      if (isCurrent(simulation, promotion)) promote(at, rollout.metadata.name, promotion);
    if (isDecided) simulation.older = undefined;
    return names;
  }
  const changes = takeBack(simulation, nowMs) + hold(simulation, result.held, nowMs);
  for (const promotion of result.promotions) promote(at, rollout.metadata.name, promotion);
  deployStable(simulation, rollout);
  const answers = answerPlans(simulation, rollout, result.toPlan);
  return isDecided && names.length + answers + changes === 0 ? undefined : names;
}

/** The API server refuses to replace what somebody has written meanwhile. */
function isCurrent({ clusters, older }: Simulation, { member }: Promoted): boolean {
  const [now, known] = [clusters.get(member.key), older?.get(member.key)];
  return known?.desired === now?.desired && known?.promotion?.at === now?.promotion?.at;
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

/** `older`: what the leader knows of deployments; undefined: what there is. */
function membersOf(
  simulation: Simulation,
  { spec }: BundleRollout,
  older: Simulation["older"],
): readonly Member[] {
  const skip = new Set(spec.skip ?? []);
  return [...simulation.clusters.values()]
    .filter((cluster) => isTargetOf(simulation.desired, cluster))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .map((current) => {
      const simulated = older === undefined ? current : asKnown(current, older.get(current.name));
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
        content: isTargetOf(spec.revision, current) ? spec.revision : "",
        isReady: cluster.isReady && cluster.applied === desired,
        cannotVerify: verifies ? undefined : "its agent is older",
        isPaused: cluster.isPaused || simulation.isPaused,
        isSkipped: skip.has(name),
        message: "",
        plan: planIn(simulation, simulated, spec.revision),
      };
    });
}

/** Clusters are listed by each leader, their deployments are not. */
function asKnown(
  current: SimulatedCluster,
  before: SimulatedCluster | undefined,
): SimulatedCluster {
  const { labels, isConnected, isPaused, isOffSchedule, live, isOutdated, verifies } = current;
  const known = before ?? { ...current, ...fresh, promotion: undefined, refused: undefined };
  return { ...known, labels, isConnected, isPaused, isOffSchedule, live, isOutdated, verifies };
}

/** Clusters that no target matches any more lose what they have, at once. */
function withdraw({ clusters, desired }: Simulation): void {
  for (const cluster of clusters.values())
    if (!isTargetOf(desired, cluster))
      Object.assign(cluster, {
        ...fresh,
        promotion: undefined,
        refused: undefined,
        unreadySinceMs: undefined,
        testsPassed: undefined,
        hasGivenUp: false,
        isHeld: false,
      } satisfies Partial<SimulatedCluster>);
}

function inputsOf(
  simulation: Simulation,
  rollout: BundleRollout,
): Omit<StepInputs, "stable" | "goesBack" | "isSuperseded" | "next"> {
  const { strategy, nowMs, isPaused } = simulation;
  const windowOf: WindowOf = ({ schedule = "" }, atMs) => windowStateOf(simulation, schedule, atMs);
  const members = membersOf(simulation, rollout, simulation.older);
  const clusters = members.flatMap(({ key, content }) => {
    const { name = key, labels = {} } = simulation.clusters.get(key) ?? {};
    return content === "" ? [] : [{ key, name, labels }];
  });
  return {
    name: rollout.metadata.name,
    spec: rollout.spec,
    stored: rollout.status,
    strategy,
    members,
    assignment: assignStages(stagesOf(strategy), clusters, []),
    isAdopted: members.length > 0 && members.every(hasRevision),
    isPaused,
    dependencyProblem: (name) => simulation.dependencyProblems.get(name),
    facts: {
      windowOf,
      openingOf: (windows, atMs) => openingOf(windows, windowOf, atMs),
      isRolledOut: () => simulation.isOtherRolledOut,
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
function takeBack({ clusters }: Pick<Simulation, "clusters">, nowMs: number): number {
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

/** As the plan of deployments writes it: what goes on begins its deadline again. Returns how many change. */
function hold(
  { clusters, isPaused }: Pick<Simulation, "clusters" | "isPaused">,
  held: ReadonlySet<string>,
  nowMs: number,
): number {
  let count = 0;
  for (const cluster of clusters.values()) {
    const isHeld = held.has(cluster.name);
    const isNowPaused = cluster.isPaused || isPaused;
    if (cluster.isHeld === isHeld && cluster.wasPaused === isNowPaused) continue;
    count += 1;
    const isResumed = cluster.wasPaused && !isNowPaused && !cluster.isReady;
    const goesOn = (cluster.isHeld && !isHeld) || isResumed;
    if (goesOn && cluster.promotion !== undefined)
      cluster.promotion = { ...cluster.promotion, at: formatTimeMs(nowMs) };
    cluster.isHeld = isHeld;
    cluster.wasPaused = isNowPaused;
  }
  return count;
}

/** New clusters whose turn has not come get the revision before. */
function deployStable(simulation: Simulation, { status }: BundleRollout): void {
  const stable = completedOf(simulation.rollouts, status?.stable)?.spec.revision;
  if (stable === undefined) return;
  for (const cluster of simulation.clusters.values()) {
    const isTarget = isTargetOf(simulation.desired, cluster) && isTargetOf(stable, cluster);
    if (cluster.desired !== "" || cluster.isPaused || !isTarget) continue;
    cluster.desired = stable;
    cluster.unreadySinceMs = simulation.nowMs;
  }
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
