import assert from "node:assert/strict";
import { setImmediate as settle } from "node:timers/promises";
import { createSemaphore } from "@flotilla/shared/concurrency";
import { silentLog } from "@flotilla/shared/log";
import { createFakeClock } from "@flotilla/shared/time/testing";
import { describe, test } from "vitest";
import type { Intake } from "../../state/assignment/intake.ts";
import type { AgentIdentity } from "../../state/identity/agent-identity.ts";
import type { IdentityController } from "../../state/identity/identity-controller.ts";
import { createHubConnection } from "./hub-connection.ts";

const notCalled = () => assert.fail("called without a session");
const current: AgentIdentity = {
  keyPem: "key",
  chainPem: "chain",
  authoritiesPem: "authorities",
  hubAddress: "hub:443",
  hubId: "hub",
  clientId: "client",
  bootstrapDigest: "digest",
  cluster: { namespace: "fleet-default", name: "a", uid: "uid" },
};
const identity: IdentityController = {
  run: () => Promise.resolve(),
  waitForIdentity: () => Promise.resolve(current),
  renewAt: 0,
  lastError: "",
  storeRenewed: notCalled,
  reportExpired: () => undefined,
  reportUnauthenticated: () => undefined,
  setAuthorities: () => Promise.resolve(),
  onChange: () => undefined,
};
const intake: Intake = {
  deployments: notCalled,
  assign: notCalled,
  withdraw: notCalled,
  synced: notCalled,
  clusterInfoDigest: notCalled,
  setClusterInfo: notCalled,
  referencedObjects: notCalled,
  setReferencedObject: notCalled,
  withdrawReferencedObject: notCalled,
  states: notCalled,
};

/** Connections to a hub that is unavailable; they share one permit for the handshake. */
function setUp(names: readonly string[]) {
  const permit = createSemaphore(1);
  const clock = createFakeClock();
  const ending = new AbortController();
  const attempts: string[] = [];
  async function run(): Promise<void> {
    const connections = names.map((name) =>
      createHubConnection({
        identity,
        connectHub() {
          attempts.push(name);
          throw new Error("the hub is unavailable");
        },
        agentVersion: "1.0.0",
        agentNamespace: "flotilla",
        clock,
        log: silentLog(),
        random: () => 0.5,
        handshakes: permit,
      }),
    );
    await Promise.all(connections.map((connection) => connection.run(intake, ending.signal)));
  }
  return { permit, clock, attempts, ending, run };
}

describe("a connection with a shared limit of handshakes", () => {
  test("releases its permit when connecting fails", async () => {
    const { clock, attempts, ending, run } = setUp(["a", "b"]);
    const ended = run();
    await settle();
    assert.deepEqual(attempts, ["a", "b"]);

    await clock.advance(5_000);

    assert.deepEqual(attempts.slice(2, 4), ["a", "b"]);
    ending.abort();
    await ended;
  });

  test("does not connect if it is aborted while it waits for a permit", async () => {
    const { permit, attempts, ending, run } = setUp(["a"]);
    await permit.acquire();
    const ended = run();
    await settle();

    ending.abort();
    permit.release();

    await ended;
    assert.deepEqual(attempts, []);
    await permit.acquire();
  });
});
