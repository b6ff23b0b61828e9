/** Informers, controllers, leader election and events with a real API server. */
import assert from "node:assert/strict";
import { type Change, createInformer, type Informer } from "@flotilla/shared/kube/cache";
import {
  connectKube,
  isConflict,
  loadKubeconfig,
  type WatchEvent,
} from "@flotilla/shared/kube/client";
import { createController, done } from "@flotilla/shared/kube/controller";
import { createEventRecorder } from "@flotilla/shared/kube/events";
import {
  fenceWrites,
  type Leadership,
  runLeaderElection,
} from "@flotilla/shared/kube/leaderelection";
import {
  type ConfigMap,
  configMaps,
  events,
  isLaterVersion,
  keyOf,
  leases,
  namespaces,
  refOf,
} from "@flotilla/shared/kube/objects";
import { silentLog } from "@flotilla/shared/log";
import { Registry } from "prom-client";
import { afterAll, describe, it, type TestContext } from "vitest";
import { leaseControlPlane } from "../harness/control-planes.ts";

const plane = await leaseControlPlane("hub");
const config = await loadKubeconfig({ path: plane.kubeconfig });
const rest = connectKube(config);
afterAll(() => rest.close());
const log = silentLog();

let count = 0;

/** The controller manager creates its own ConfigMap in every new namespace, some time later. */
const ours = "metadata.name!=kube-root-ca.crt";

async function freshNamespace(): Promise<string> {
  const name = `runtime-${++count}`;
  await rest.create(namespaces, { metadata: { name } });
  return name;
}

/** An informer that runs until the test is over, and has synced. */
async function follow(t: TestContext, namespace: string): Promise<Informer<ConfigMap>> {
  const informer = createInformer({
    rest,
    resource: configMaps,
    namespace,
    fieldSelector: ours,
    log,
    freeze: true,
  });
  const stop = new AbortController();
  const running = informer.run(stop.signal);
  t.onTestFinished(async () => {
    stop.abort();
    await running;
  });
  await informer.synced;
  return informer;
}

/** Resolves when the informer delivers a change that matches. */
function change(
  informer: Informer<ConfigMap>,
  matches: (change: Change<ConfigMap>) => boolean,
): Promise<void> {
  return new Promise((resolve) => {
    const remove = informer.onChange((found) => {
      if (!matches(found)) return;
      remove();
      resolve();
    });
  });
}

/** Creates, patches and deletes concurrently; the object `last` is created after all others. */
async function changeMuch(namespace: string): Promise<void> {
  await Promise.all(
    Array.from({ length: 100 }, async (_, index) => {
      const ref = { namespace, name: `n${index}` };
      await rest.create(configMaps, { metadata: ref, data: { step: "0" } });
      await rest.patch(configMaps, ref, { type: "merge", body: { data: { step: "1" } } });
      if (index % 3 === 0) await rest.delete(configMaps, ref);
    }),
  );
  await rest.create(configMaps, { metadata: { namespace, name: "last" } });
}

/**
 * Follows all changes since a version, and watches again from the last one where the API server ends the watch. It does so
 * when it could not hand over events in time, which happens while the machine is busy.
 */
async function* followChanges(
  selection: { readonly namespace: string; readonly fieldSelector: string },
  since: string,
): AsyncGenerator<Exclude<WatchEvent<ConfigMap>, { type: "BOOKMARK" }>> {
  let resourceVersion = since;
  for (;;)
    for await (const event of rest.watch(configMaps, {
      ...selection,
      resourceVersion,
      timeoutSeconds: 60,
    })) {
      if (event.type === "BOOKMARK") continue;
      resourceVersion = event.object.metadata.resourceVersion ?? resourceVersion;
      yield event;
    }
}

describe("a watch", () => {
  it("delivers growing versions, changes and deletions", async () => {
    const namespace = await freshNamespace();
    const selection = { namespace, fieldSelector: ours };
    const { resourceVersion } = await rest.list(configMaps, selection);
    const versions = [resourceVersion];
    let ends = 0;

    const changed = changeMuch(namespace);
    for await (const event of followChanges(selection, resourceVersion)) {
      versions.push(event.object.metadata.resourceVersion ?? "");
      if (event.type === "DELETED") ends++;
      if (event.object.metadata.name === "last") break;
    }
    await changed;

    assert.equal(versions.length, 1 + 100 + 100 + 34 + 1);
    assert.equal(ends, 34);
    for (const [at, version] of versions.entries())
      assert.ok(at === 0 || isLaterVersion(version, versions[at - 1]), `${version} at ${at}`);
  });
});

