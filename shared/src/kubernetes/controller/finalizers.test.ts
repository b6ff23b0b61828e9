import assert from "node:assert/strict";
import { describe, it } from "vitest";
import { createStore } from "../cache/index.ts";
import { isConflict } from "../client/index.ts";
import { type ConfigMap, configMaps, keyOf } from "../objects/index.ts";
import { createMemoryApiServer } from "../testing/index.ts";
import { addFinalizer, removeFinalizer } from "./finalizers.ts";

const finalizer = "example.com/cleanup";
const others = "example.com/of-others";
const ref = { namespace: "ns", name: "a" };

/** An object on the server, and in a store that has it and receives no more events. */
function setUp(finalizers: readonly string[], isBeingDeleted = false) {
  const rest = createMemoryApiServer();
  const store = createStore<ConfigMap>();
  const deletionTimestamp = "2026-01-01T00:00:00Z";
  const metadata = { ...ref, finalizers, ...(isBeingDeleted && { deletionTimestamp }) };
  const object = rest.put(configMaps, { metadata });
  store.set(object);
  const { signal } = new AbortController();
  const options = { rest, resource: configMaps, store, finalizer, signal };
  return { rest, store, object, options };
}

describe("a finalizer", () => {
  it("is added to those of others, at once also in the store", async () => {
    const { rest, store, object, options } = setUp([others]);

    const written = await addFinalizer(options, object);

    assert.deepEqual(written?.metadata.finalizers, [others, finalizer]);
    assert.deepEqual(rest.peek(configMaps, ref), written);
    assert.deepEqual(store.get(keyOf(ref)), written);
    assert.equal(await addFinalizer(options, written), written);
    assert.equal(rest.writes.length, 1, "nothing is written where it is set");
  });

  it("is removed, and those of others stay", async () => {
    const { rest, store, object, options } = setUp([finalizer, others], true);

    await removeFinalizer(options, object);

    assert.deepEqual(rest.peek(configMaps, ref)?.metadata.finalizers, [others]);
    assert.deepEqual(store.get(keyOf(ref))?.metadata.finalizers, [others]);
    await removeFinalizer(options, store.get(keyOf(ref)) ?? object);
    assert.equal(rest.writes.length, 1, "nothing is written where it is not set");
  });

  it("that is the last is removed with its object, at once also from the store", async () => {
    const { rest, store, object, options } = setUp([finalizer], true);

    await removeFinalizer(options, object);

    assert.equal(rest.peek(configMaps, ref), undefined);
    assert.equal(store.get(keyOf(ref)), undefined);
  });

  for (const [what, isBeingDeleted] of [
    ["was being deleted", true],
    ["was not being deleted when it was read", false],
  ] as const)
    it(`of an object that does not exist and ${what} is not an error, and the store has it no more`, async () => {
      const { rest, store, object, options } = setUp([finalizer], isBeingDeleted);
      rest.remove(configMaps, ref);

      await removeFinalizer(options, object);

      assert.equal(store.get(keyOf(ref)), undefined);
      assert.equal(store.set({ ...object, data: {} }), undefined, "the watch is behind");
      assert.equal(store.get(keyOf(ref)), undefined);
    });

  it("is not added to an object that does not exist", async () => {
    const { rest, store, object, options } = setUp([]);
    rest.remove(configMaps, ref);

    assert.equal(await addFinalizer(options, object), undefined);
    assert.equal(store.get(keyOf(ref)), undefined);
  });

  it("is neither added nor removed with a stale version", async () => {
    const adding = setUp([]);
    adding.rest.put(configMaps, { metadata: { ...ref, finalizers: [others] } });
    const removing = setUp([finalizer], true);
    removing.rest.put(configMaps, { ...removing.object, data: { changed: "yes" } });

    await assert.rejects(addFinalizer(adding.options, adding.object), isConflict);
    await assert.rejects(removeFinalizer(removing.options, removing.object), isConflict);
    assert.deepEqual(adding.rest.peek(configMaps, ref)?.metadata.finalizers, [others]);
  });

  it("of an object that was deleted and created again is not changed", async () => {
    const { rest, object, options } = setUp([finalizer], true);
    rest.put(configMaps, { metadata: { ...ref, uid: "another", finalizers: [finalizer] } });

    await assert.rejects(removeFinalizer(options, object), isConflict);

    assert.deepEqual(rest.peek(configMaps, ref)?.metadata.finalizers, [finalizer]);
  });
});
