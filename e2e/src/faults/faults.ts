/** What can happen to a fleet, each as one deed that is undone after a while. */
import { setTimeout as sleep } from "node:timers/promises";
import { waitUntil } from "@flotilla/local/process";
import { helmOps } from "@flotilla/shared/api";
import { hubNamespace } from "@flotilla/shared/api/names";
import { holderOf } from "@flotilla/shared/kube/leaderelection";
import { leases } from "@flotilla/shared/kube/objects";
import type { TestFleet } from "../harness/fleet.ts";
import type { LinkProxy } from "../harness/link-proxy.ts";
import type { Chronicle } from "./event-log.ts";
import {
  createFaultTally,
  type FaultKind,
  type FaultTally,
  nextFault,
  type Weighted,
} from "./fault-kinds.ts";
import type { Random } from "./random.ts";
import { type Keeper, keepUp } from "./supervised-process.ts";

export interface Faults {
  /**
   * Does one of those that are possible now, chosen at random, each kind once before any comes again; what it undoes
   * later is its own business.
   */
  strike(random: Random): void;
  /** Resolves when nothing is broken any more, everything is up, and the API server answers. */
  over(): Promise<void>;
  readonly agents: readonly Keeper[];
  /** What really happened. */
  readonly tally: Pick<FaultTally, "total" | "missing" | "told">;
  /** Starts nothing any more. */
  stop(): Promise<void>;
}

interface Deed extends Weighted {
  readonly isPossible: () => boolean;
  readonly run: (random: Random) => Promise<void>;
}

/** As long as something is away: most often short, now and then longer than what the product waits for. */
function away(random: Random): number {
  return random.pick([
    random.between(100, 1_000),
    random.between(100, 1_000),
    random.between(1_000, 5_000),
    random.between(5_000, 16_000),
  ]);
}

const planeRestMs = 12_000;

/** Asks for a custom resource: a server that was just started serves its own kinds some seconds before those. */
export async function apiAnswers({ hub }: TestFleet): Promise<boolean> {
  const signal = AbortSignal.timeout(2_000);
  await hub.list(helmOps, { limit: 1, signal });
  return true;
}

/** A Lease goes on naming a replica for a while that was killed and is up again, and then leads no longer. */
async function saysItLeads({ replicas }: TestFleet, { name }: Keeper): Promise<boolean> {
  const port = replicas.find((replica) => replica.name === name)?.ports.http;
  const options = { signal: AbortSignal.timeout(2_000) };
  const answer = await fetch(`http://127.0.0.1:${port}/metrics`, options).catch(() => undefined);
  return /^flotilla_hub_leader 1$/m.test((await answer?.text().catch(() => "")) ?? "");
}