describe("an informer", () => {
  it("shows at once an object that our own write deleted", async (t) => {
    const namespace = await freshNamespace();
    const informer = await follow(t, namespace);
    const ref = { namespace, name: "kept-back" };
    const key = `${namespace}/kept-back`;
    await rest.create(configMaps, { metadata: { ...ref, finalizers: ["flotilla.dev/test"] } });
    const deleting = change(
      informer,
      ({ after: seen }) => seen?.metadata.deletionTimestamp !== undefined,
    );
    await rest.delete(configMaps, ref);
    await deleting;
    const gone = change(informer, ({ after: seen }) => seen === undefined);

    const body = { metadata: { finalizers: null } };
    informer.store.wrote(await rest.patch(configMaps, ref, { type: "merge", body }));

    assert.equal(informer.store.get(key), undefined);
    await gone;
    assert.equal(informer.store.get(key), undefined);
  });

  it("has the state of the server after many changes", async (t) => {
    const namespace = await freshNamespace();
    const informer = await follow(t, namespace);
    const finished = change(informer, ({ key }) => key === `${namespace}/last`);

    await changeMuch(namespace);
    await finished;

    const { items } = await rest.list(configMaps, { namespace, fieldSelector: ours });
    const stateOf = (object: ConfigMap): string =>
      `${keyOf(object)} ${object.metadata.resourceVersion}`;
    assert.deepEqual(informer.store.list().map(stateOf).sort(), items.map(stateOf).sort());
  });
});

describe("a controller", () => {
  it("never acts on a state before its own write", async (t) => {
    const namespace = await freshNamespace();
    const informer = await follow(t, namespace);
    const key = `${namespace}/counter`;
    const { promise: finished, resolve } = Promise.withResolvers<void>();
    let conflicts = 0;
    const controller = createController({
      name: "counter",
      log,
      metrics: new Registry(),
      reconcile: async (counted) => {
        const counter = informer.store.get(counted);
        const step = Number(counter?.data?.["step"] ?? 0);
        if (counter === undefined || step >= 50) {
          if (step >= 50) resolve();
          return done();
        }
        try {
          informer.store.wrote(
            await rest.replace(configMaps, { ...counter, data: { step: String(step + 1) } }),
          );
        } catch (error) {
          if (isConflict(error)) conflicts++;
          throw error;
        }
        // Before the watch can have delivered it.
        controller.enqueue(counted);
        return done();
      },
    });
    informer.onChange((change) => {
      if (change.key === key) controller.enqueue(change.key);
    });
    const stop = new AbortController();
    const running = controller.run(stop.signal);

    await rest.create(configMaps, { metadata: refOf(key), data: { step: "0" } });
    await finished;
    stop.abort();
    await running;

    assert.equal(conflicts, 0);
    assert.equal((await rest.get(configMaps, refOf(key)))?.data?.["step"], "50");
  });

  it("reconciles every object of a thousand creates", async (t) => {
    const namespace = await freshNamespace();
    const informer = await follow(t, namespace);
    const total = 1000;
    const enqueuedAt = new Map<string, number>();
    const reconciled = new Set<string>();
    const isCreated = (key: string) => key.startsWith(`${namespace}/n`);
    let waitedMs = 0;
    const { promise: finished, resolve } = Promise.withResolvers<void>();
    const controller = createController({
      name: "listener",
      log,
      metrics: new Registry(),
      reconcile: (key) => {
        waitedMs += performance.now() - (enqueuedAt.get(key) ?? 0);
        if (isCreated(key)) reconciled.add(key);
        if (reconciled.size === total) resolve();
        return Promise.resolve(done());
      },
    });
    informer.onChange(({ key }) => {
      enqueuedAt.set(key, performance.now());
      controller.enqueue(key);
    });
    const stop = new AbortController();
    const running = controller.run(stop.signal);
    enqueuedAt.clear();

    let next = 0;
    const create = async (): Promise<void> => {
      while (next < total)
        await rest.create(configMaps, { metadata: { namespace, name: `n${next++}` } });
    };
    await Promise.all(Array.from({ length: 32 }, create));
    await finished;
    stop.abort();
    await running;

    assert.equal(reconciled.size, total);
    await t.annotate(
      `from event to reconcile: ${Math.round((waitedMs / total) * 1000)} µs on average`,
    );
  });
});

