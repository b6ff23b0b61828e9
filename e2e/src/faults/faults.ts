/** The faults of a fleet. Each is undone after a while. */
import { setTimeout as sleep } from "node:timers/promises";
import { waitUntil } from "@flotilla/local/process";
import { helmOps } from "@flotilla/shared/api";
import { hubNamespace } from "@flotilla/shared/api/names";
import { holderOf } from "@flotilla/shared/kube/leaderelection";
import { leases } from "@flotilla/shared/kube/objects";
import type { TestFleet } from "../harness/fleet.ts";
import { hangMs } from "../harness/hang.ts";
import type { LinkProxy } from "../harness/link-proxy.ts";
import type { EventLog } from "./event-log.ts";
import {
  createFaultCounts,
  type FaultCounts,
  type FaultKind,
  nextFault,
  type Weighted,
} from "./fault-kinds.ts";
import type { Random } from "./random.ts";
import { type SupervisedProcess, supervise } from "./supervised-process.ts";

export interface Faults {
  /** Starts a fault that is possible now, chosen at random, each kind once before any is repeated. */
  inject(random: Random): void;
  /** Resolves when all faults are undone, all processes run, and the API server is ready. */
  settled(): Promise<void>;
  readonly agents: readonly SupervisedProcess[];
  /** How often each was injected. */
  readonly counts: Pick<FaultCounts, "total" | "missing" | "text">;
  /** Ends the supervision of all processes. */
  stop(): Promise<void>;
}

interface Fault extends Weighted {
  readonly isPossible: () => boolean;
  readonly run: (random: Random) => Promise<void>;
}

/** How long a fault lasts: most often short, now and then longer than the timeouts of the product. */
function duration(random: Random): number {
  return random.pick([
    random.between(100, 1_000),
    random.between(100, 1_000),
    random.between(1_000, 5_000),
    random.between(5_000, 16_000),
  ]);
}

const planePauseMs = 12_000;

/** Whether the API server lists custom resources, which it serves some seconds later than built-in kinds. */
export async function isApiServerReady({ hub }: TestFleet): Promise<boolean> {
  const signal = AbortSignal.timeout(2_000);
  await hub.list(helmOps, { limit: 1, signal });
  return true;
}

/** From its metrics: a Lease still names a replica that was killed and has restarted, which is not the leader. */
async function isLeader({ replicas }: TestFleet, { name }: SupervisedProcess): Promise<boolean> {
  const port = replicas.find((replica) => replica.name === name)?.ports.internal;
  const options = { signal: AbortSignal.timeout(2_000) };
  const response = await fetch(`http://127.0.0.1:${port}/metrics`, options).catch(() => undefined);
  return /^flotilla_hub_leader 1$/m.test((await response?.text().catch(() => "")) ?? "");
}

