import assert from "node:assert/strict";
import type { AgentMessage, DeploymentState, MakeMessage } from "@flotilla/proto";
import { describe, test } from "vitest";
import { createOutbox } from "./outbox.ts";

function state(name: string, message = ""): DeploymentState {
  return {
    name,
    uid: `uid-${name}`,
    deploymentId: "sha256:1",
    phase: "deployed",
    message,
    ready: true,
    notReady: [],
    resources: [],
    incomplete: false,
    counts: { desiredReady: 0, ready: 0, notReady: 0, missing: 0, unknown: 0 },
  };
}

/** A send queue that the test flushes. */
function heldStream() {
  const waiting = new Map<string, MakeMessage<AgentMessage>>();
  return {
    put: (key: string, make: MakeMessage<AgentMessage>) => void waiting.set(key, make),
    async letOut(): Promise<readonly string[]> {
      const said: string[] = [];
      for (const [key, make] of waiting) {
        waiting.delete(key);
        const message = await make();
        if (message?.kind === "state") {
          said.push(`${message.sequence} ${message.state.name} ${message.state.message}`);
        } else if (message?.kind === "withdrawn") {
          said.push(`withdrawn ${message.deployment.name}`);
        }
      }
      return said;
    },
  };
}

describe("the reports of an agent", () => {
  test("have the latest state of each deployment, numbered when it is sent", async () => {
    const outbox = createOutbox();
    const stream = heldStream();
    outbox.attach(stream, []);

    outbox.report(state("a", "1"));
    outbox.report(state("b", "1"));
    outbox.report(state("a", "2"));

    assert.deepEqual(await stream.letOut(), ["1 a 2", "2 b 1"]);
  });

  test("wait for a stream, and are sent again on the next one until they are acknowledged", async () => {
    const outbox = createOutbox();
    outbox.report(state("a", "1"));
    outbox.report(state("b", "1"));
    const first = heldStream();
    outbox.attach(first, []);
    assert.deepEqual(await first.letOut(), ["1 a 1", "2 b 1"]);
    outbox.acknowledged("a", 1);
    outbox.detach();

    const second = heldStream();
    outbox.attach(second, []);

    assert.deepEqual(await second.letOut(), ["1 b 1"]);
    outbox.acknowledged("b", 1);
    assert.equal(outbox.unacknowledged, 0);
  });

  test("have every present state on a new stream", async () => {
    const outbox = createOutbox();
    outbox.report(state("a", "old"));
    const stream = heldStream();

    outbox.attach(stream, [state("a", "current"), state("b", "current")]);

    assert.deepEqual(await stream.letOut(), ["1 a current", "2 b current"]);
  });

  test("are not acknowledged by the number of an earlier state", async () => {
    const outbox = createOutbox();
    const stream = heldStream();
    outbox.attach(stream, []);
    outbox.report(state("a", "1"));
    await stream.letOut();
    outbox.report(state("a", "2"));

    outbox.acknowledged("a", 1);

    assert.equal(outbox.unacknowledged, 1);
    assert.deepEqual(await stream.letOut(), ["2 a 2"]);
  });

  test("of a withdrawn deployment replace its state", async () => {
    const outbox = createOutbox();
    outbox.report(state("a", "on its way out"));
    outbox.withdrawn({ name: "a", uid: "uid-a" });
    const stream = heldStream();

    outbox.attach(stream, []);

    assert.deepEqual(await stream.letOut(), ["withdrawn a"]);
    assert.equal(outbox.unacknowledged, 0);
  });
});
