/** Whatever the seed, each kind of fault has its turn. */
import assert from "node:assert/strict";
import { test } from "vitest";
import { createFaultTally, faultKinds, nextFault } from "./fault-kinds.ts";
import { createRandom } from "./random.ts";

const all = faultKinds.map((kind, index) => ({ kind, weight: 1 + (index % 3) }));

test("each kind comes once before any comes again, in another order for another seed", () => {
  const orders = new Set<string>();
  for (let seed = 0; seed < 100; seed += 1) {
    const random = createRandom(seed);
    const tally = createFaultTally();
    const order = faultKinds.map(() => {
      const kind = nextFault(all, tally.missing, random)?.kind;
      assert.ok(kind !== undefined);
      tally.add(kind);
      return kind;
    });

    assert.deepEqual(order.toSorted(), faultKinds.toSorted(), `seed ${seed}`);
    assert.deepEqual(tally.missing, []);
    orders.add(order.join());
  }
  assert.equal(orders.size, 100);
});

test("what was chosen and did not happen stays missing", () => {
  const tally = createFaultTally();

  nextFault(all, tally.missing, createRandom(1));

  assert.deepEqual(tally.missing, faultKinds);
  assert.equal(tally.total, 0);
});

test("while no kind that is missing is possible another one comes, and none where none is possible", () => {
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

test("the tally tells how often each kind happened", () => {
  const tally = createFaultTally();
  tally.add("everything is late");
  tally.add("everything is late");

  assert.equal(tally.total, 2);
  assert.match(tally.told(), /^kill -9 of the leader: 0$/m);
  assert.match(tally.told(), /^everything is late: 2$/m);
});