export function createFaults(fleet: TestFleet, link: LinkProxy, log: EventLog): Faults {
  const { note } = log;
  const replicas = fleet.replicas.map((replica) => supervise(replica, log));
  const agents = fleet.clusters.map((cluster) =>
    supervise(
      {
        name: `agent of ${cluster.name}`,
        process: cluster.agent,
        start: cluster.startAgent,
      },
      log,
    ),
  );
  const [etcd, apiServer, controllerManager] = (
    ["etcd", "kube-apiserver", "kube-controller-manager"] as const
  ).map((tool) =>
    supervise(
      {
        name: `${tool} of the hub`,
        process: () => {
          const running = fleet.ownHubPlane().part(tool);
          if (running === undefined) throw new Error(`the hub has no ${tool}`);
          return running;
        },
        start: () => fleet.ownHubPlane().restart(tool),
      },
      log,
    ),
  );
  if (etcd === undefined || apiServer === undefined || controllerManager === undefined)
    throw new Error("the hub's control plane has other parts");
  const supervised = [...replicas, ...agents, etcd, apiServer, controllerManager];
  const running = new Set<Promise<void>>();
  let isLinkBusy = false;
  let planePausedUntil = 0;
  const counts = createFaultCounts();

  function kill(target: SupervisedProcess, kind: FaultKind, weight: number): Fault {
    return {
      kind,
      weight,
      isPossible: () => target.isUp,
      run: (random) => {
        const downMs = duration(random);
        note(`kill -9 of ${target.name}, away for ${downMs} ms`);
        if (target.kill(downMs)) counts.add(kind);
        return Promise.resolve();
      },
    };
  }

  /** With a pause after each, so that the fleet makes progress between restarts. */
  function ofPlane(fault: Fault): Fault {
    return {
      ...fault,
      isPossible: () => fault.isPossible() && performance.now() >= planePausedUntil,
      async run(random) {
        planePausedUntil = performance.now() + planePauseMs;
        await fault.run(random);
      },
    };
  }

  /** One at a time, because the end of the first would undo the second, and only while there is a connection. */
  function onLink(kind: FaultKind, run: (random: Random) => Promise<void> | void): Fault {
    return {
      kind,
      weight: 1,
      isPossible: () => !isLinkBusy && link.size > 0,
      async run(random) {
        isLinkBusy = true;
        note(`link: ${kind}`);
        counts.add(kind);
        await run(random);
        link.heal();
        note("link: healed");
        isLinkBusy = false;
      },
    };
  }

  const killLeader: Fault = {
    kind: "kill -9 of the leader",
    weight: 3,
    isPossible: () => apiServer.isUp && etcd.isUp,
    async run(random) {
      const ref = { namespace: hubNamespace, name: "flotilla-hub" };
      const options = { signal: AbortSignal.timeout(2_000) };
      const lease = await fleet.hub.get(leases, ref, options).catch(() => undefined);
      const name = holderOf(lease)?.split("_")[0];
      const leader = replicas.find((replica) => replica.name === name);
      if (leader?.isUp === true && (await isLeader(fleet, leader))) {
        note("the leader is chosen");
        await kill(leader, killLeader.kind, 0).run(random);
      }
    },
  };

  const faults: readonly Fault[] = [
    ...replicas.map((replica) => kill(replica, "kill -9 of a replica of the hub", 1)),
    killLeader,
    ...agents.map((agent) => kill(agent, "kill -9 of an agent", 2)),
    ofPlane(kill(apiServer, "kill -9 of the hub's API server", 3)),
    ofPlane(kill(etcd, "kill -9 of the hub's etcd", 3)),
    onLink("all connections are cut", () => link.cut()),
    onLink("all connections are cut repeatedly", async (random) => {
      for (let left = random.between(3, 10); left > 0; left -= 1) {
        link.cut();
        await sleep(random.between(100, 500));
      }
    }),
    onLink("agents close their half of the connections", () => link.halve("agent")),
    onLink("the hub closes its half of the connections", () => link.halve("hub")),
    onLink("all bytes are dropped", async (random) => {
      link.drop(["agent", "hub"]);
      await sleep(duration(random));
    }),
    onLink("bytes of the agents are dropped", async (random) => {
      link.drop(["agent"]);
      await sleep(duration(random));
    }),
    onLink("bytes of the hub are dropped", async (random) => {
      link.drop(["hub"]);
      await sleep(duration(random));
    }),
    onLink("all bytes are delayed", async (random) => {
      link.delay(random.between(50, 2_000));
      await sleep(duration(random));
    }),
  ];

  return {
    agents,
    counts,
    inject(random) {
      const possible = faults.filter((fault) => fault.isPossible());
      const fault = nextFault(possible, counts.missing, random);
      if (fault === undefined) return;
      const work = fault.run(random).finally(() => running.delete(work));
      running.add(work);
    },
    async settled() {
      await Promise.all(running);
      do {
        await Promise.all(supervised.map((target) => target.up()));
        // A started server takes a while until it is ready, and meanwhile a hub may end.
        await waitUntil(() => isApiServerReady(fleet), {
          what: "the hub's API server",
          timeoutMs: hangMs,
        });
      } while (supervised.some((target) => !target.isUp));
      note("all processes run");
    },
    async stop() {
      await Promise.all(supervised.map((target) => target.stop()));
    },
  };
}
