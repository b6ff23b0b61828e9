import assert from "node:assert/strict";
import { describe, it } from "vitest";
import type { ConfigMap, KubeObject } from "../objects/index.ts";
import { object, versionOf } from "../testing/index.ts";
import { byNamespace, defineIndex } from "./object-index.ts";
import { createStore } from "./store.ts";

describe("a store", () => {
  it("returns what the watch delivered", () => {
    const store = createStore<ConfigMap>();

    assert.deepEqual(store.set(object("a", 1)), { key: "ns/a", after: object("a", 1) });
    assert.deepEqual(store.set(object("a", 2)), {
      key: "ns/a",
      before: object("a", 1),
      after: object("a", 2),
    });

    assert.equal(versionOf(store.get("ns/a")), "2");
    assert.equal(store.size, 1);
    assert.deepEqual(store.list(), [object("a", 2)]);
  });

  it("returns no change for an event that it has already", () => {
    const store = createStore<ConfigMap>();
    store.set(object("a", 1));

    assert.equal(store.set(object("a", 1)), undefined);
    assert.equal(store.remove(object("b", 1)), undefined);
  });

  it("keeps its indexes up to date", () => {
    const byLabel = defineIndex<ConfigMap>("label", (one) =>
      Object.values(one.metadata.labels ?? {}),
    );
    const store = createStore<ConfigMap>();
    store.set(object("a", 1, { labels: { x: "red", y: "blue" } }));
    store.set(object("b", 2, { labels: { x: "red" } }));
    store.set(object("a", 3, { labels: { x: "green" } }));

    const namesOf = (value: string): readonly string[] =>
      store.byIndex(byLabel, value).map((one) => one.metadata.name);

    assert.deepEqual(namesOf("red"), ["b"]);
    assert.deepEqual(namesOf("blue"), []);
    assert.deepEqual(namesOf("green"), ["a"]);
  });

  it("builds an index of the objects that it has, and distinguishes indexes of one name", () => {
    const byName = defineIndex<KubeObject>("same", ({ metadata }) => [metadata.name]);
    const byUid = defineIndex<KubeObject>("same", ({ metadata }) => [metadata.uid ?? ""]);
    const store = createStore<ConfigMap>();
    store.set(object("a", 1, { uid: "b" }));

    const found = (index: typeof byName, value: string) => store.byIndex(index, value).length;

    assert.deepEqual([found(byName, "a"), found(byUid, "a"), found(byUid, "b")], [1, 0, 1]);
    assert.equal(store.byIndex(byNamespace, "ns").length, 1);
    store.remove(object("a", 2, { uid: "b" }));
    assert.deepEqual([found(byName, "a"), found(byUid, "b")], [0, 0]);
  });

  it("freezes objects deeply when that is set", () => {
    const store = createStore<ConfigMap>({ freeze: true });
    store.set(object("a", 1));

    assert.throws(
      () => Object.assign(store.get("ns/a")?.data ?? {}, { version: "changed" }),
      TypeError,
    );
  });
});

