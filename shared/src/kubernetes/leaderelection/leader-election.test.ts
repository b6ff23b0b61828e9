import assert from "node:assert/strict";
import { describe, it } from "vitest";
import { configMaps, type Lease, leases } from "../objects/index.ts";
import { respondStatus, stall } from "../testing/index.ts";
import { fenceWrites } from "./fence-writes.ts";
import { leaseOn, leaseRef, openElection } from "./testing/index.ts";

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
