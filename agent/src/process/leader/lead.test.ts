import assert from "node:assert/strict";
import { agentNamespace } from "@flotilla/shared/api/names";
import { connectKube } from "@flotilla/shared/kube/client";
import type { Leadership } from "@flotilla/shared/kube/leaderelection";
import { type Lease, leases, namespaces } from "@flotilla/shared/kube/objects";
import { type HttpApiServer, stall, startHttpApiServer } from "@flotilla/shared/kube/testing";
import { silentLog } from "@flotilla/shared/log";
import { createFakeClock, type FakeClock } from "@flotilla/shared/time/testing";
import { describe, type TestContext, test } from "vitest";
import { createRunHelm, type HelmResult } from "../../helm/cli/run-helm.ts";
import { agentLeaseTimes, lead } from "./lead.ts";

const leaseRef = { namespace: agentNamespace, name: "flotilla-agent" };

interface Candidate {
  /** Resolves with the leadership when it becomes active for the `count`th time. */
  active(count?: number): Promise<Leadership>;
  readonly ended: Promise<void>;
  readonly isLeading: () => boolean;
  sigterm(): void;
}

async function setUp(t: TestContext) {
  const server = await startHttpApiServer();
  server.put(namespaces, { metadata: { name: agentNamespace } });
  const clock = createFakeClock();
  const closing: (() => Promise<void>)[] = [];
  t.onTestFinished(async () => {
    for (const close of closing) await close();
    await server.close();
  });

  /** An agent whose work lasts until it is asked to end. */
  function start(identity: string): Candidate {
    const rest = connectKube({ server: server.url, credentials: { kind: "none" } }, { clock });
    const stop = new AbortController();
    const terms = [1, 2].map(() => Promise.withResolvers<Leadership>());
    let started = 0;
    const election = lead({
      rest,
      identity,
      clock,
      log: silentLog(),
      random: () => 0.5,
      async run(signal, leadership) {
        terms[started++]?.resolve(leadership);
        await new Promise<void>((resolve) =>
          signal.addEventListener("abort", () => resolve(), { once: true }),
        );
      },
    });
    const ended = election.run(stop.signal);
    closing.push(async () => {
      stop.abort();
      await ended;
      await rest.close();
    });
    return {
      active: (count = 1) => terms[count - 1]?.promise ?? Promise.reject(new Error("count")),
      ended,
      isLeading: () => election.isLeading,
      sigterm: () => stop.abort(),
    };
  }
  return { server, clock, start };
}

function leaseOn(server: HttpApiServer): Lease["spec"] {
  const lease: Lease | undefined = server.get(leases, leaseRef);
  return lease?.spec;
}

/** A Helm that ends only when it is killed. */
function endlessHelm(clock: FakeClock, { lost }: Leadership) {
  const started = Promise.withResolvers<void>();
  const run = createRunHelm({
    path: "/bin/sh",
    environment: {},
    forbidden: lost,
    records: { started: () => Promise.resolve(started.resolve()), ended: () => Promise.resolve() },
  });
  const killed = run({
    args: ["-c", "trap '' TERM; while :; do read -r line || sleep 600; done"],
    signal: new AbortController().signal,
  }).then((result: HelmResult) => ({ result, atMs: clock.monotonic() }));
  return { started: started.promise, killed };
}

test("an agent stops before its Lease ends, with time for a process to be killed", () => {
  const { leaseDurationMs, renewDeadlineMs, renewIntervalMs } = agentLeaseTimes;
  assert.ok(renewDeadlineMs + 5_000 <= leaseDurationMs);
  assert.ok(2 * renewIntervalMs < renewDeadlineMs, "one renewal may fail");
});

describe("an agent that cannot renew its Lease", () => {
  test("kills its Helm processes before another agent becomes active", async (t) => {
    const { server, clock, start } = await setUp(t);
    const one = start("one");
    const leadership = await one.active();
    const helm = endlessHelm(clock, leadership);
    await helm.started;
    for (let count = 0; count < 100; count += 1) server.next("write", stall);

    await clock.advance(agentLeaseTimes.renewDeadlineMs);

    const { result, atMs } = await helm.killed;
    assert.equal(result.code, null);
    assert.ok(leadership.remainingMs() > 0, "nobody else is active yet");
    assert.equal(atMs, agentLeaseTimes.renewDeadlineMs);
    assert.throws(() => leadership.assertLeading(), { code: "LEADERSHIP_LOST" });
  });

  test("is active again when the API server answers, as nobody else was", async (t) => {
    const { server, clock, start } = await setUp(t);
    const one = start("one");
    await one.active();
    server.remove(leases, leaseRef);

    const leadership = await one.active(2);

    assert.equal(leadership.isLeading, true);
    assert.equal(leaseOn(server)?.holderIdentity, "one");
    assert.equal(clock.monotonic(), 0);
  });
});

test("an agent that is asked to end releases the Lease, and the standby is active at once", async (t) => {
  const { server, clock, start } = await setUp(t);
  const one = start("one");
  await one.active();
  const two = start("two");

  one.sigterm();
  await one.ended;
  await two.active();

  assert.equal(leaseOn(server)?.holderIdentity, "two");
  assert.equal(clock.monotonic(), 0, "no time has passed");
  assert.deepEqual([one.isLeading(), two.isLeading()], [false, true]);
});

test("a process that starts under the name of the one before is active at once", async (t) => {
  const { server, clock, start } = await setUp(t);
  server.put(leases, {
    metadata: leaseRef,
    spec: { holderIdentity: "one", leaseDurationSeconds: 30 },
  });

  await start("one").active();

  assert.equal(clock.monotonic(), 0);
});
