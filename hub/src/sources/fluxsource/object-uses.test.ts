import assert from "node:assert/strict";
import { formatObjectRef, type ObjectRef } from "@flotilla/shared/api";
import { type ObjectKey, secrets } from "@flotilla/shared/kube/objects";
import { createMemoryApiServer } from "@flotilla/shared/kube/testing";
import { silentLog } from "@flotilla/shared/log";
import { systemClock } from "@flotilla/shared/time";
import { type TestContext, test } from "vitest";
import { WorkspaceObjects } from "../../rules/referenced/workspace-objects.ts";
import { createObjectUses } from "./object-uses.ts";

const secret = (name: string): ObjectRef => ({ kind: "Secret", name });
const of = (name: string, namespace = "apps") => ({ namespace, ref: secret(name) });

/** Over the real watches of an API server in memory, which this counts. */
function setUp(t: TestContext) {
  const rest = createMemoryApiServer();
  const objects = new WorkspaceObjects({ rest, clock: systemClock, log: silentLog() });
  const stop = new AbortController();
  const running = objects.run(stop.signal);
  t.onTestFinished(async () => {
    stop.abort();
    await running;
  });
  const watched: string[] = [];
  const nameOf = (namespace: string, ref: ObjectRef) => `${namespace}/${formatObjectRef(ref)}`;
  const uses = createObjectUses({
    refresh: (...args) => objects.refresh(...args),
    onChange: (listener) => objects.onChange(listener),
    watch(namespace, ref) {
      watched.push(nameOf(namespace, ref));
      objects.watch(namespace, ref);
    },
    unwatch(namespace, ref) {
      watched.splice(watched.indexOf(nameOf(namespace, ref)), 1);
      objects.unwatch(namespace, ref);
    },
  });
  const enqueued: ObjectKey[] = [];
  const waiting: (() => void)[] = [];
  uses.watch.start((key) => {
    enqueued.push(key);
    for (const wake of waiting.splice(0)) wake();
  });
  const put = (name: string, text: string) =>
    rest.put(secrets, {
      metadata: { name, namespace: "apps" },
      data: { key: Buffer.from(text).toString("base64") },
    });
  const nextEnqueued = () => new Promise<void>((resolve) => waiting.push(resolve));
  return { uses, watched, enqueued, put, nextEnqueued };
}

test("a source reads the Secrets that it names, in their order, and those that do not exist", async (t) => {
  const { uses, put } = setUp(t);
  put("a", "1");
  const stored = put("b", "2");

  const found = await uses.use("apps/charts", [of("b"), of("none"), of("b")]);

  const b = { data: { key: Buffer.from("2").toString("base64") } };
  assert.deepEqual(
    found.map(({ data }) => data?.data),
    [b.data, undefined, b.data],
  );
  assert.deepEqual(
    found.map(({ resourceVersion }) => resourceVersion),
    [stored.metadata.resourceVersion, "", stored.metadata.resourceVersion],
  );
});

test("a change of a Secret reconciles every source that names it, and no other", async (t) => {
  const { uses, enqueued, put, nextEnqueued } = setUp(t);
  put("a", "1");
  await uses.use("apps/one", [of("a"), of("b")]);
  await uses.use("apps/two", [of("a")]);
  await uses.use("apps/three", [of("b")]);
  enqueued.splice(0);

  const changed = nextEnqueued();
  put("a", "2");
  await changed;

  assert.deepEqual(enqueued.toSorted(), ["apps/one", "apps/two"]);
});

test("a source watches only what it names now, each object once", async (t) => {
  const { uses, watched } = setUp(t);
  await uses.use("apps/one", [of("a"), of("a"), of("b")]);
  await uses.use("apps/two", [of("a")]);
  assert.deepEqual(watched.toSorted(), ["apps/Secret/a", "apps/Secret/a", "apps/Secret/b"]);

  await uses.use("apps/one", [of("b"), of("c")]);
  assert.deepEqual(watched.toSorted(), ["apps/Secret/a", "apps/Secret/b", "apps/Secret/c"]);

  uses.forget("apps/one");
  uses.forget("apps/two");
  uses.forget("apps/two");
  assert.deepEqual(watched, []);
});
