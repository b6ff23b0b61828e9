import assert from "node:assert/strict";
import fc from "fast-check";
import { describe, it } from "vitest";
import type { ConfigMap } from "../objects/index.ts";
import { object, versionOf } from "../testing/index.ts";
import { defineIndex } from "./object-index.ts";
import { type Change, createStore, type Store } from "./store.ts";

/** A server that a store follows with a delay, that we and others write to, and that is restored from backups. */
type Step =
  | { readonly kind: "ours"; readonly name: string; readonly isDeleting: boolean }
  | { readonly kind: "theirs" | "ourEnd" | "theirEnd" | "read"; readonly name: string }
  | { readonly kind: "deliver"; readonly count: number }
  | { readonly kind: "respond"; readonly at: number }
  | { readonly kind: "beginList" | "cutList" | "backUp" | "restore" };

type Delivery =
  | { readonly type: "set" | "remove"; readonly object: ConfigMap }
  | { readonly type: "list"; readonly objects: readonly ConfigMap[]; readonly version: string };

type Reader = (store: Store<ConfigMap>, key: string) => void;

const byName = defineIndex<ConfigMap>("name", ({ metadata }) => [metadata.name]);

const deletionTimestamp = "2026-01-01T00:00:00Z";

describe("a store that lags behind its server", () => {
  const name = fc.constantFrom("a", "b");
  const steps = fc.array(
    fc.oneof<fc.WeightedArbitrary<Step>[]>(
      {
        weight: 4,
        arbitrary: fc.record({ kind: fc.constant("ours"), name, isDeleting: fc.boolean() }),
      },
      {
        weight: 8,
        arbitrary: fc.record({
          kind: fc.constantFrom("theirs", "ourEnd", "theirEnd", "read"),
          name,
        }),
      },
      {
        weight: 8,
        arbitrary: fc.record({ kind: fc.constant("respond"), at: fc.nat({ max: 2 }) }),
      },
      {
        weight: 8,
        arbitrary: fc.record({
          kind: fc.constant("deliver"),
          count: fc.integer({ min: 1, max: 3 }),
        }),
      },
      { weight: 4, arbitrary: fc.record({ kind: fc.constantFrom("beginList", "cutList") }) },
      { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom("backUp", "restore") }) },
    ),
    { maxLength: 40 },
  );

  it("returns our own writes and later states, and ends with the state of the server", () => {
    fc.assert(
      fc.property(steps, (taken) => {
        runSteps(taken);
      }),
      { numRuns: 2000 },
    );
  });

  it("delivers the changes of each object as one unbroken chain", () => {
    fc.assert(
      fc.property(steps, (taken) => {
        const last = new Map<string, ConfigMap>();

        for (const { key, before, after } of runSteps(taken)) {
          assert.equal(before, last.get(key));
          if (after === undefined) last.delete(key);
          else last.set(key, after);
        }
      }),
      { numRuns: 2000 },
    );
  });

  it("has the final state for a reader that reads after each write and each change", () => {
    fc.assert(
      fc.property(steps, (taken) => {
        const seen = new Map<string, string | undefined>();
        const read: Reader = (store, key) => void seen.set(key, versionOf(store.get(key)));

        const changes = runSteps(taken, read);

        const last = new Map(changes.map(({ key, after }) => [key, versionOf(after)]));
        for (const [key, version] of seen) assert.equal(version, last.get(key), key);
      }),
      { numRuns: 2000 },
    );
  });
});

