import assert from "node:assert/strict";
import fc from "fast-check";
import { describe, test } from "vitest";
import { agentMessageFromWire, hubMessageFromWire } from "./map.ts";
import { loadFleetService } from "./service.ts";
import { addedField, loadNextVersion, nextVersions } from "./testing/index.ts";
import { WireError } from "./validation.ts";
import {
  describeVersions,
  type Negotiation,
  negotiateVersion,
  supportedVersions,
  type VersionRange,
} from "./versions.ts";

describe("two sides negotiate", () => {
  const range = (oldest: number, newest: number): VersionRange => ({ oldest, newest });
  const cases: readonly (readonly [string, VersionRange, VersionRange, Negotiation])[] = [
    ["the newest version of both", range(1, 2), range(1, 2), { kind: "agreed", version: 2 }],
    [
      "the newest version of an older peer",
      range(1, 2),
      range(1, 1),
      { kind: "agreed", version: 1 },
    ],
    [
      "their own newest version with a newer peer",
      range(1, 1),
      range(1, 2),
      { kind: "agreed", version: 1 },
    ],
    [
      "nothing with a peer that is too old",
      range(2, 3),
      range(1, 1),
      { kind: "incompatible", outdated: "peer" },
    ],
    [
      "nothing when they are too old themselves",
      range(1, 2),
      range(3, 4),
      { kind: "incompatible", outdated: "own" },
    ],
    [
      "this build's version with the next build",
      supportedVersions,
      nextVersions,
      { kind: "agreed", version: supportedVersions.newest },
    ],
    [
      "nothing with a build that dropped this version",
      supportedVersions,
      range(nextVersions.newest, nextVersions.newest),
      { kind: "incompatible", outdated: "own" },
    ],
  ];
  for (const [what, own, peer, expected] of cases) {
    test(what, () => assert.deepEqual(negotiateVersion(own, peer), expected));
  }

  test("the same version on both sides, or each names the same side as outdated", () => {
    const anyRange = fc
      .tuple(fc.integer({ min: 1, max: 6 }), fc.nat(3))
      .map(([oldest, more]) => ({ oldest, newest: oldest + more }));
    fc.assert(
      fc.property(anyRange, anyRange, (one, other) => {
        const here = negotiateVersion(one, other);
        const there = negotiateVersion(other, one);
        if (here.kind === "agreed") {
          assert.deepEqual(there, here);
          assert.ok(here.version >= one.oldest && here.version <= one.newest);
        } else {
          assert.ok(there.kind === "incompatible" && there.outdated !== here.outdated);
        }
      }),
    );
  });

  test("and describe a range", () => {
    assert.equal(describeVersions({ oldest: 1, newest: 1 }), "version 1");
    assert.equal(describeVersions({ oldest: 1, newest: 3 }), "versions 1 to 3");
  });
});

describe("a peer of the next version", () => {
  const { Connect: present } = loadFleetService().service;
  const { Connect: next } = loadNextVersion().service;

  test("may send fields that this build does not know", () => {
    const hello = {
      oldestProtocolVersion: nextVersions.oldest,
      newestProtocolVersion: nextVersions.newest,
      hubId: "h",
      ...addedField,
    };
    const bytes = next.requestSerialize({ hello });

    const read = agentMessageFromWire(present.requestDeserialize(bytes));

    assert.ok(bytes.includes(addedField.addedLater), "the field is on the wire");
    assert.ok(read.kind === "hello");
    assert.deepEqual(read.versions, nextVersions);
    assert.ok(!("addedLater" in read));
  });

  test("may not send messages that this build does not know", () => {
    const added: object = { addedMessage: { name: "a" } };

    assert.throws(
      () => hubMessageFromWire(present.responseDeserialize(next.responseSerialize(added))),
      WireError,
    );
    assert.throws(
      () => agentMessageFromWire(present.requestDeserialize(next.requestSerialize(added))),
      WireError,
    );
  });
});