describe("our own write", () => {
  it("is returned by get until the watch delivers it", () => {
    const store = createStore<ConfigMap>();
    store.set(object("a", 1));

    store.wrote(object("a", 5));
    const older = store.set(object("a", 3));

    assert.equal(versionOf(store.get("ns/a")), "5");
    // Changes are those of the watch, without our own writes.
    assert.deepEqual(older, { key: "ns/a", before: object("a", 1), after: object("a", 3) });
    assert.deepEqual(store.set(object("a", 5)), {
      key: "ns/a",
      before: object("a", 3),
      after: object("a", 5),
    });
    store.set(object("a", 6));
    assert.equal(versionOf(store.get("ns/a")), "6");
  });

  it("is stale when the watch has delivered it before its response", () => {
    const store = createStore<ConfigMap>();
    store.set(object("a", 5));
    store.set(object("a", 6));

    store.wrote(object("a", 5));

    assert.equal(versionOf(store.get("ns/a")), "6");
  });

  it("makes a new object visible before the watch delivers it, also in the indexes", () => {
    const byName = defineIndex<ConfigMap>("name", ({ metadata }) => [metadata.name]);
    const store = createStore<ConfigMap>();
    assert.deepEqual(store.byIndex(byName, "a"), []);

    store.wrote(object("a", 5));

    assert.equal(store.byIndex(byName, "a").length, 1);
    assert.deepEqual(store.set(object("a", 5)), { key: "ns/a", after: object("a", 5) });
  });

  it("does not restore an object that was deleted", () => {
    const store = createStore<ConfigMap>();
    store.set(object("a", 1));
    store.remove(object("a", 9));

    store.wrote(object("a", 5));

    assert.equal(store.get("ns/a"), undefined);
  });

  it("that removed the last finalizer hides the object at once", () => {
    const store = createStore<ConfigMap>();
    const deleting = { deletionTimestamp: "2026-01-01T00:00:00Z", finalizers: ["x"] };
    store.set(object("a", 1, deleting));

    // The API server responds with the version before the write.
    store.wrote(object("a", 1, { ...deleting, finalizers: [] }));

    assert.equal(store.get("ns/a"), undefined);
    store.wrote(object("a", 4, deleting));
    assert.equal(store.get("ns/a"), undefined);
    assert.deepEqual(store.remove(object("a", 6, deleting)), {
      key: "ns/a",
      before: object("a", 1, deleting),
    });
    assert.equal(store.size, 0);
  });

  for (const [what, waiting] of [
    ["a Pod in its grace period", { metadata: { deletionGracePeriodSeconds: 30 } }],
    ["an object with another finalizer", { metadata: { finalizers: ["x"] } }],
    ["a Namespace that is terminating", { metadata: {}, spec: { finalizers: ["kubernetes"] } }],
  ] as const) {
    it(`to ${what} keeps it in the store`, () => {
      const store = createStore<KubeObject>();
      const { metadata, ...rest } = object("a", 5, { deletionTimestamp: "2026-01-01T00:00:00Z" });

      store.wrote({ ...rest, ...waiting, metadata: { ...metadata, ...waiting.metadata } });

      assert.equal(store.size, 1);
    });
  }

  it("that ended a new object hides it when the earlier one of its name is deleted, and when it is delivered", () => {
    const store = createStore<ConfigMap>();
    const fresh = { uid: "new", deletionTimestamp: "2026-01-01T00:00:00Z" };
    store.set(object("a", 1, { uid: "old" }));
    store.wrote(object("a", 5, { uid: "new" }));

    store.wrote(object("a", 5, fresh));
    store.remove(object("a", 4, { uid: "old" }));
    store.set(object("a", 5, { uid: "new" }));

    assert.equal(store.size, 0);
    assert.deepEqual(store.remove(object("a", 6, fresh)), {
      key: "ns/a",
      before: object("a", 5, { uid: "new" }),
    });
  });

  it("that moves the object out of the selection ends when the watch deletes it", () => {
    const store = createStore<ConfigMap>();
    store.set(object("a", 1));

    store.wrote(object("a", 5));
    store.remove(object("a", 5));

    assert.equal(store.size, 0);
  });

  it("that removed the last finalizer does not hide a new object of the same name", () => {
    const store = createStore<ConfigMap>();
    const deleting = { deletionTimestamp: "2026-01-01T00:00:00Z", uid: "old" };
    store.set(object("a", 1, deleting));
    store.wrote(object("a", 1, deleting));

    store.wrote(object("a", 7, { uid: "new" }));
    store.wrote(object("a", 1, deleting));
    store.remove(object("a", 6, deleting));

    assert.equal(store.get("ns/a")?.metadata.uid, "new");
  });

  it("survives the deletion of an earlier object of its name", () => {
    const store = createStore<ConfigMap>();
    store.set(object("a", 1, { uid: "old" }));

    store.wrote(object("a", 5, { uid: "new" }));
    store.remove(object("a", 4, { uid: "old" }));

    assert.equal(store.get("ns/a")?.metadata.uid, "new");
    assert.deepEqual(store.set(object("a", 5, { uid: "new" })), {
      key: "ns/a",
      after: object("a", 5, { uid: "new" }),
    });
  });

  it("that a list does not have is delivered as an addition and a deletion", () => {
    const store = createStore<ConfigMap>();
    store.set(object("a", 1));
    store.wrote(object("a", 5));
    store.wrote(object("b", 6));

    const changes = store.beginList()([object("a", 7)], "8");

    assert.equal(versionOf(store.get("ns/a")), "7");
    assert.equal(store.get("ns/b"), undefined);
    // A reader may have acted on it meanwhile.
    assert.deepEqual(changes, [
      { key: "ns/a", before: object("a", 1), after: object("a", 5) },
      { key: "ns/b", after: object("b", 6) },
      { key: "ns/a", before: object("a", 5), after: object("a", 7) },
      { key: "ns/b", before: object("b", 6), isFinalStateUnknown: true },
    ]);
  });

  it("is delivered once when a list has it", () => {
    const store = createStore<ConfigMap>();
    store.wrote(object("a", 5));

    assert.deepEqual(store.beginList()([object("a", 5), object("b", 4)], "5"), [
      { key: "ns/a", after: object("a", 5) },
      { key: "ns/b", after: object("b", 4), isInInitialList: true },
    ]);
  });

  it("whose response arrives during a list overrides the list", () => {
    const store = createStore<ConfigMap>();
    store.set(object("a", 1));
    store.set(object("c", 2, { uid: "old" }));

    const replaceAll = store.beginList();
    store.wrote(object("a", 5));
    store.wrote(object("b", 6));
    store.wrote(object("c", 7, { uid: "new" }));
    const changes = replaceAll([object("a", 3)], "4");

    assert.deepEqual(store.list().map(versionOf).sort(), ["5", "6", "7"]);
    assert.deepEqual(changes, [
      { key: "ns/a", before: object("a", 1), after: object("a", 3) },
      { key: "ns/c", before: object("c", 2, { uid: "old" }), isFinalStateUnknown: true },
    ]);
    assert.deepEqual(store.set(object("b", 6)), { key: "ns/b", after: object("b", 6) });
  });

  it("that ends an object during a list hides it in the list", () => {
    const store = createStore<ConfigMap>();
    const deleting = { deletionTimestamp: "2026-01-01T00:00:00Z" };
    store.set(object("a", 5, { ...deleting, finalizers: ["x"] }));

    const replaceAll = store.beginList();
    store.wrote(object("a", 5, deleting));
    const changes = replaceAll([object("a", 5, { ...deleting, finalizers: ["x"] })], "9");

    assert.equal(store.size, 0);
    assert.deepEqual(changes, []);
  });

  it("is stale when its response arrives after a list that does not have it", () => {
    const store = createStore<ConfigMap>();
    store.beginList()([object("a", 7)], "9");

    store.wrote(object("a", 5));
    store.wrote(object("b", 6));

    assert.deepEqual(store.list(), [object("a", 7)]);
  });

  it("is stale when the response of a later one arrived before", () => {
    const store = createStore<ConfigMap>();
    store.wrote(object("a", 6));

    store.wrote(object("a", 5));

    assert.equal(versionOf(store.get("ns/a")), "6");
  });

  it("is dropped when the server does not have it any more", () => {
    const store = createStore<ConfigMap>();
    store.set(object("a", 100));
    store.wrote(object("b", 101));

    // Restored from a backup, it continues from an earlier version, or from a much later one.
    const changes = store.beginList()([object("a", 100, { uid: "other" })], "60");

    assert.deepEqual(store.list(), [object("a", 100, { uid: "other" })]);
    assert.deepEqual(changes, [
      { key: "ns/b", after: object("b", 101) },
      { key: "ns/a", before: object("a", 100), after: object("a", 100, { uid: "other" }) },
      { key: "ns/b", before: object("b", 101), isFinalStateUnknown: true },
    ]);
    store.wrote(object("a", 61));
    assert.equal(versionOf(store.get("ns/a")), "61");
  });

  it("waits for the watch when versions are not integers", () => {
    const store = createStore<ConfigMap>();
    const odd = object("a", 1, { resourceVersion: "v2" });

    store.wrote(odd);

    assert.equal(store.size, 0);
    assert.deepEqual(store.set(odd), { key: "ns/a", after: odd });
    assert.deepEqual(store.list(), [odd]);
  });

  it("that removed the last finalizer is recognised before the transform, which may remove finalizers", () => {
    const store = createStore<ConfigMap>({
      transform: ({ metadata: { finalizers: _, ...metadata }, ...rest }) => ({ ...rest, metadata }),
    });
    const deletionTimestamp = "2026-01-01T00:00:00Z";

    store.wrote(object("a", 5, { deletionTimestamp, finalizers: ["x"] }));

    assert.equal(store.size, 1);
  });

  it("is frozen like objects from the watch", () => {
    const store = createStore<ConfigMap>({ freeze: true });
    store.wrote(object("a", 1));

    assert.ok(Object.isFrozen(store.get("ns/a")?.data));
  });

  it("is transformed like objects from the watch", () => {
    const store = createStore<ConfigMap>({ transform: ({ data: _, ...rest }) => rest });

    store.wrote(object("a", 5));

    assert.equal(store.get("ns/a")?.data, undefined);
  });
});
