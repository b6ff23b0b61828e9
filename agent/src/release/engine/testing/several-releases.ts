/** A deployment with several releases, each in a namespace of its own. */
import { type DeploymentContent, packContent } from "@flotilla/shared/content";
import type {
  AssignmentsOf,
  ReleaseAssignment,
} from "../../../state/assignment/release-assignments.ts";
import {
  createTestCluster,
  owner,
  startAgent,
  type TestAgent,
  type TestCluster,
  testContent,
} from "./test-agent.ts";

/** What is desired of one release. */
export interface DesiredPart extends Pick<ReleaseAssignment, "request"> {
  readonly version?: string;
  readonly content?: Partial<DeploymentContent>;
  /** It is removed from the deployment, which stays. */
  readonly isRemoved?: boolean;
}

/** By namespace. */
export type DesiredParts = Readonly<Record<string, DesiredPart>>;

export interface SeveralReleases {
  readonly cluster: TestCluster;
  /** The one that runs now. */
  readonly agent: () => TestAgent;
  /** Assigns the deployment, and reconciles its releases for so long, ms. Returns the runs of Helm. */
  deploy(parts: DesiredParts, forMs?: number): Promise<readonly string[]>;
  withdraw(): Promise<readonly string[]>;
  /** Reconciles what is enqueued, and what is due by then. */
  run(forMs?: number): Promise<readonly string[]>;
  /** Another agent goes on, and reconciles all releases. */
  restart(): Promise<readonly string[]>;
}

/** More than any test needs. */
const maxPasses = 100;

export function releaseId(namespace: string): string {
  return `${owner.name}/${namespace}/app`;
}

export async function startSeveralReleases(): Promise<SeveralReleases> {
  const cluster = createTestCluster();
  /** By the digest of the deployment's content. */
  const plans = new Map<string, readonly ReleaseAssignment[]>();
  const assignmentsOf: AssignmentsOf = (deployment) =>
    (plans.get(deployment.deploymentId) ?? []).map((part) => ({
      ...part,
      withdrawing: part.withdrawing || deployment.withdrawing,
    }));
  let agent = await startAgent(cluster, assignmentsOf);
  /** When a release is reconciled again, ms since 1970. */
  const due = new Map<string, number>();

  async function next(untilMs: number): Promise<string | undefined> {
    for (const id of await agent.takeEnqueued()) due.set(id, cluster.clock.now());
    const [first] = [...due].toSorted(([, a], [, b]) => a - b);
    if (first === undefined || first[1] > untilMs) return undefined;
    const [id, atMs] = first;
    await cluster.clock.advance(Math.max(0, atMs - cluster.clock.now()));
    due.delete(id);
    return id;
  }

  async function run(forMs = 0): Promise<readonly string[]> {
    const before = cluster.helm.runs.length;
    const untilMs = cluster.clock.now() + forMs;
    for (let pass = 0; pass < maxPasses; pass += 1) {
      const id = await next(untilMs);
      if (id === undefined) return cluster.helm.runs.slice(before);
      const result = await agent.reconcile(id);
      if (result.kind === "requeue") due.set(id, cluster.clock.now() + result.afterMs);
    }
    throw new Error(`not settled after ${maxPasses} passes: ${cluster.helm.runs.join("; ")}`);
  }

  return {
    cluster,
    agent: () => agent,
    run,
    async deploy(parts, forMs) {
      // Each set of parts is another content of the deployment.
      const whole = await packContent({ ...testContent, labels: { plan: JSON.stringify(parts) } });
      const releases = Object.entries(parts).map((part) => releaseOf(...part));
      plans.set(whole.deploymentId, await Promise.all(releases));
      const { deploymentId, bytes: content } = whole;
      await agent.assignments.assign({ deployment: owner, deploymentId, content, paused: false });
      return await run(forMs);
    },
    async withdraw() {
      await agent.assignments.withdraw(owner);
      return await run();
    },
    async restart() {
      agent.stop();
      agent = await startAgent(cluster, assignmentsOf);
      due.clear();
      for (const each of agent.assigned.list()) due.set(each.owner.id, cluster.clock.now());
      return await run();
    },
  };
}

async function releaseOf(
  namespace: string,
  { version = "1.0.0", content, request, isRemoved = false }: DesiredPart,
): Promise<ReleaseAssignment> {
  const url = `https://charts.example.com/app-${version}.tgz`;
  const { deploymentId, bytes } = await packContent({
    ...testContent,
    pin: { kind: "tarball", url },
    namespace,
    releaseName: "app",
    ...content,
  });
  return {
    owner: { ...owner, id: releaseId(namespace) },
    deploymentId,
    content: bytes,
    paused: false,
    withdrawing: isRemoved,
    ...(request !== undefined && { request }),
  };
}
