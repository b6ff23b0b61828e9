import assert from "node:assert/strict";
import { setImmediate as settle } from "node:timers/promises";
import { createSemaphore } from "@flotilla/shared/concurrency/semaphore.ts";
import { silentLog } from "@flotilla/shared/log/log.ts";
import { createFakeClock } from "@flotilla/shared/time/testing/fake-clock.ts";
import { describe, test } from "vitest";
import type { AgentIdentity } from "../identity/agent-identity.ts";
import type { IdentityKeeper } from "../identity/identity-keeper.ts";
import { createLink } from "./link.ts";
import type { Intake } from "./ports.ts";

const nothing = () => assert.fail("nothing is connected");
const identity: AgentIdentity = {
  keyPem: "key",
  chainPem: "chain",
  authoritiesPem: "authorities",
  hubAddress: "hub:443",
  hubId: "hub",
  clientId: "client",
  bootstrapMark: "mark",
  cluster: { namespace: "fleet-default", name: "a", uid: "uid" },
};
const keeper: IdentityKeeper = {
  run: () => Promise.resolve(),
  usable: () => Promise.resolve(identity),
  renewAt: 0,
  trouble: "",
  renewed: nothing,
  ended: () => undefined,
  doubted: () => undefined,
  trust: () => Promise.resolve(),
  onReplaced: () => undefined,
};
const intake: Intake = {
  holdings: nothing,
  assign: nothing,
  withdraw: nothing,
  factsDigest: nothing,
  takeFacts: nothing,
  supplies: nothing,
  takeSupply: nothing,
  dropSupply: nothing,
  states: nothing,
};

/** Links to a hub that is away, which share one place. */
function setUp(names: readonly string[]) {
  const place = createSemaphore(1);
  const clock = createFakeClock();
  const ending = new AbortController();
  const tried: string[] = [];
  async function run(): Promise<void> {
    const links = names.map((name) =>
      createLink({
        keeper,
        connectHub() {
          tried.push(name);
          throw new Error("the hub is away");
        },
        agentVersion: "1.0.0",
        agentNamespace: "flotilla",
        clock,
        log: silentLog(),
        random: () => 0.5,
        places: place,
      }),
    );
    await Promise.all(links.map((link) => link.run(intake, ending.signal)));
  }
  return { place, clock, tried, ending, run };
}

describe("a link that shares a place to connect", () => {
  test("gives it back when it could not connect", async () => {
    const { clock, tried, ending, run } = setUp(["a", "b"]);
    const ended = run();
    await settle();
    assert.deepEqual(tried, ["a", "b"]);

    await clock.advance(5_000);

    assert.deepEqual(tried.slice(2, 4), ["a", "b"]);
    ending.abort();
    await ended;
  });

  test("waits for it, and does not connect when it is ended meanwhile", async () => {
    const { place, tried, ending, run } = setUp(["a"]);
    await place.acquire();
    const ended = run();
    await settle();

    ending.abort();
    place.release();

    await ended;
    assert.deepEqual(tried, []);
    await place.acquire();
  });
});
