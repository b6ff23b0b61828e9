import assert from "node:assert/strict";
import { describe, it, type TestContext } from "vitest";
import { silentLog } from "../../log/index.ts";
import { createFakeClock, type FakeClock } from "../../time/testing/index.ts";
import { connectKube, type KubeRest } from "../client/index.ts";
import { configMaps, type Lease, leases } from "../objects/index.ts";
import {
  type Fault,
  type HttpApiServer,
  respondJson,
  respondStatus,
  stall,
  startHttpApiServer,
} from "../testing/index.ts";
import { runLeaderElection } from "./leader-election.ts";
import { fenceWrites, type Leadership, type LeaseTimes } from "./leadership.ts";

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

interface Replica {
  readonly rest: KubeRest;
  /** Resolves when it leads. */
  readonly elected: Promise<Leadership>;
  /** How it ended. */
  readonly ended: Promise<void>;
  /** Resolves when it sees this leader. */
  sees(identity: string | undefined): Promise<void>;
  stop(): void;
}

async function openElection(t: TestContext): Promise<Election> {
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

/** The watch of the Lease of a leader is cut after a renewal; the next renewal has arrived, and waits for its response. */
async function cutLeaseWatch(server: HttpApiServer, clock: FakeClock, { rest, elected }: Replica) {
  const fenced = fenceWrites(rest, await elected);
  const watch = await server.opened();
  clock.advanceNow(5_000);
  await clock.timer((delayMs) => delayMs === 5_000);
  const renewal = Promise.withResolvers<Parameters<Fault>>();
  server.next("write", (...args) => renewal.resolve(args));
  watch.cut();
  const args = await renewal.promise;
  return { fenced, respondToRenewal: (respond: Fault) => respond(...args) };
}

function configMapsOn(server: HttpApiServer): readonly string[] {
  return ["a", "b", "c"].filter((name) => server.get(configMaps, { namespace: "x", name }));
}

const leaseRef = { namespace: "system", name: "leader" };

function leaseOn(server: HttpApiServer): Lease {
  return server.get(leases, leaseRef) ?? { metadata: { name: "leader" } };
}

describe("an election", () => {
  it("is won by the first candidate, which writes its identity, duration and times", async (t) => {
    const { server, join } = await openElection(t);

    const { elected } = join("one");
    const leadership = await elected;

    assert.equal(leadership.isLeading, true);
    leadership.assertLeading();
    assert.equal(leadership.remainingMs(), 10_000);
    assert.deepEqual(leaseOn(server).spec, {
      holderIdentity: "one",
      leaseDurationSeconds: 10,
      acquireTime: "2026-01-01T00:00:00.000000Z",
      renewTime: "2026-01-01T00:00:00.000000Z",
      leaseTransitions: 0,
    });
  });

  it("is tried again with backoff while the namespace of the Lease does not exist", async (t) => {
    const { server, clock, join } = await openElection(t);
    const writes = () => server.requests.filter(({ kind }) => kind === "write").length;
    server.next("write", respondStatus(404, "NotFound"));

    const { elected } = join("one");
    const waitMs = await clock.timer((delayMs) => delayMs <= 500);
    assert.equal(writes(), 1);
    clock.advanceNow(waitMs);

    await elected;
    assert.equal(writes(), 2);
  });

  it("is not won while another replica holds the Lease and renews it", async (t) => {
    const { server, clock, join, holder } = await openElection(t);
    await join("one").elected;
    const two = join("two");
    await two.sees("one");

    const before = leaseOn(server).spec?.renewTime;
    for (let round = 1; round <= 5; round++) {
      clock.advanceNow(5_000);
      // The other has seen the renewal, and starts to count again; then the leader waits for its next one.
      await clock.timer((delayMs) => delayMs === 10_000);
      await clock.timer((delayMs) => delayMs === 5_000);
    }

    assert.equal(holder(), "one");
    assert.notEqual(leaseOn(server).spec?.renewTime, before);
  });

  it("is won at once when the leader releases the Lease", async (t) => {
    const { server, join, holder } = await openElection(t);
    const one = join("one");
    await one.elected;
    const two = join("two");
    await two.sees("one");

    one.stop();
    await one.ended;
    await two.elected;

    assert.equal(holder(), "two");
    assert.equal(leaseOn(server).spec?.leaseTransitions, 1);
  });

  it("is won when the leader has not renewed for the duration of the Lease, by the candidate's own clock", async (t) => {
    const { server, clock, join, holder } = await openElection(t);
    // A wall time far in the future does not matter.
    server.put(leases, lease("previous", "2036-01-01T00:00:00.000000Z"));
    const two = join("two");
    await two.sees("previous");

    await clock.advance(9_999);
    assert.equal(holder(), "previous");
    await clock.advance(1);
    await two.elected;

    assert.equal(holder(), "two");
  });

  it("is won by one of several candidates", async (t) => {
    const { server, clock, join, holder } = await openElection(t);
    server.put(leases, lease("previous", "2020-01-01T00:00:00.000000Z"));
    const candidates = ["one", "two", "three"].map((identity) => ({
      identity,
      ...join(identity),
    }));
    await Promise.all(candidates.map(({ sees }) => sees("previous")));

    clock.advanceNow(10_000);
    const winner = await Promise.race(
      candidates.map(({ elected, identity }) => elected.then(() => identity)),
    );
    await Promise.all(candidates.map(({ sees }) => sees(winner)));

    assert.equal(holder(), winner);
    assert.equal(leaseOn(server).spec?.leaseTransitions, 1);
  });
});

describe("a leader", () => {
  it("continues when a renewal fails and the next one succeeds", async (t) => {
    const { server, clock, join } = await openElection(t);
    const { elected } = join("one");
    const leadership = await elected;

    server.next("write", respondStatus(500, "InternalError"));
    clock.advanceNow(5_000);
    clock.advanceNow(await clock.timer((delayMs) => delayMs === 250));
    await clock.timer((delayMs) => delayMs === 5_000);

    assert.equal(leadership.isLeading, true);
    assert.equal(leadership.remainingMs(), 10_000);
  });

  it("continues when a renewal was stored and its response was lost", async (t) => {
    const { server, clock, join } = await openElection(t);
    const { elected } = join("one");
    const leadership = await elected;

    server.next("write", (_response, request) => {
      server.put(leases, JSON.parse(request.body) as Lease);
    });
    await server.arrival("write");
    clock.advanceNow(5_000);
    await server.arrival("write");
    clock.advanceNow(await clock.timer((delayMs) => delayMs === 1_200));
    clock.advanceNow(await clock.timer((delayMs) => delayMs === 250));
    await clock.timer((delayMs) => delayMs === 5_000);

    assert.equal(leadership.isLeading, true);
    assert.equal(leadership.remainingMs(), 10_000);
  });

  it("ends by itself 7 s after the last renewal", async (t) => {
    const { server, clock, join } = await openElection(t);
    const one = join("one");
    const leadership = await one.elected;
    for (let count = 0; count < 20; count++) server.next("write", stall);

    await clock.advance(6_999);
    assert.equal(leadership.isLeading, true);
    await clock.advance(1);

    assert.equal(leadership.isLeading, false);
    assert.equal(leadership.signal.aborted, true);
    await assert.rejects(one.ended, { code: "LEADERSHIP_LOST" });
  });

  it("that was frozen does not write before it has read the Lease again", async (t) => {
    const { server, clock, join } = await openElection(t);
    const { elected, rest } = join("one");
    const leadership = await elected;
    const fenced = fenceWrites(rest, leadership);
    const writes = server.requests.filter(({ kind }) => kind === "write").length;

    clock.freeze(30_000);

    const object = { metadata: { name: "a", namespace: "x", resourceVersion: "1" } };
    const attempts = [
      () => fenced.create(configMaps, object),
      () => fenced.replace(configMaps, object),
      () => fenced.patch(configMaps, object.metadata, { type: "merge", body: {} }),
      () => fenced.delete(configMaps, object.metadata),
    ];
    for (const attempt of attempts) await assert.rejects(attempt, { code: "LEADERSHIP_LOST" });
    assert.throws(() => leadership.assertLeading(), { code: "LEADERSHIP_LOST", retryable: true });
    assert.equal(server.requests.filter(({ kind }) => kind === "write").length, writes);
  });

  it("ends when another replica has acquired the Lease", async (t) => {
    const { server, join } = await openElection(t);
    const one = join("one");
    await one.elected;

    server.put(leases, lease("thief", "2026-01-01T00:00:00.000000Z"));

    await assert.rejects(one.ended, {
      code: "LEADERSHIP_LOST",
      message: /its holder is thief now/,
    });
  });

  it("ends when the Lease is an earlier version of its own: the server was restored from a backup", async (t) => {
    const { server, clock, join } = await openElection(t);
    const { elected, ended } = join("one");
    await elected;
    const backup = leaseOn(server);
    clock.advanceNow(5_000);
    await clock.timer((delayMs) => delayMs === 5_000);
    assert.notEqual(leaseOn(server).spec?.renewTime, backup.spec?.renewTime);

    server.put(leases, backup);
    await clock.advance(5_000);

    await assert.rejects(ended, /lead by lease system\/leader: .* restored from a backup/);
  });

  it("does not write after its watch of the Lease has failed before it has renewed the Lease", async (t) => {
    const { server, clock, join } = await openElection(t);
    const one = join("one");
    const { fenced, respondToRenewal } = await cutLeaseWatch(server, clock, one);

    const written = fenced.create(configMaps, { metadata: { name: "a", namespace: "x" } });
    // A write that does not wait arrives before the second of these.
    for (const name of ["b", "c"])
      await one.rest.create(configMaps, { metadata: { name, namespace: "x" } });
    assert.deepEqual(configMapsOn(server), ["b", "c"]);
    respondToRenewal((response, { body }) => respondJson(response, 200, JSON.parse(body)));

    await written;
    assert.deepEqual(configMapsOn(server), ["a", "b", "c"]);
  });

  it("writes nothing to a server that has been restored from a backup", async (t) => {
    const { server, clock, join } = await openElection(t);
    const one = join("one");
    await one.elected;
    const backup = leaseOn(server);
    const { fenced, respondToRenewal } = await cutLeaseWatch(server, clock, one);

    const written = fenced.create(configMaps, { metadata: { name: "a", namespace: "x" } });
    server.put(leases, backup);
    respondToRenewal(respondStatus(409, "Conflict"));

    await assert.rejects(written, { code: "LEADERSHIP_LOST" });
    await assert.rejects(one.ended, /restored from a backup/);
    assert.deepEqual(configMapsOn(server), []);
  });

  it("ends when the Lease is deleted", async (t) => {
    const { server, join } = await openElection(t);
    const one = join("one");
    await one.elected;

    server.remove(leases, leaseRef);

    await assert.rejects(one.ended, { code: "LEADERSHIP_LOST", message: /it was deleted/ });
  });

  it("limits the timeout of writes to the time until another replica may lead", async (t) => {
    const { server, clock, join } = await openElection(t);
    const { elected, rest } = join("one");
    const fenced = fenceWrites(rest, await elected);
    clock.advanceNow(4_000);

    await fenced.create(configMaps, { metadata: { name: "a", namespace: "x" } });

    const write = server.requests.filter(({ kind }) => kind === "write").at(-1);
    assert.equal(write?.query.get("timeout"), "6000ms");
  });

  it("releases the Lease when its work ends, and stops", async (t) => {
    const { server, holder, join } = await openElection(t);
    const one = join("one");
    await one.elected;

    one.stop();
    await one.ended;

    assert.equal(holder(), "");
    assert.equal(leaseOn(server).spec?.leaseDurationSeconds, 1);
  });
});

function lease(holderIdentity: string, renewTime: string): Lease {
  return {
    metadata: { name: "leader", namespace: "system" },
    spec: { holderIdentity, leaseDurationSeconds: 10, renewTime, leaseTransitions: 0 },
  };
}