export function createFaults(fleet: TestFleet, link: LinkProxy, chronicle: Chronicle): Faults {
  const { note } = chronicle;
  const replicas = fleet.replicas.map((replica) => keepUp(replica, chronicle));
  const agents = fleet.clusters.map((cluster) =>
    keepUp(
      {
        name: `agent of ${cluster.name}`,
        process: cluster.agent,
        start: cluster.startAgent,
      },
      chronicle,
    ),
  );
  const [etcd, apiServer, controllerManager] = (
    ["etcd", "kube-apiserver", "kube-controller-manager"] as const
  ).map((tool) =>
    keepUp(
      {
        name: `${tool} of the hub`,
        process: () => {
          const running = fleet.ownHubPlane().part(tool);
          if (running === undefined) throw new Error(`the hub has no ${tool}`);
          return running;
        },
        start: () => fleet.ownHubPlane().restart(tool),
      },
      chronicle,
    ),
  );
  if (etcd === undefined || apiServer === undefined || controllerManager === undefined)
    throw new Error("the hub's control plane has other parts");
  const kept = [...replicas, ...agents, etcd, apiServer, controllerManager];
  const underWay = new Set<Promise<void>>();
  let isLinkBusy = false;
  let planeIsLeftUntil = 0;
  const tally = createFaultTally();

  function kill(keeper: Keeper, kind: FaultKind, weight: number): Deed {
    return {
      kind,
      weight,
      isPossible: () => keeper.isUp,
      run: (random) => {
        const forMs = away(random);
        note(`kill -9 of ${keeper.name}, away for ${forMs} ms`);
        if (keeper.kill(forMs)) tally.add(kind);
        return Promise.resolve();
      },
    };
  }

  /** Not so often that nothing but starting anew could ever go on. */
  function ofPlane(deed: Deed): Deed {
    return {
      ...deed,
      isPossible: () => deed.isPossible() && performance.now() >= planeIsLeftUntil,
      async run(random) {
        planeIsLeftUntil = performance.now() + planeRestMs;
        await deed.run(random);
      },
    };
  }

  /** One at a time: the next would undo this one. And only where there is a connection that it can happen to. */
  function onLink(kind: FaultKind, run: (random: Random) => Promise<void> | void): Deed {
    return {
      kind,
      weight: 1,
      isPossible: () => !isLinkBusy && link.size > 0,
      async run(random) {
        isLinkBusy = true;
        note(`link: ${kind}`);
        tally.add(kind);
        await run(random);
        link.heal();
        note("link: healed");
        isLinkBusy = false;
      },
    };
  }

  const killLeader: Deed = {
    kind: "kill -9 of the leader",
    weight: 3,
    isPossible: () => apiServer.isUp && etcd.isUp,
    async run(random) {
      const ref = { namespace: hubNamespace, name: "flotilla-hub" };
      const options = { signal: AbortSignal.timeout(2_000) };
      const lease = await fleet.hub.get(leases, ref, options).catch(() => undefined);
      const name = holderOf(lease)?.split("_")[0];
      const leader = replicas.find((replica) => replica.name === name);
      if (leader?.isUp === true && (await saysItLeads(fleet, leader))) {
        note("the leader is chosen");
        await kill(leader, killLeader.kind, 0).run(random);
      }
    },
  };

  const deeds: readonly Deed[] = [
    ...replicas.map((replica) => kill(replica, "kill -9 of a replica of the hub", 1)),
    killLeader,
    ...agents.map((agent) => kill(agent, "kill -9 of an agent", 2)),
    ofPlane(kill(apiServer, "kill -9 of the hub's API server", 3)),
    ofPlane(kill(etcd, "kill -9 of the hub's etcd", 3)),
    onLink("all connections are cut", () => link.cut()),
    onLink("all connections are cut again and again", async (random) => {
      for (let left = random.between(3, 10); left > 0; left -= 1) {
        link.cut();
        await sleep(random.between(100, 500));
      }
    }),
    onLink("what agents send has an end", () => link.halve("agent")),
    onLink("what the hub sends has an end", () => link.halve("hub")),
    onLink("nothing goes through", async (random) => {
      link.drop(["agent", "hub"]);
      await sleep(away(random));
    }),
    onLink("nothing of the agents goes through", async (random) => {
      link.drop(["agent"]);
      await sleep(away(random));
    }),
    onLink("nothing of the hub goes through", async (random) => {
      link.drop(["hub"]);
      await sleep(away(random));
    }),
    onLink("everything is late", async (random) => {
      link.delay(random.between(50, 2_000));
      await sleep(away(random));
    }),
  ];

  return {
    agents,
    tally,
    strike(random) {
      const possible = deeds.filter((deed) => deed.isPossible());
      const deed = nextFault(possible, tally.missing, random);
      if (deed === undefined) return;
      const work = deed.run(random).finally(() => underWay.delete(work));
      underWay.add(work);
    },
    async over() {
      await Promise.all(underWay);
      do {
        await Promise.all(kept.map((keeper) => keeper.up()));
        // A server that was started takes a while until it answers, and meanwhile a hub may give up.
        await waitUntil(() => apiAnswers(fleet), {
          what: "the hub's API server",
          timeoutMs: 60_000,
        });
      } while (kept.some((keeper) => !keeper.isUp));
      note("everything is up");
    },
    async stop() {
      await Promise.all(kept.map((keeper) => keeper.stop()));
    },
  };
}