describe("leaders", () => {
  const times = { leaseDurationMs: 3_000, renewIntervalMs: 1_000, renewDeadlineMs: 2_000 };

  function challenge(t: TestContext, namespace: string, identity: string) {
    const own = connectKube(config);
    const stop = new AbortController();
    const { promise: elected, resolve } = Promise.withResolvers<Leadership>();
    const { promise: follower, resolve: follows } = Promise.withResolvers<void>();
    const ended = runLeaderElection({
      rest: own,
      namespace,
      name: "leader",
      identity,
      log,
      times,
      signal: stop.signal,
      onNewLeader: () => follows(),
      onStartedLeading: async (signal, leadership) => {
        resolve(leadership);
        await new Promise<void>((end) => signal.addEventListener("abort", () => end()));
      },
    });
    ended.catch(() => undefined);
    t.onTestFinished(async () => {
      stop.abort();
      await ended.catch(() => undefined);
      await own.close();
    });
    return { rest: own, elected, follower, ended, stop: () => stop.abort() };
  }

  it("change when one releases its lease", async (t) => {
    const namespace = await freshNamespace();
    const one = challenge(t, namespace, "one");
    await one.elected;
    const two = challenge(t, namespace, "two");
    await two.follower;

    one.stop();
    await one.ended;
    await two.elected;

    const lease = await rest.get(leases, { namespace, name: "leader" });
    assert.equal(lease?.spec?.holderIdentity, "two");
    assert.equal(lease.spec.leaseTransitions, 1);
    assert.match(lease.spec.renewTime ?? "", /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
  });

  it("replace one that cannot reach the server, and that has stopped writing before", async (t) => {
    const namespace = await freshNamespace();
    const one = challenge(t, namespace, "one");
    const leadership = await one.elected;
    const two = challenge(t, namespace, "two");
    await two.follower;

    // Its network fails.
    await one.rest.close();
    await assert.rejects(one.ended, { code: "LEADERSHIP_LOST" });
    await assert.rejects(
      fenceWrites(rest, leadership).create(configMaps, { metadata: { namespace, name: "late" } }),
      {
        code: "LEADERSHIP_LOST",
      },
    );
    await two.elected;

    assert.equal(
      (await rest.get(leases, { namespace, name: "leader" }))?.spec?.holderIdentity,
      "two",
    );
  });

  it("write before the lease expires or not at all", async (t) => {
    const namespace = await freshNamespace();
    const one = challenge(t, namespace, "one");
    const guarded = fenceWrites(one.rest, await one.elected);

    const created = await guarded.create(configMaps, { metadata: { namespace, name: "a" } });
    const replaced = await guarded.replace(configMaps, { ...created, data: { a: "b" } });
    await guarded.patch(configMaps, replaced.metadata, {
      type: "merge",
      body: { data: { c: "d" } },
    });

    assert.equal(await guarded.delete(configMaps, replaced.metadata), true);
  });
});

describe("events", () => {
  it("are what kubectl describe shows", async () => {
    const namespace = await freshNamespace();
    const object = await rest.create(configMaps, { metadata: { namespace, name: "subject" } });
    const recorder = createEventRecorder({
      rest,
      controller: "flotilla.dev/test",
      instance: "test-0",
      log,
    });

    for (let repeats = 0; repeats < 3; repeats++) {
      recorder.record(object, {
        type: "Warning",
        reason: "Tested",
        action: "Test",
        note: "it was tested",
      });
    }
    await recorder.flush();

    const { items } = await rest.list(events, { namespace });
    assert.deepEqual(
      items.map(({ regarding, reason, note, series }) => [
        regarding?.name,
        reason,
        note,
        series?.count,
      ]),
      [["subject", "Tested", "it was tested", 2]],
    );
  });
});
