import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { type Change, type ChangeListener, createStore } from "../cache/index.ts";
import type { KubeObject } from "../objects/index.ts";
import { isSpecChange, ownKey, startWatches, through, watch } from "./watch.ts";

function anObject(name: string, changes: Partial<KubeObject["metadata"]> = {}): KubeObject {
  return { metadata: { namespace: "a", name, uid: name, generation: 1, ...changes } };
}

function aSource(...names: readonly string[]) {
  const store = createStore<KubeObject>();
  for (const name of names) store.set(anObject(name));
  const listeners = new Set<ChangeListener<KubeObject>>();
  return {
    store,
    onChange(listener: ChangeListener<KubeObject>) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    emit(change: Change<KubeObject>) {
      for (const listener of listeners) listener(change);
    },
  };
}

describe("a watch", () => {
  test("enqueues the keys of what exists, then those of changes, until it is stopped", () => {
    const source = aSource("one", "two");
    const keys: string[] = [];
    const stop = startWatches([watch(source, { toKeys: ownKey })], (key) => keys.push(key));

    source.emit({ key: "a/three", after: anObject("three") });
    stop();
    source.emit({ key: "a/four", after: anObject("four") });

    assert.deepEqual(keys, ["a/one", "a/two", "a/three"]);
  });

  test("replays additions as isInInitialList, unless that is turned off", () => {
    const source = aSource("one");
    const seen: (boolean | undefined)[] = [];
    const predicate = ({ isInInitialList }: Change<KubeObject>) => seen.push(isInInitialList) > 0;

    watch(source, { predicate, toKeys: ownKey }).start(() => undefined);
    watch(source, { predicate, toKeys: ownKey, replay: false }).start(() => undefined);

    assert.deepEqual(seen, [true]);
  });

  test("enqueues through its handler what its predicate passes and its map function returns", () => {
    const source = aSource();
    const keys: string[] = [];
    const inner = watch(source, {
      predicate: ({ key }) => key !== "a/no",
      toKeys: ({ key }) => [`${key}-1`, `${key}-2`],
    });
    through(inner, (enqueue) => (key) => enqueue(key.toUpperCase())).start((key) => keys.push(key));

    source.emit({ key: "a/no" });
    source.emit({ key: "a/yes" });

    assert.deepEqual(keys, ["A/YES-1", "A/YES-2"]);
  });
});

describe("a spec change", () => {
  const before = anObject("one");
  const cases: readonly (readonly [string, Omit<Change<KubeObject>, "key">, boolean])[] = [
    ["includes its creation", { after: before }, true],
    ["includes its deletion", { before }, true],
    ["includes a new generation", { before, after: anObject("one", { generation: 2 }) }, true],
    ["includes a changed label", { before, after: anObject("one", { labels: { a: "b" } }) }, true],
    [
      "includes a changed annotation",
      { before, after: anObject("one", { annotations: { a: "b" } }) },
      true,
    ],
    [
      "includes the start of its deletion",
      { before, after: anObject("one", { deletionTimestamp: "2026-01-01T00:00:00Z" }) },
      true,
    ],
    [
      "excludes a new resourceVersion alone",
      { before, after: anObject("one", { resourceVersion: "2" }) },
      false,
    ],
  ];
  for (const [what, change, isChange] of cases)
    test(what, () => assert.equal(isSpecChange({ key: "a/one", ...change }), isChange));
});
