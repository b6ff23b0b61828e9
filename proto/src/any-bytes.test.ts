/** Any bytes from the wire are a message, or rejected with a WireError. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { describe, test } from "vitest";
import {
  agentMessageFromWire,
  agentMessageToWire,
  certificateFromWire,
  enrollRequestFromWire,
  enrollResponseFromWire,
  hubMessageFromWire,
  hubMessageToWire,
} from "./map.ts";
import { loadFleetService } from "./service.ts";
import { agentMessage, hubMessage, malformedText, mutated } from "./testing/index.ts";
import { isPrintable, WireError, wireLimits } from "./validation.ts";

const { Connect: connect, Enroll: enroll, Renew: renew } = loadFleetService().service;

/** Decodes and maps bytes as the given side does. */
function read<W>(decode: (bytes: Buffer) => W, map: (wire: W) => unknown) {
  return (bytes: Uint8Array): unknown => {
    let wire: W;
    try {
      wire = decode(Buffer.from(bytes));
    } catch {
      // The hub rejects it with a reason; at an agent gRPC itself ends the stream.
      return undefined;
    }
    try {
      return map(wire);
    } catch (thrown) {
      assert.ok(thrown instanceof WireError, `not a WireError: ${String(thrown)}`);
      assert.ok(isPrintable(thrown.message), thrown.message);
      assert.ok(thrown.message.length <= wireLimits.nameChars + 200, "the error is short");
      return undefined;
    }
  };
}

const reads = {
  agent: read(connect.requestDeserialize, agentMessageFromWire),
  hub: read(connect.responseDeserialize, hubMessageFromWire),
  enrolment: read(enroll.requestDeserialize, enrollRequestFromWire),
  answer: read(enroll.responseDeserialize, enrollResponseFromWire),
  renewal: read(renew.responseDeserialize, ({ certificate }) => certificateFromWire(certificate)),
};

describe("any bytes are a message or rejected", () => {
  for (const [side, parse] of Object.entries(reads)) {
    test(`random bytes: ${side}`, () => {
      fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => void parse(bytes)));
    });
  }

  test("a damaged message of an agent", () => {
    const encoded = agentMessage.map((message) =>
      connect.requestSerialize(agentMessageToWire(message)),
    );
    fc.assert(fc.property(encoded.chain(mutated), (bytes) => void reads.agent(bytes)));
  });

  test("a damaged message of a hub", () => {
    const encoded = hubMessage.map((message) =>
      connect.responseSerialize(hubMessageToWire(message)),
    );
    fc.assert(fc.property(encoded.chain(mutated), (bytes) => void reads.hub(bytes)));
  });
});

describe("any text in a state is short and printable, or rejected", () => {
  const whole = fc.oneof(
    fc.nat(2 ** 32 - 1),
    fc.constantFrom("18446744073709551615", "9007199254740992"),
  );
  const resource = fc.record({
    apiVersion: malformedText,
    kind: malformedText,
    namespace: malformedText,
    name: malformedText,
    message: malformedText,
    missing: fc.boolean(),
    state: malformedText,
  });
  const state = fc.record(
    {
      name: malformedText,
      uid: malformedText,
      sequence: whole,
      deploymentId: malformedText,
      phase: fc.constantFrom(0 as const, 1 as const, 2 as const, 3 as const, 4 as const),
      message: malformedText,
      retryAt: malformedText,
      release: fc.record({
        namespace: malformedText,
        name: malformedText,
        revision: fc.nat(2 ** 32 - 1),
        chartVersion: malformedText,
        appVersion: malformedText,
      }),
      notReady: fc.array(resource, { maxLength: wireLimits.notReady + 1 }),
      resources: fc.array(resource, { maxLength: 5 }),
      chartDigest: malformedText,
      code: malformedText,
    },
    { requiredKeys: ["name", "uid", "phase"] },
  );

  test("in every field", () => {
    let accepted = 0;
    fc.assert(
      fc.property(state, (wire) => {
        const message = reads.agent(connect.requestSerialize({ state: wire }));

        if (message === undefined) return;
        accepted += 1;
        for (const text of textsIn(message)) {
          assert.ok(isPrintable(text.replaceAll(/[\t\n]/g, " ")), JSON.stringify(text));
          assert.ok(text.length <= wireLimits.messageChars);
        }
      }),
    );
    assert.ok(accepted > 0, "some states are accepted");
  });

  test("a chart with an invalid version does not end the stream", () => {
    fc.assert(
      fc.property(malformedText, malformedText, (chartVersion, appVersion) => {
        const release = { namespace: "a", name: "a", revision: 1, chartVersion, appVersion };
        const wire = { name: "a", uid: "u", phase: "PHASE_DEPLOYED", release } as const;

        assert.notEqual(reads.agent(connect.requestSerialize({ state: wire })), undefined);
      }),
    );
  });
});

function textsIn(value: unknown): readonly string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).flatMap(textsIn);
}
