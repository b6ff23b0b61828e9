import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { createFakeClock } from "../clock/testing/fake-clock.ts";
import type { ConfigMap } from "./core-resources.ts";
import { type Change, createStore } from "./store.ts";

function object(
  name: string,
  version: number,
  extra: Partial<ConfigMap["metadata"]> = {},
): ConfigMap {
  const metadata = {
    name,
    namespace: "ns",
    uid: `${name}-1`,
    resourceVersion: String(version),
    ...extra,
  };
  return { apiVersion: "v1", kind: "ConfigMap", metadata, data: { version: String(version) } };
}

function versionOf(found: ConfigMap | undefined): string | undefined {
  return found?.metadata.resourceVersion;
}

describe("a store", () => {
  it("gives what the watch delivered", () => {
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

  it("tells nothing of an event that it knows already", () => {
    const store = createStore<ConfigMap>();
    store.set(object("a", 1));

    assert.equal(store.set(object("a", 1)), undefined);
    assert.equal(store.remove(object("b", 1)), undefined);
  });

  it("finds objects by index while they change", () => {
    const store = createStore<ConfigMap>({
      indexers: { label: (one) => Object.values(one.metadata.labels ?? {}) },
    });
    store.set(object("a", 1, { labels: { x: "red", y: "blue" } }));
    store.set(object("b", 2, { labels: { x: "red" } }));
    store.set(object("a", 3, { labels: { x: "green" } }));

    const namesOf = (value: string): readonly string[] =>
      store.byIndex("label", value).map((one) => one.metadata.name);

    assert.deepEqual(namesOf("red"), ["b"]);
    assert.deepEqual(namesOf("blue"), []);
    assert.deepEqual(namesOf("green"), ["a"]);
    assert.throws(() => store.byIndex("nope", "x"), /look up index nope: it was not declared/);
  });

  it("freezes objects deeply when told to", () => {
    const store = createStore<ConfigMap>({ freeze: true });
    store.set(object("a", 1));

    assert.throws(
      () => Object.assign(store.get("ns/a")?.data ?? {}, { version: "changed" }),
      TypeError,
    );
  });
});

describe("a write of ours", () => {
  it("is what get gives until the watch delivers it", () => {
    const store = createStore<ConfigMap>();
    store.set(object("a", 1));

    store.wrote(object("a", 5));
    const older = store.set(object("a", 3));

    assert.equal(versionOf(store.get("ns/a")), "5");
    // Changes are those of the watch, whatever is laid over.
    assert.deepEqual(older, { key: "ns/a", before: object("a", 1), after: object("a", 3) });
    assert.deepEqual(store.set(object("a", 5)), {
      key: "ns/a",
      before: object("a", 3),
      after: object("a", 5),
    });
    store.set(object("a", 6));
    assert.equal(versionOf(store.get("ns/a")), "6");
  });

  it("is old news when the watch has delivered it before it was answered", () => {
    const store = createStore<ConfigMap>();
    store.set(object("a", 5));
    store.set(object("a", 6));

    store.wrote(object("a", 5));

    assert.equal(versionOf(store.get("ns/a")), "6");
  });

  it("shows a new object before the watch knows of it, in the indexes too", () => {
    const store = createStore<ConfigMap>({ indexers: { name: (one) => [one.metadata.name] } });

    store.wrote(object("a", 5));

    assert.equal(store.byIndex("name", "a").length, 1);
    assert.deepEqual(store.set(object("a", 5)), { key: "ns/a", after: object("a", 5) });
  });

  it("does not bring back an object that is gone", () => {
    const store = createStore<ConfigMap>();
    store.set(object("a", 1));
    store.remove(object("a", 9));

    store.wrote(object("a", 5));

    assert.equal(store.get("ns/a"), undefined);
  });

  it("that took the last finalizer hides the object at once", () => {
    const store = createStore<ConfigMap>();
    const deleting = { deletionTimestamp: "2026-01-01T00:00:00Z", finalizers: ["x"] };
    store.set(object("a", 1, deleting));

    store.wrote(object("a", 5, { ...deleting, finalizers: [] }));

    assert.equal(store.get("ns/a"), undefined);
    assert.deepEqual(store.remove(object("a", 6, deleting)), {
      key: "ns/a",
      before: object("a", 1, deleting),
    });
    assert.equal(store.size, 0);
  });

  it("survives the news that its namesake was deleted", () => {
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

  it("is forgotten when everything is listed anew", () => {
    const store = createStore<ConfigMap>();
    store.set(object("a", 1));
    store.wrote(object("a", 5));
    store.wrote(object("b", 6));

    const changes = store.replaceAll([object("a", 7)]);

    assert.deepEqual(changes, [{ key: "ns/a", before: object("a", 1), after: object("a", 7) }]);
    assert.equal(versionOf(store.get("ns/a")), "7");
    assert.equal(store.get("ns/b"), undefined);
  });

  it("is given up after 10 s, should the watch never deliver it", () => {
    const clock = createFakeClock();
    const store = createStore<ConfigMap>({ clock });
    store.set(object("a", 6));
    store.wrote(object("a", 5));
    clock.advanceNow(10_000);

    store.set(object("other", 7));

    assert.equal(versionOf(store.get("ns/a")), "6");
  });

  it("goes through the transform as what the watch delivers did", () => {
    const store = createStore<ConfigMap>({ transform: ({ data: _, ...rest }) => rest });

    store.wrote(object("a", 5));

    assert.equal(store.get("ns/a")?.data, undefined);
  });
});

/** A server that a store follows with a delay, and that is written to by us and by others. */
type Step =
  | { readonly kind: "ours" | "theirs" | "delete"; readonly name: string }
  | { readonly kind: "deliver"; readonly count: number }
  | { readonly kind: "answer" }
  | { readonly kind: "relist" };

type Delivery = { readonly type: "set" | "remove"; readonly object: ConfigMap };

describe("a store that lags behind its server", () => {
  const name = fc.constantFrom("a", "b");
  const step: fc.Arbitrary<Step> = fc.oneof(
    fc.record({
      kind: fc.constantFrom("ours" as const, "theirs" as const, "delete" as const),
      name,
    }),
    fc.record({ kind: fc.constant("deliver" as const), count: fc.integer({ min: 1, max: 3 }) }),
    fc.constant({ kind: "answer" as const }),
    fc.constant({ kind: "relist" as const }),
  );

  it("never goes back behind our own writes, and ends where the server is", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        runSteps(steps);
      }),
      { numRuns: 1000 },
    );
  });

  it("tells each object's changes as one unbroken chain", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const last = new Map<string, ConfigMap>();

        for (const { key, before, after } of runSteps(steps)) {
          assert.equal(before, last.get(key));
          if (after === undefined) last.delete(key);
          else last.set(key, after);
        }
      }),
      { numRuns: 1000 },
    );
  });
});

