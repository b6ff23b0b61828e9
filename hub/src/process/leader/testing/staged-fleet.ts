/** A HelmOp with a staged rollout on a fleet in memory: its clusters, their agents, its gates, and leaders that change. */
import assert from "node:assert/strict";
import {
  type BundleDeployment,
  bundleDeployments,
  bundles,
  clusters,
  type HelmOp,
  helmOps,
  type RolloutStrategy,
} from "@flotilla/shared/api";
import { bundleNameLabel, clusterLabel } from "@flotilla/shared/api/names";
import {
  type BundleRollout,
  type BundleRolloutStatus,
  bundleRollouts,
  type Gate,
  gates,
} from "@flotilla/shared/api/rollout";
import { gateDecisionObjects } from "@flotilla/shared/api/rollout/admission";
import {
  validatingAdmissionPolicies,
  validatingAdmissionPolicyBindings,
} from "@flotilla/shared/kube/objects";
import {
  aCluster,
  aHelmOp,
  createTestLeader,
  type TestLeader,
  type TestLeaderOptions,
  workspace,
} from "../../../testing/index.ts";
import { type RepositoryState, repo, resolverOf } from "./fleet-steps.ts";

/** By name of the cluster: its labels. */
export type StagedClusters = Readonly<Record<string, Readonly<Record<string, string>>>>;

export interface StagedFleet {
  readonly leader: TestLeader;
  readonly repository: RepositoryState;
  /** The clusters that have this version, by name. */
  having(version: string): readonly string[];
  /** Agents of these clusters, or of all, report that what is desired is ready. */
  ready(...names: readonly string[]): void;
  /** The agent of a cluster has no retries left. */
  fails(name: string): void;
  setConnected(name: string, isConnected: boolean): void;
  add(name: string, labels: Readonly<Record<string, string>>): void;
  /** Somebody writes the labels of a cluster. */
  relabel(name: string, labels: Readonly<Record<string, string>>): void;
  /** Somebody with the right decides the newest Gate of this name that waits. */
  decide(gate: string, result?: "Passed" | "Failed"): void;
  /** A user changes the strategy. */
  setStrategy(strategy: RolloutStrategy): void;
  /** A new version is published, and found. */
  publish(version: string): Promise<void>;
  /** Passes time. */
  pass(ms?: number): Promise<void>;
  rollouts(): readonly BundleRollout[];
  current(): BundleRollout;
  status(): BundleRolloutStatus;
  gates(): readonly Gate[];
  deployment(name: string): BundleDeployment | undefined;
  /** A person writes the spec of the newest rollout. */
  command(fields: Partial<BundleRollout["spec"]>): void;
  stop(): Promise<void>;
}

/** Longer than the delay of statuses. */
const quietMs = 3_000;

export interface StagedFleetOptions
  extends Pick<TestLeaderOptions, "send" | "askAgent" | "unverifiedApprovals"> {
  /** Sets the time, and puts what exists before anything else does. */
  readonly begin?: (leader: TestLeader) => void;
  /** Whether the API server checks who decides; by default it does. */
  readonly checksNames?: boolean;
  /** Clusters that are not connected at first. */
  readonly offline?: readonly string[];
  /** Fields of the HelmOp. */
  readonly spec?: Partial<HelmOp["spec"]>;
}

const installedAt = "2025-12-01T00:00:00Z";

/** The ValidatingAdmissionPolicy that checks names in decisions, as the chart of the definitions has it. */
function installGateDecisions(rest: TestLeader["rest"]): void {
  const { policy, binding } = gateDecisionObjects;
  const metadata = { ...policy.metadata, creationTimestamp: installedAt };
  rest.put(validatingAdmissionPolicies, { ...policy, metadata });
  rest.put(validatingAdmissionPolicyBindings, { ...binding, metadata });
}

/** Alice decides. The Gate is as old as the policy that checks her name. */
export function decideGate(
  rest: TestLeader["rest"],
  gate: Gate,
  result: "Passed" | "Failed" = "Passed",
): void {
  const decision = { result, by: "alice", digest: gate.spec.digest };
  rest.put(gates, {
    ...gate,
    metadata: { ...gate.metadata, creationTimestamp: installedAt },
    status: { ...gate.status, decision },
  });
}

