import assert from "node:assert/strict";
import { keyOf } from "@flotilla/shared/kube/objects";
import fc from "fast-check";
import { test } from "vitest";
import { compareNames, MemberNumbers } from "./member-numbers.ts";

const refs = fc.uniqueArray(
  fc.record({
    namespace: fc.constantFrom("fleet-default", "fleet-local", "a", "a-b"),
    name: fc.stringMatching(/^[a-z][a-z0-9.-]{0,4}$/),
  }),
  { selector: keyOf },
);

test("each member has the number of its place in the order of names, and no other key has one", () => {
  fc.assert(
    fc.property(refs, refs, (members, others) => {
      const ordered = members.toSorted(compareNames);
      const numbers = new MemberNumbers(ordered);
      const keys = ordered.map(keyOf);

      assert.equal(numbers.size, members.length);
      assert.deepEqual(
        keys.map((key) => numbers.numberOf(key)),
        keys.map((_, index) => index),
      );
      assert.deepEqual(
        keys.map((_, index) => numbers.keyAt(index)),
        keys,
      );
      for (const key of others.map(keyOf))
        assert.equal(numbers.numberOf(key) !== undefined, keys.includes(key));
    }),
  );
});