/** Runs the steps, then delivers everything; gives all changes that were told. */
function runSteps(steps: readonly Step[]): readonly Change<ConfigMap>[] {
  const clock = createFakeClock();
  const store = createStore<ConfigMap>({
    clock,
    freeze: true,
    indexers: { name: (one) => [one.metadata.name] },
  });
  const server = new Map<string, ConfigMap>();
  const undelivered: Delivery[] = [];
  const unanswered: { readonly written: ConfigMap; readonly listsBefore: number }[] = [];
  let lists = 0;
  const changes: Change<ConfigMap>[] = [];
  /** The version that each object of the store must have at least, by its uid. */
  const atLeast = new Map<string, number>();
  let version = 0;
  let incarnation = 0;

  function write(name: string): ConfigMap {
    version++;
    const uid = server.get(name)?.metadata.uid ?? `${name}-${++incarnation}`;
    const written = object(name, version, { uid });
    server.set(name, written);
    undelivered.push({ type: "set", object: written });
    return structuredClone(written);
  }

  function deliver(count: number): void {
    for (const { type, object: delivered } of undelivered.splice(0, count)) {
      const change =
        type === "set"
          ? store.set(structuredClone(delivered))
          : store.remove(structuredClone(delivered));
      if (change !== undefined) changes.push(change);
    }
  }

  function answer(): void {
    const next = unanswered.shift();
    if (next === undefined) return;
    const { written, listsBefore } = next;
    const uid = written.metadata.uid ?? "";
    // A list between a write and its answer may have skipped the write, which nobody can know.
    if (lists === listsBefore) {
      atLeast.set(uid, Math.max(atLeast.get(uid) ?? 0, Number(written.metadata.resourceVersion)));
    }
    store.wrote(written);
  }

  function relist(): void {
    lists++;
    undelivered.length = 0;
    changes.push(...store.replaceAll([...server.values()].map((one) => structuredClone(one))));
  }

  for (const step of steps) {
    switch (step.kind) {
      case "ours":
        unanswered.push({ written: write(step.name), listsBefore: lists });
        break;
      case "theirs":
        write(step.name);
        break;
      case "delete": {
        const deleted = server.get(step.name);
        if (deleted === undefined) break;
        server.delete(step.name);
        undelivered.push({
          type: "remove",
          object: object(step.name, ++version, { uid: deleted.metadata.uid ?? "" }),
        });
        break;
      }
      case "deliver":
        deliver(step.count);
        break;
      case "answer":
        answer();
        break;
      case "relist":
        relist();
        break;
    }
    for (const shown of store.list()) {
      const { uid = "", resourceVersion } = shown.metadata;
      assert.ok(
        Number(resourceVersion) >= (atLeast.get(uid) ?? 0),
        `${uid} went back to ${resourceVersion}`,
      );
      assert.deepEqual(store.byIndex("name", shown.metadata.name), [shown]);
    }
  }

  while (unanswered.length > 0) answer();
  deliver(undelivered.length);
  // Such a write is held on to for this long.
  clock.advanceNow(10_001);
  store.wrote(object("unrelated", ++version));
  const shown = store.list().filter((one) => one.metadata.name !== "unrelated");
  assert.deepEqual(
    shown.map(versionAndName).sort(),
    [...server.values()].map(versionAndName).sort(),
  );
  return changes;
}

function versionAndName(one: ConfigMap): string {
  return `${one.metadata.name} ${one.metadata.resourceVersion}`;
}
