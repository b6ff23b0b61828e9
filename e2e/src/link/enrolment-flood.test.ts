/**
 * Agents enrol and reconnect while others use up what the hub grants to handshakes without a certificate. The hub's clock moves
 * only here, so that it is known how many it grants.
 */
import assert from "node:assert/strict";
import { createFakeClock } from "@flotilla/shared/time/testing";
import { describe, type TestContext, test } from "vitest";
import { startHubControlPlane } from "../harness/hub-control-plane.ts";
import { startInProcessAgent } from "../harness/in-process-agent.ts";
import { startInProcessHub } from "../harness/in-process-hub.ts";
import { clusterOf, createBootstrap, createToken } from "../harness/registration.ts";
import { startHandshakeFlood } from "./handshake-flood.ts";

const rest = await startHubControlPlane();

/** At once, then a second. */
const granted = { burst: 500, perSecond: 200 };
const stepMs = 20;

interface Flooded {
  readonly token: Readonly<Record<string, string>>;
  /** Resolves when the agent of that name is connected, with that epoch. */
  connected(name: string, epoch: number): Promise<void>;
  /** No more handshakes were completed than the hub's clock has granted. */
  assertLimited(): void;
}

async function startFloodedHub(t: TestContext, addresses: number): Promise<Flooded> {
  const clock = createFakeClock(Date.now());
  const hub = await startInProcessHub(rest, { clock });
  const before = clock.monotonic();
  const flood = startHandshakeFlood({ port: hub.port, addresses, concurrency: 200 });
  t.onTestFinished(() => flood.stop());
  await flood.waitFor(granted.burst);
  // Meanwhile the others that the flood has opened wait, since no time passes.
  const token = await createToken(rest, hub, `token-${addresses}`);
  assert.equal(flood.completed, granted.burst);

  return {
    token,
    async connected(name, epoch) {
      const isConnected = () => {
        const { agent } = clusterOf(hub, name)?.status ?? {};
        return agent?.connected === true && agent.epoch === epoch;
      };
      while (!isConnected()) {
        await clock.advance(stepMs);
        // At most a few of those that were granted are the agent's.
        await flood.waitFor(flood.completed + 1);
      }
    },
    assertLimited() {
      const seconds = (clock.monotonic() - before) / 1_000;
      const most = granted.burst + seconds * granted.perSecond;
      assert.ok(flood.completed <= most, `${flood.completed} of ${most} in ${seconds} s`);
    },
  };
}

describe.each([1, 1_000])(
  "while %i addresses begin handshakes without a certificate",
  (addresses) => {
    test("an agent enrols and reconnects, and the hub makes no more of them than it grants", async (t) => {
      const { token, connected, assertLimited } = await startFloodedHub(t, addresses);
      const name = `new-${addresses}`;
      await createBootstrap(rest, `agent-${name}`, token, { clusterName: name, clientID: name });

      const agent = startInProcessAgent(rest, `agent-${name}`);
      await connected(name, 1);
      await agent.stop();
      const restarted = startInProcessAgent(rest, `agent-${name}`);
      await connected(name, 2);

      assertLimited();
      await restarted.stop();
    });
  },
);
