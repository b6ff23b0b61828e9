/** Replicas that elect their leader on an API server over HTTP, with a fake clock. */
import type { TestContext } from "vitest";
import { silentLog } from "../../../runtime/log/index.ts";
import { createFakeClock, type FakeClock } from "../../../runtime/time/testing/index.ts";
import { connectKube, type KubeRest } from "../../client/index.ts";
import { type Lease, leases } from "../../objects/index.ts";
import { type HttpApiServer, startHttpApiServer } from "../../testing/index.ts";
import { runLeaderElection } from "../leader-election.ts";
import type { Leadership, LeaseTimes } from "../leadership.ts";

const times: LeaseTimes = {
  leaseDurationMs: 10_000,
  renewIntervalMs: 5_000,
  renewDeadlineMs: 7_000,
};

interface Election {
  readonly server: HttpApiServer;
  readonly clock: FakeClock;
  /** A replica with a connection of its own. */
  join(identity: string): Replica;
  holder(): string | undefined;
}

export interface Replica {
  readonly rest: KubeRest;
  /** Resolves when it leads. */
  readonly elected: Promise<Leadership>;
  /** How it ended. */
  readonly ended: Promise<void>;
  /** Resolves when it sees this leader. */
  sees(identity: string | undefined): Promise<void>;
  stop(): void;
}

export async function openElection(t: TestContext): Promise<Election> {
  const server = await startHttpApiServer();
  const clock = createFakeClock();
  const replicas: (Replica & { close(): Promise<void> })[] = [];
  t.onTestFinished(async () => {
    for (const replica of replicas) replica.stop();
    for (const replica of replicas) await replica.close();
    await server.close();
  });

  function join(identity: string): Replica {
    const rest = connectKube({ server: server.url, credentials: { kind: "none" } }, { clock });
    const stop = new AbortController();
    const { promise: elected, resolve } = Promise.withResolvers<Leadership>();
    const seen: (string | undefined)[] = [];
    let notify = (): void => undefined;
    const ended = runLeaderElection({
      rest,
      namespace: "system",
      name: "leader",
      identity,
      log: silentLog(),
      clock,
      random: () => 0.5,
      times,
      signal: stop.signal,
      onNewLeader: (leader) => {
        seen.push(leader);
        notify();
      },
      onStartedLeading: async (signal, leadership) => {
        resolve(leadership);
        await new Promise<void>((end) => signal.addEventListener("abort", () => end()));
      },
    });
    ended.catch(() => undefined);
    const replica = {
      rest,
      elected,
      ended,
      sees: (expected: string | undefined) =>
        new Promise<void>((done) => {
          notify = () => {
            if (seen.length > 0 && seen.at(-1) === expected) done();
          };
          notify();
        }),
      stop: () => stop.abort(),
      close: async () => {
        await ended.catch(() => undefined);
        await rest.close();
      },
    };
    replicas.push(replica);
    return replica;
  }

  return { server, clock, join, holder: () => leaseOn(server).spec?.holderIdentity };
}

export const leaseRef = { namespace: "system", name: "leader" };

export function leaseOn(server: HttpApiServer): Lease {
  return server.get(leases, leaseRef) ?? { metadata: { name: "leader" } };
}
