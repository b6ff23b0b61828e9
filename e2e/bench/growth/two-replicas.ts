/** What a second replica takes over: one leads, the other has all agents. */
import assert from "node:assert/strict";
import { hubNamespace } from "@flotilla/shared/api/names";
import { holderOf } from "@flotilla/shared/kube/leaderelection";
import { leases } from "@flotilla/shared/kube/objects";
import type { TestReplica } from "../../src/harness/processes.ts";
import { waitForObject } from "../../src/harness/wait.ts";
import { type AgentsFleet, startAgentsFleet } from "../agents/agents-fleet.ts";
import { settledMemoryMb } from "../agents/settled-memory.ts";
import { endOfHub } from "../measure/end-of-hub.ts";
import { processorMs } from "../measure/processor.ts";
import { changed } from "../rollouts/changed.ts";
import { connectStagedFleet, quarters } from "../rollouts/staged-fleet.ts";

/** The leader, and the replica that has the agents. */
export interface Divided {
  readonly leader: number;
  readonly holder: number;
}

export interface TwoReplicas {
  readonly clusters: number;
  /** MB, after garbage collection: of a replica without any agents, and of both with them. */
  readonly emptyMb: number;
  readonly memory: Divided;
  /** ms of processor of a change of one app for all clusters. */
  readonly all: Divided;
  readonly staged: Divided;
}

export async function twoReplicas(clusters: number): Promise<TwoReplicas> {
  const bench = await startAgentsFleet({ replicas: 2 });
  try {
    return await Promise.race([measure(bench, clusters), endOfHub(bench)]);
  } finally {
    await bench.close();
  }
}

async function measure(bench: AgentsFleet, clusters: number): Promise<TwoReplicas> {
  const { fleet } = bench;
  const emptyMb = await bench.hubMemoryMb();
  // The collection has left it slower.
  await Promise.all(fleet.replicas.map((replica) => replica.stop()));
  await Promise.all(fleet.replicas.map((replica) => replica.start()));
  const leader = await leadingReplica(bench);
  const holder = fleet.replicas.find((each) => each !== leader);
  assert.ok(holder !== undefined && fleet.link !== undefined);
  fleet.link.setBackends([holder.ports.grpc]);
  const ofBoth = async (read: (replica: TestReplica) => Promise<number>): Promise<Divided> => ({
    leader: await read(leader),
    holder: await read(holder),
  });
  const memoryMb = (replica: TestReplica) =>
    settledMemoryMb(replica.process().identity.pid, replica.logFile);
  const processor = (replica: TestReplica) => processorMs(replica.process().identity.pid);

  const staged = await connectStagedFleet(bench, clusters);
  const spent = async (strategy: Parameters<typeof changed>[1]): Promise<Divided> => {
    const before = await ofBoth(processor);
    await changed(staged, strategy, clusters);
    const after = await ofBoth(processor);
    return { leader: after.leader - before.leader, holder: after.holder - before.holder };
  };
  try {
    // Not counted: code is loaded.
    await spent(quarters(clusters));
    return {
      clusters,
      emptyMb,
      all: await spent(null),
      staged: await spent(quarters(clusters)),
      memory: await ofBoth(memoryMb),
    };
  } finally {
    await staged.observer.close();
  }
}

async function leadingReplica({ fleet }: AgentsFleet): Promise<TestReplica> {
  const find = (holder: string | undefined) =>
    fleet.replicas.find(({ name }) => holder?.startsWith(`${name}_`) === true);
  const ref = { namespace: hubNamespace, name: "flotilla-hub" };
  const lease = await waitForObject(
    fleet.hub,
    leases,
    ref,
    "held by a replica",
    (seen) => find(holderOf(seen)) !== undefined,
  );
  const replica = find(holderOf(lease));
  if (replica === undefined) throw new Error("no replica leads");
  return replica;
}
