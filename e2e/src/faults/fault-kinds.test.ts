/** Each kind of fault is injected, for every seed. */
import assert from "node:assert/strict";
import { test } from "vitest";
import { createFaultCounts, faultKinds, nextFault } from "./fault-kinds.ts";
import { createRandom } from "./random.ts";

const all = faultKinds.map((kind, index) => ({ kind, weight: 1 + (index % 3) }));

test("each kind comes once before any comes again, in another order for another seed", () => {
  const orders = new Set<string>();
  for (let seed = 0; seed < 100; seed += 1) {
    const random = createRandom(seed);
    const counts = createFaultCounts();
    const order = faultKinds.map(() => {
      const kind = nextFault(all, counts.missing, random)?.kind;
      assert.ok(kind !== undefined);
      counts.add(kind);
      return kind;
    });

    assert.deepEqual(order.toSorted(), faultKinds.toSorted(), `seed ${seed}`);
    assert.deepEqual(counts.missing, []);
    orders.add(order.join());
  }
  assert.equal(orders.size, 100);
});

test("a kind that was chosen and not injected stays missing", () => {
  const counts = createFaultCounts();

  nextFault(all, counts.missing, createRandom(1));

  assert.deepEqual(counts.missing, faultKinds);
  assert.equal(counts.total, 0);
});

test("when no missing kind is possible another one is chosen, and none when none is possible", () => {
  const [first, ...others] = all;
  assert.ok(first !== undefined);

  const chosen = nextFault(
    [first],
    others.map(({ kind }) => kind),
    createRandom(1),
  );

  assert.equal(chosen, first);
  assert.equal(nextFault([], faultKinds, createRandom(1)), undefined);
});

test("the text has the count of each kind", () => {
  const counts = createFaultCounts();
  counts.add("all bytes are delayed");
  counts.add("all bytes are delayed");

  assert.equal(counts.total, 2);
  assert.match(counts.text(), /^kill -9 of the leader: 0$/m);
  assert.match(counts.text(), /^all bytes are delayed: 2$/m);
});
