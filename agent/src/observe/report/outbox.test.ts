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
function manualStream() {
  const waiting = new Map<string, MakeMessage<AgentMessage>>();
  return {
    put: (key: string, make: MakeMessage<AgentMessage>) => void waiting.set(key, make),
    async flush(): Promise<readonly string[]> {
      const sent: string[] = [];
      for (const [key, make] of waiting) {
        waiting.delete(key);
        const message = await make();
        if (message?.kind === "state") {
          sent.push(`${message.sequence} ${message.state.name} ${message.state.message}`);
        } else if (message?.kind === "withdrawn") {
          sent.push(`withdrawn ${message.deployment.name}`);
        }
      }
      return sent;
    },
  };
}

describe("the reports of an agent", () => {
  test("have the latest state of each deployment, numbered when it is sent", async () => {
    const outbox = createOutbox();
    const stream = manualStream();
    outbox.attach(stream, []);

    outbox.report(state("a", "1"));
    outbox.report(state("b", "1"));
    outbox.report(state("a", "2"));

    assert.deepEqual(await stream.flush(), ["1 a 2", "2 b 1"]);
  });

  test("wait for a stream, and are sent again on each new stream until they are acknowledged", async () => {
    const outbox = createOutbox();
    outbox.report(state("a", "1"));
    outbox.report(state("b", "1"));
    const first = manualStream();
    outbox.attach(first, []);
    assert.deepEqual(await first.flush(), ["1 a 1", "2 b 1"]);
    outbox.acknowledged("a", 1);
    outbox.detach();

    const second = manualStream();
    outbox.attach(second, []);

    assert.deepEqual(await second.flush(), ["1 b 1"]);
    outbox.acknowledged("b", 1);
    assert.equal(outbox.unacknowledged, 0);
  });

  test("have every current state on a new stream", async () => {
    const outbox = createOutbox();
    outbox.report(state("a", "old"));
    const stream = manualStream();

    outbox.attach(stream, [state("a", "current"), state("b", "current")]);

    assert.deepEqual(await stream.flush(), ["1 a current", "2 b current"]);
  });

  test("are not acknowledged by an earlier sequence number", async () => {
    const outbox = createOutbox();
    const stream = manualStream();
    outbox.attach(stream, []);
    outbox.report(state("a", "1"));
    await stream.flush();
    outbox.report(state("a", "2"));

    outbox.acknowledged("a", 1);

    assert.equal(outbox.unacknowledged, 1);
    assert.deepEqual(await stream.flush(), ["2 a 2"]);
  });

  test("of a withdrawn deployment replace its state", async () => {
    const outbox = createOutbox();
    outbox.report(state("a", "withdrawing"));
    outbox.withdrawn({ name: "a", uid: "uid-a" });
    const stream = manualStream();

    outbox.attach(stream, []);

    assert.deepEqual(await stream.flush(), ["withdrawn a"]);
    assert.equal(outbox.unacknowledged, 0);
  });
});