export async function createStagedFleet(
  strategy: RolloutStrategy,
  labels: StagedClusters,
  {
    begin = () => undefined,
    checksNames = true,
    spec = {},
    offline = [],
    ...options
  }: StagedFleetOptions = {},
): Promise<StagedFleet> {
  const repository: RepositoryState = { version: "1.2.3", isUp: true, requests: 0 };
  const leader = createTestLeader(resolverOf(repository), options);
  const { rest } = leader;
  if (checksNames) installGateDecisions(rest);
  begin(leader);

  function add(name: string, own: Readonly<Record<string, string>>): void {
    const cluster = aCluster(name, { metadata: { uid: `uid-${name}`, labels: own }, status: {} });
    const connected = !offline.includes(name);
    const agent = { connected, epoch: 1, lastSeen: "2025-12-24T18:00:00Z" };
    rest.put(clusters, { ...cluster, status: { agent } });
  }

  for (const [name, own] of Object.entries(labels)) add(name, own);
  rest.put(
    helmOps,
    aHelmOp(
      {
        helm: { repo, chart: "web", version: "~1.2" },
        pollingInterval: "15s",
        targets: [{ clusterSelector: {} }],
        rolloutStrategy: strategy,
        ...spec,
      },
      { name: "web", uid: "uid-web" },
    ),
  );

  const deploymentOf = (name: string) =>
    rest
      .all(bundleDeployments)
      .find(
        ({ metadata: { labels } }) =>
          labels?.[clusterLabel] === name && labels[bundleNameLabel] === "web",
      );

  function report(name: string, status: NonNullable<BundleDeployment["status"]>): void {
    const deployment = deploymentOf(name);
    assert.ok(deployment, `${name} has no deployment`);
    rest.put(bundleDeployments, { ...deployment, status });
  }

  const fleet: StagedFleet = {
    leader,
    repository,
    having(version) {
      const digests = contentsOf(leader, version);
      return Object.keys(names()).filter((name) =>
        digests.has(deploymentOf(name)?.spec.deploymentID ?? ""),
      );
    },
    ready(...some) {
      for (const name of some.length > 0 ? some : Object.keys(names())) {
        const desired = deploymentOf(name)?.spec.deploymentID;
        if (desired === undefined || desired === "") continue;
        report(name, { appliedDeploymentID: desired, ready: true, conditions: [isReady] });
      }
    },
    fails(name) {
      const { spec, status } = deploymentOf(name) ?? {};
      const conditions = [
        {
          ...isReady,
          status: "False" as const,
          reason: "ErrApplied",
          message: "it does not start",
        },
        { ...isReady, type: "Stalled", reason: "RetriesExceeded" },
        { ...isReady, type: "Deployed", status: "False" as const, message: "it does not start" },
      ];
      const attemptedDeploymentID = spec?.deploymentID ?? "";
      report(name, { ...status, ready: false, attemptedDeploymentID, conditions });
    },
    setConnected(name, connected) {
      const cluster = rest.peek(clusters, { namespace: workspace, name });
      assert.ok(cluster);
      const agent = { ...cluster.status?.agent, connected };
      rest.put(clusters, { ...cluster, status: { ...cluster.status, agent } });
    },
    add,
    relabel(name, own) {
      const cluster = rest.peek(clusters, { namespace: workspace, name });
      assert.ok(cluster);
      rest.put(clusters, { ...cluster, metadata: { ...cluster.metadata, labels: own } });
    },
    decide(name, result = "Passed") {
      const gate = rest
        .all(gates)
        .findLast(({ spec, status }) => spec.gate === name && status?.decision === undefined);
      assert.ok(gate, `no Gate ${name} waits`);
      decideGate(rest, gate, result);
    },
    setStrategy(rolloutStrategy) {
      const helmOp = rest.peek(helmOps, { namespace: workspace, name: "web" });
      assert.ok(helmOp);
      rest.put(helmOps, { ...helmOp, spec: { ...helmOp.spec, rolloutStrategy } });
    },
    async publish(version) {
      repository.version = version;
      await leader.pass(20_000);
    },
    pass: (ms = quietMs) => leader.pass(ms),
    rollouts: () => rest.all(bundleRollouts).toSorted((a, b) => a.spec.number - b.spec.number),
    current() {
      const newest = fleet.rollouts().at(-1);
      assert.ok(newest, "there is no BundleRollout");
      return newest;
    },
    status() {
      const { status } = fleet.current();
      assert.ok(status, "no step was stored");
      return status;
    },
    gates: () => rest.all(gates),
    deployment: deploymentOf,
    command(fields) {
      const newest = fleet.current();
      rest.put(bundleRollouts, { ...newest, spec: { ...newest.spec, ...fields } });
    },
    stop: () => leader.stop(),
  };

  function names(): Readonly<Record<string, true>> {
    return Object.fromEntries(
      rest
        .all(clusters)
        .map(({ metadata }) => [metadata.name, true] as const)
        .toSorted(),
    );
  }

  await leader.pass(quietMs);
  return fleet;
}

const isReady = {
  type: "Ready",
  status: "True",
  reason: "",
  message: "",
  lastTransitionTime: "2025-12-24T18:00:00Z",
} as const;

/** The contents that rollouts of a version pin. */
function contentsOf({ rest }: TestLeader, version: string): ReadonlySet<string> {
  const pinned = rest
    .all(bundleRollouts)
    .filter(({ spec }) => spec.version === version)
    .flatMap(({ spec }) => spec.targets.flatMap(({ deploymentID }) => deploymentID ?? []));
  return new Set(pinned);
}

/** The status of the Bundle, as the front ends read it. */
export function bundleStatusOf({ leader }: Pick<StagedFleet, "leader">) {
  return leader.rest.peek(bundles, { namespace: workspace, name: "web" })?.status;
}
