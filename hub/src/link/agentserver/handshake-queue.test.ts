import assert from "node:assert/strict";
import { createFakeClock } from "@flotilla/shared/time/testing";
import { describe, test } from "vitest";
import { HandshakeQueue } from "./handshake-queue.ts";

const limits = { perSecond: 100, burst: 50, rememberMs: 60_000, maxWaiting: 10_000 };

function setUp() {
  const clock = createFakeClock();
  const queue = new HandshakeQueue(clock, limits);
  const started: string[] = [];
  const dropped: string[] = [];
  return {
    clock,
    queue,
    started,
    dropped,
    /** `count` connections of one block, whose handshakes come to nothing. */
    flood(block: string, count: number) {
      return Array.from({ length: count }, () =>
        queue.add(block, {
          start: () => void started.push(block),
          drop: () => void dropped.push(block),
        }),
      );
    },
    /** Agents of one block, each of which authenticates `roundTripMs` after its handshake has begun. */
    agents(block: string, count: number, roundTripMs: number) {
      const back: number[] = [];
      for (let index = 0; index < count; index += 1) {
        const start = () => {
          clock.setTimeout(() => {
            back.push(clock.monotonic());
            handshake.settle();
          }, roundTripMs);
        };
        const handshake = queue.add(block, { start, drop: () => void dropped.push(block) });
      }
      return back;
    },
  };
}

async function advance(clock: ReturnType<typeof createFakeClock>, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 10) await clock.advance(10);
}

describe("agents that authenticate", () => {
  test("are never limited to the rate, though thousands of one address connect at once", async () => {
    const { clock, queue, agents } = setUp();

    const back = agents("nat", 5_000, 10);
    assert.equal(queue.waiting, 5_000 - limits.burst);
    await advance(clock, 1_500);

    assert.equal(back.length, 5_000);
  });

  test("of many addresses are not limited either", async () => {
    const { clock, agents } = setUp();

    const back = Array.from({ length: 5_000 }, (_, index) => agents(`agent-${index}`, 1, 10));
    await advance(clock, 1_500);

    assert.equal(back.flat().length, 5_000);
  });

  test("behind one address return at their own speed, while others flood the port", async () => {
    for (const attackers of [1, 1_000]) {
      const { clock, flood, agents } = setUp();
      const attack = () => {
        for (let index = 0; index < attackers; index += 1)
          flood(`attacker-${index}`, 2_000 / attackers);
      };
      attack();
      await advance(clock, 20_000);
      attack();

      const back = agents("nat", 1_000, 10);
      await advance(clock, 2_000);

      assert.equal(back.length, 1_000, `with ${attackers} attackers`);
    }
  });
});

test("agents behind one address return after a few round trips, while new addresses flood the port", async () => {
  const { clock, flood, agents } = setUp();
  async function attackFor(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += 10) {
      for (let count = 0; count < 4; count += 1) flood(`attacker-${clock.monotonic()}-${count}`, 1);
      await clock.advance(10);
    }
  }
  await attackFor(1_000);

  const back = agents("nat", 1_000, 500);
  // Until the first of them, those who came before.
  await attackFor(2_500 + 10 * 500);

  assert.equal(back.length, 1_000);
});

describe("handshakes without a certificate", () => {
  test("are limited to the burst, then to the rate", async () => {
    const { clock, started, flood } = setUp();

    flood("attacker", 10_000);
    assert.equal(started.length, limits.burst);
    await advance(clock, 10_000);

    const expected = limits.burst + 10 * limits.perSecond;
    assert.ok(started.length > expected * 0.95 && started.length <= expected, `${started.length}`);
  });

  test("of one address do not delay the first one of another", async () => {
    const { clock, started, flood } = setUp();
    flood("attacker", 5_000);
    await advance(clock, 1_000);

    flood("new", 1);
    await advance(clock, 20);

    assert.ok(started.includes("new"));
  });

  test("of many addresses do not either, once each has had its turn", async () => {
    const { clock, started, flood } = setUp();
    for (let index = 0; index < 1_000; index += 1) flood(`attacker-${index}`, 5);
    await advance(clock, 11_000);

    flood("new", 1);
    await advance(clock, 20);

    assert.ok(started.includes("new"));
  });

  test("are forgotten after a while", async () => {
    const { clock, started, flood } = setUp();
    flood("former", limits.burst);
    await advance(clock, limits.rememberMs);
    flood("attacker", limits.burst + 100);

    flood("former", 1);
    await advance(clock, 20);

    assert.ok(started.includes("former", limits.burst));
  });
});

describe("when too many wait", () => {
  test("those of the caller with the most handshakes without a certificate are dropped", async () => {
    const { clock, started, dropped, flood } = setUp();
    flood("attacker", limits.burst + limits.maxWaiting);

    flood("new", 3);
    assert.deepEqual(dropped, ["attacker", "attacker", "attacker"]);
    await advance(clock, 40);

    assert.equal(started.filter((block) => block === "new").length, 3);
  });

  test("of one caller its oldest connection is dropped, which has probably gone", () => {
    const { queue, dropped, flood } = setUp();
    const [first] = flood("attacker", limits.burst + limits.maxWaiting).slice(limits.burst);

    flood("attacker", 1);
    first?.cancel();

    assert.equal(dropped.length, 1);
    assert.equal(queue.waiting, limits.maxWaiting);
  });
});

test("handshakes of a block with and without agents are counted until each is forgotten", async () => {
  const { clock, started, flood } = setUp();
  const [agent] = flood("mixed", 2);
  agent?.settle();
  await advance(clock, limits.rememberMs / 2);
  flood("mixed", limits.burst);
  await advance(clock, limits.rememberMs / 2 + 1_000);

  flood("attacker", limits.burst);
  flood("mixed", 1);
  flood("attacker", 1);
  flood("new", 1);
  await advance(clock, 10);
  await advance(clock, 30);

  const after = started.slice(2 + 2 * limits.burst);
  assert.deepEqual(after, ["new", "mixed", "attacker"]);
});

test("a connection that was closed while it waited begins no handshake, and takes no token", async () => {
  const { clock, queue, started, flood } = setUp();
  flood("attacker", limits.burst);
  const waiting = flood("gone", 3);
  flood("patient", 1);

  for (const handshake of waiting) handshake.cancel();
  for (const handshake of waiting) handshake.cancel();
  await advance(clock, 20);

  assert.equal(queue.waiting, 0);
  assert.deepEqual(started.slice(limits.burst), ["patient"]);
});

test("a handshake is settled once", () => {
  const { queue, flood } = setUp();
  const [first] = flood("agent", limits.burst);

  first?.settle();
  first?.settle();
  flood("other", 2);

  assert.equal(queue.waiting, 1);
});
