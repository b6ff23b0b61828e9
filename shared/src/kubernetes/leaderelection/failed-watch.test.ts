import assert from "node:assert/strict";
import { describe, it } from "vitest";
import type { FakeClock } from "../../runtime/time/testing/index.ts";
import { configMaps, leases } from "../objects/index.ts";
import { type Fault, type HttpApiServer, respondJson, respondStatus } from "../testing/index.ts";
import { fenceWrites } from "./fence-writes.ts";
import { leaseOn, openElection, type Replica } from "./testing/index.ts";

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

describe("a leader whose watch of the Lease has failed", () => {
  it("does not write before it has renewed the Lease", async (t) => {
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

  it("rejects the writes that wait for a renewal when it stops", async (t) => {
    const { server, clock, join } = await openElection(t);
    const one = join("one");
    const { fenced, respondToRenewal } = await cutLeaseWatch(server, clock, one);
    const write = () => fenced.create(configMaps, { metadata: { name: "a", namespace: "x" } });
    const written = write();

    one.stop();

    await assert.rejects(written, { code: "LEADERSHIP_LOST", message: /not renewed since/ });
    await assert.rejects(write, { code: "LEADERSHIP_LOST", message: /not renewed since/ });
    respondToRenewal((response, { body }) => respondJson(response, 200, JSON.parse(body)));
    await one.ended;
    assert.deepEqual(configMapsOn(server), []);
  });
});
