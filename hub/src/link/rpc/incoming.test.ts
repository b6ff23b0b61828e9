import assert from "node:assert/strict";
import { isPrintable, loadFleetService, WireError } from "@flotilla/proto";
import fc from "fast-check";
import { describe, test } from "vitest";
import { decoded, type Incoming, withIncomingDecoders } from "./incoming.ts";

const { service } = loadFleetService();
const incoming = withIncomingDecoders(service);
const decoders: Readonly<Record<string, (bytes: Buffer) => Incoming<unknown>>> = {
  Enroll: incoming.Enroll.requestDeserialize,
  Renew: incoming.Renew.requestDeserialize,
  Connect: incoming.Connect.requestDeserialize,
};

describe("messages of agents", () => {
  for (const [name, decode] of Object.entries(decoders)) {
    test(`with ${name} of any bytes never throw in the decoder`, () => {
      const seen = new Set<string>();
      fc.assert(
        fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
          const received = decode(Buffer.from(bytes));

          seen.add(received.kind);
          if (received.kind === "undecodable") assert.ok(isPrintable(received.why), received.why);
        }),
      );
      assert.deepEqual([...seen].toSorted(), ["message", "undecodable"]);
    });

    test(`with ${name} that cannot be decoded are rejected with the cause`, () => {
      const received = decode(Buffer.from("ffffffffffff", "hex"));

      assert.throws(
        () => decoded(received),
        (thrown) =>
          thrown instanceof WireError &&
          /^the message of 6 bytes cannot be decoded: [a-z]+/.test(thrown.message),
      );
    });
  }

  test("are decoded to what was sent", () => {
    const { requestSerialize } = service.Renew;
    const sent = { certificateRequest: Buffer.from("request") };

    const received = incoming.Renew.requestDeserialize(requestSerialize(sent));

    assert.deepEqual(decoded(received), sent);
  });

  for (const name of ["Enroll", "Renew"] as const) {
    test(`with ${name} above 256 KiB are rejected with their size and the limit`, () => {
      const most = 256 * 1024;
      // An unknown field, which is read and dropped.
      const padded = (bytes: number): Buffer => {
        const head = Buffer.from([0x7a, 0, 0, 0]);
        const length = bytes - head.length;
        head.set([(length & 0x7f) | 0x80, ((length >> 7) & 0x7f) | 0x80, length >> 14], 1);
        return Buffer.concat([head, Buffer.alloc(length)]);
      };
      const { requestDeserialize } = incoming[name];

      assert.equal(requestDeserialize(padded(most)).kind, "message");
      assert.deepEqual(requestDeserialize(padded(most + 1)), {
        kind: "undecodable",
        why: "the message of 262145 bytes cannot be decoded: a request has at most 262144 bytes",
      });
    });
  }
});
