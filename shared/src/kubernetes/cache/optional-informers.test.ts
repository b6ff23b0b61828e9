/** Informers of kinds whose definitions appear and disappear, on an API server in memory. */
import assert from "node:assert/strict";
import { describe, type TestContext, test } from "vitest";
import { silentLog } from "../../runtime/log/index.ts";
import {
  type ConfigMap,
  configMaps,
  customResourceDefinitions,
  type KubeObject,
  type Resource,
} from "../objects/index.ts";
import { createMemoryApiServer } from "../testing/index.ts";
import { createInformer } from "./informer.ts";
import { createOptionalInformers } from "./optional-informers.ts";

const boats: Resource<ConfigMap> = { ...configMaps, group: "example.com", plural: "boats" };
const definition = { name: "boats.example.com" };

interface SetUp {
  readonly isDefined?: boolean;
  readonly isAllowed?: () => boolean;
}

function setUp(t: TestContext, { isDefined = false, isAllowed }: SetUp = {}) {
  const server = createMemoryApiServer();
  const define = () =>
    void server.put<KubeObject>(customResourceDefinitions, { metadata: definition });
  const put = (name: string) =>
    void server.put<ConfigMap>(boats, { metadata: { namespace: "default", name } });
  if (isDefined) define();
  const log = silentLog();
  const optional = createOptionalInformers({ rest: server, log, ...(isAllowed && { isAllowed }) });
  const informer = optional.add(boats, createInformer({ rest: server, resource: boats, log }));
  const changes: string[] = [];
  const waiting = new Map<string, () => void>();
  informer.onChange(({ key, after }) => {
    const change = `${after === undefined ? "-" : "+"}${key.replace("default/", "")}`;
    changes.push(change);
    waiting.get(change)?.();
  });
  const stop = new AbortController();
  const running = optional.run(stop.signal);
  t.onTestFinished(async () => {
    stop.abort();
    await running;
  });
  return {
    ...{ server, optional, informer, changes, stop, running, define, put },
    /** Resolves when the listeners have been called with it: `+name` or `-name`. */
    delivered: (change: string) =>
      new Promise<void>((resolve) => {
        waiting.set(change, resolve);
        if (changes.includes(change)) resolve();
      }),
    undefine: () => server.remove(customResourceDefinitions, definition),
    names: () => informer.store.list().map(({ metadata }) => metadata.name),
    lists: () => server.reads.filter((read) => read.startsWith("list boats")).length,
  };
}

describe("an informer of a kind", () => {
  test("that is not defined has synced without a list, and is empty", async (t) => {
    const { informer, optional, lists, names } = setUp(t);

    await informer.synced;

    assert.deepEqual([informer.hasSynced, optional.isRunning()], [true, false]);
    assert.deepEqual(names(), []);
    await informer.refresh(new AbortController().signal);
    assert.equal(lists(), 0);
  });

  test("that is defined has synced once its objects are listed", async (t) => {
    const { informer, optional, put, names } = setUp(t, { isDefined: true });
    put("ferry");

    await informer.synced;

    assert.deepEqual(names(), ["ferry"]);
    assert.deepEqual([informer.hasSynced, optional.isRunning()], [true, true]);
  });

  test("that is defined later lists and watches from then on", async (t) => {
    const { informer, optional, define, put, delivered } = setUp(t);
    await informer.synced;

    define();
    put("ferry");
    await delivered("+ferry");
    put("tug");
    await delivered("+tug");

    assert.equal(optional.isRunning(), true);
  });

  test("whose definition is deleted is empty at once, also when the deletion of its objects is not delivered", async (t) => {
    const { informer, optional, define, undefine, put, changes, delivered, names, lists } = setUp(
      t,
      {
        isDefined: true,
      },
    );
    put("ferry");
    await informer.synced;

    undefine();
    await delivered("-ferry");

    assert.deepEqual(names(), []);
    assert.deepEqual([informer.hasSynced, optional.isRunning()], [true, false]);
    const before = lists();
    put("tug");
    define();
    await delivered("+tug");
    assert.equal(lists(), before + 1);
    assert.deepEqual(changes, ["+ferry", "-ferry", "+ferry", "+tug"]);
  });

  test("that is not allowed has synced without a list until it is, as if it were not defined", async (t) => {
    let isAllowed = false;
    const { informer, optional, put, delivered, names, lists } = setUp(t, {
      isDefined: true,
      isAllowed: () => isAllowed,
    });
    put("ferry");
    await informer.synced;
    assert.deepEqual([names(), lists(), optional.isRunning()], [[], 0, false]);
    optional.update();
    assert.equal(optional.isRunning(), false);

    isAllowed = true;
    optional.update();

    assert.equal(optional.isRunning(), true);
    await delivered("+ferry");
    assert.equal(lists(), 1);
  });

  test("that runs stops and is empty when it is not allowed any more, and lists again when it is", async (t) => {
    let isAllowed = true;
    const { informer, optional, put, changes, delivered, names, lists } = setUp(t, {
      isDefined: true,
      isAllowed: () => isAllowed,
    });
    put("ferry");
    await informer.synced;

    isAllowed = false;
    optional.update();
    await delivered("-ferry");
    assert.deepEqual(
      [names(), informer.hasSynced, optional.isRunning(), lists()],
      [[], true, false, 1],
    );

    put("tug");
    isAllowed = true;
    optional.update();
    await delivered("+tug");
    assert.deepEqual([optional.isRunning(), lists()], [true, 2]);
    assert.deepEqual(changes, ["+ferry", "-ferry", "+ferry", "+tug"]);
  });

  test("does not start before the definitions are listed, nor after the end", async (t) => {
    const { informer, optional, define, stop, running, lists } = setUp(t);
    optional.update();
    assert.equal(optional.isRunning(), false);
    await informer.synced;

    stop.abort();
    await running;
    define();
    optional.update();

    assert.equal(optional.isRunning(), false);
    assert.equal(lists(), 0);
  });
});