/** Takes the steps, then delivers everything; returns all changes. `read` is called where a reader would read. */
function runSteps(
  steps: readonly Step[],
  read: Reader = () => undefined,
): readonly Change<ConfigMap>[] {
  const store = createStore<ConfigMap>({ freeze: true });
  let server = new Map<string, ConfigMap>();
  let version = 1;
  let backup = { objects: new Map(server), version };
  let incarnation = 0;
  const undelivered: Delivery[] = [];
  let inFlight: ConfigMap[] = [];
  let replaceAll: ReturnType<typeof store.beginList> | undefined;
  let isListCut = false;
  /** Until the objects of a restored server are listed, its versions look like old ones. */
  let isDisconnected = false;
  /** Our own writes with a response, by uid: the store must have at least this version. */
  const atLeast = new Map<string, number>();
  /** The uids of objects that we ended, and that must not be in the store again. */
  const ended = new Set<string>();
  const changes: Change<ConfigMap>[] = [];

  function record(delivered: readonly (Change<ConfigMap> | undefined)[]): void {
    const recorded = delivered.filter((change) => change !== undefined);
    changes.push(...recorded);
    for (const { key } of recorded) read(store, key);
  }

  function applyDelivery(delivery: Delivery): void {
    // What happens before a list is cut is in it.
    if (replaceAll === undefined || isListCut) undelivered.push(delivery);
  }

  function write(name: string, extra: Partial<ConfigMap["metadata"]> = {}): ConfigMap {
    version++;
    const uid = server.get(name)?.metadata.uid ?? `${name}-${++incarnation}`;
    const written = object(name, version, { uid, ...extra });
    server.set(name, written);
    applyDelivery({ type: "set", object: written });
    return written;
  }

  /** Removes the object; returns its last state. */
  function end(name: string): ConfigMap | undefined {
    const removed = server.get(name);
    if (removed === undefined) return undefined;
    server.delete(name);
    version++;
    const { uid = "" } = removed.metadata;
    applyDelivery({ type: "remove", object: object(name, version, { uid }) });
    return removed;
  }

  function beginList(): void {
    // Events that the watch had not delivered are skipped.
    undelivered.length = 0;
    replaceAll = store.beginList();
    isListCut = false;
  }

  function cutList(): void {
    if (replaceAll === undefined || isListCut) return;
    isListCut = true;
    undelivered.push({ type: "list", objects: [...server.values()], version: String(version) });
  }

  function deliver(count: number): void {
    for (const delivery of structuredClone(undelivered.splice(0, count))) {
      if (delivery.type !== "list") {
        record([store[delivery.type](delivery.object)]);
        continue;
      }
      assert.ok(replaceAll !== undefined);
      record(replaceAll(delivery.objects, delivery.version));
      replaceAll = undefined;
      isDisconnected = false;
    }
  }

  function respond(at: number): void {
    const [response] = structuredClone(inFlight.splice(Math.min(at, inFlight.length - 1), 1));
    if (response === undefined) return;
    const { uid = "", name, resourceVersion } = response.metadata;
    const key = `ns/${name}`;
    const isEnd =
      response.metadata.deletionTimestamp !== undefined && !response.metadata.finalizers;
    if (isEnd && store.get(key)?.metadata.uid === uid) ended.add(uid);
    if (!isEnd && !isDisconnected)
      atLeast.set(uid, Math.max(atLeast.get(uid) ?? 0, Number(resourceVersion)));
    store.wrote(response);
    read(store, key);
  }

  function restore(): void {
    server = new Map(backup.objects);
    version = backup.version;
    inFlight = [];
    atLeast.clear();
    ended.clear();
    isDisconnected = true;
    beginList();
  }

  function take(step: Step): void {
    switch (step.kind) {
      case "ours":
        inFlight.push(
          write(step.name, step.isDeleting ? { deletionTimestamp, finalizers: ["x"] } : {}),
        );
        break;
      case "theirs":
        write(step.name);
        break;
      case "read": {
        const there = server.get(step.name);
        if (there !== undefined) inFlight.push(there);
        break;
      }
      case "ourEnd": {
        const removed = end(step.name);
        if (removed === undefined) break;
        const { uid = "", resourceVersion } = removed.metadata;
        inFlight.push(object(step.name, Number(resourceVersion), { uid, deletionTimestamp }));
        break;
      }
      case "theirEnd":
        end(step.name);
        break;
      case "deliver":
        deliver(step.count);
        break;
      case "respond":
        respond(step.at);
        break;
      case "beginList":
        beginList();
        break;
      case "cutList":
        cutList();
        break;
      case "backUp":
        backup = { objects: new Map(server), version };
        break;
      case "restore":
        restore();
        break;
    }
  }

  for (const step of steps) {
    take(step);
    for (const { metadata } of server.values()) {
      const known = atLeast.get(metadata.uid ?? "");
      const shown = store.get(`ns/${metadata.name}`)?.metadata;
      if (known === undefined) continue;
      assert.equal(shown?.uid, metadata.uid);
      assert.ok(Number(shown?.resourceVersion) >= known, `${metadata.uid} was older than ${known}`);
    }
    for (const shown of store.list()) {
      assert.ok(!ended.has(shown.metadata.uid ?? ""), `${shown.metadata.uid} was restored`);
      assert.deepEqual(store.byIndex(byName, shown.metadata.name), [shown]);
    }
  }

  while (inFlight.length > 0) respond(0);
  cutList();
  deliver(undelivered.length);
  assert.deepEqual(
    store.list().map(versionAndName).sort(),
    [...server.values()].map(versionAndName).sort(),
  );
  return changes;
}

function versionAndName(one: ConfigMap): string {
  return `${one.metadata.name} ${one.metadata.resourceVersion}`;
}
