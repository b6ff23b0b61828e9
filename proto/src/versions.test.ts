import assert from "node:assert/strict";
import fc from "fast-check";
import { describe, test } from "vitest";
import { type Negotiation, negotiateVersion, isSpokenIn, type VersionRange } from "./versions.ts";

describe("two sides speak", () => {
  const cases: readonly (readonly [string, VersionRange, VersionRange, Negotiation])[] = [
    [
      "the newest version when both know it",
      { oldest: 1, newest: 2 },
      { oldest: 1, newest: 2 },
      { kind: "agreed", version: 2 },
    ],
    [
      "the older one's newest when it is still spoken",
      { oldest: 1, newest: 2 },
      { oldest: 1, newest: 1 },
      { kind: "agreed", version: 1 },
    ],
    [
      "what an older side knows of a newer one",
      { oldest: 1, newest: 1 },
      { oldest: 1, newest: 2 },
      { kind: "agreed", version: 1 },
    ],
    [
      "nothing when the peer is too old",
      { oldest: 2, newest: 3 },
      { oldest: 1, newest: 1 },
      { kind: "none", outdated: "peer" },
    ],
    [
      "nothing when this side is too old",
      { oldest: 1, newest: 2 },
      { oldest: 3, newest: 4 },
      { kind: "none", outdated: "own" },
    ],
  ];
  for (const [what, own, peer, expected] of cases) {
    test(what, () => assert.deepEqual(negotiateVersion(own, peer), expected));
  }

  test("the same, whichever of them decides, and each names the other side's part of it", () => {
    const range = fc
      .tuple(fc.integer({ min: 1, max: 6 }), fc.nat(3))
      .map(([oldest, more]) => ({ oldest, newest: oldest + more }));
    fc.assert(
      fc.property(range, range, (one, other) => {
        const here = negotiateVersion(one, other);
        const there = negotiateVersion(other, one);
        if (here.kind === "agreed") {
          assert.deepEqual(there, here);
          assert.ok(here.version >= one.oldest && here.version <= one.newest);
        } else {
          assert.ok(there.kind === "none" && there.outdated !== here.outdated);
        }
      }),
    );
  });
});

test("a list of authorities is nothing for an agent of version 1", () => {
  assert.equal(isSpokenIn(1, "authorities"), false);
  assert.equal(isSpokenIn(2, "authorities"), true);
  assert.equal(isSpokenIn(1, "deployment"), true);
});
