import assert from "node:assert/strict";
import type { ObjectRef } from "@flotilla/proto";
import { formatObjectRef } from "@flotilla/shared/api";
import { configMaps, type Secret, secrets } from "@flotilla/shared/kube/objects";
import { createMemoryApiServer } from "@flotilla/shared/kube/testing";
import { silentLog } from "@flotilla/shared/log";
import { createFakeClock } from "@flotilla/shared/time/testing";
import { describe, type TestContext, test } from "vitest";
import type { WorkspaceObject } from "./workspace-object.ts";
import { WorkspaceObjects } from "./workspace-objects.ts";

const namespace = "apps";
const login = { kind: "Secret", name: "login" } as const;

function secret(password: string, labels: Readonly<Record<string, string>> = {}): Secret {
  return { metadata: { name: "login", namespace, labels }, data: { password } };
}

const watched = { "reconcile.fluxcd.io/watch": "Enabled" };

function setUp(t: TestContext) {
  const rest = createMemoryApiServer();
  const workspaces = new Set(["fleet-default"]);
  const clock = createFakeClock();
  const objects = new WorkspaceObjects({
    rest,
    isWorkspace: (each) => workspaces.has(each),
    clock,
    log: silentLog(),
  });
  const stop = new AbortController();
  const running = objects.run(stop.signal);
  t.onTestFinished(async () => {
    stop.abort();
    await running;
  });
  return {
    rest,
    clock,
    objects,
    workspaces,
    reads: () => rest.reads.filter((read) => read.includes(`secrets ${namespace}`)),
    /** Resolves with the object of the next change. */
    changed: () =>
      new Promise<string>((resolve) => {
        const stopListening = objects.onChange((where, ref) => {
          stopListening();
          resolve(`${where} ${formatObjectRef(ref)}`);
        });
      }),
    async password(ref: ObjectRef = login): Promise<string | undefined> {
      return passwordOf(await objects.known(namespace, ref));
    },
  };
}

function passwordOf(known: WorkspaceObject): string | undefined {
  return known.kind === "present" ? known.object.data?.["password"] : known.kind;
}

describe("objects of a namespace that is not a workspace", () => {
  test("are read by their names, and no others", async (t) => {
    const { rest, objects, reads, password } = setUp(t);
    rest.put(secrets, secret("YQ=="));
    rest.put(secrets, { ...secret("Yg=="), metadata: { name: "other", namespace } });

    objects.watch(namespace, login);

    assert.equal(await password(), "YQ==");
    assert.deepEqual(reads(), ["secrets apps/login"]);
  });

  test("are read once for 1,000 that name the same one", async (t) => {
    const { rest, objects, reads } = setUp(t);
    rest.put(secrets, secret("YQ=="));

    const known = Array.from({ length: 1_000 }, () => {
      objects.watch(namespace, login);
      return objects.known(namespace, login);
    });
    await Promise.all(known);

    assert.deepEqual(reads(), ["secrets apps/login"]);
  });

  test("that do not exist are read again with back-off, until they do", async (t) => {
    const { rest, clock, objects, reads, changed, password } = setUp(t);
    objects.watch(namespace, login);
    assert.equal(await password(), "absent");
    for (const [afterMs, count] of [
      [4_999, 1],
      [1, 2],
      [10_000, 3],
    ] as const) {
      await clock.advance(afterMs);
      assert.equal(reads().length, count);
    }
    rest.put(secrets, secret("YQ=="));
    const change = changed();

    await clock.advance(20_000);

    assert.equal(await change, "apps Secret/login");
    assert.equal(await password(), "YQ==");
    await clock.advance(60 * 60_000);
    assert.equal(reads().length, 4);
  });

  test("are read again on request, once for all callers of the same time", async (t) => {
    const { rest, objects, reads, changed, password } = setUp(t);
    rest.put(secrets, secret("YQ=="));
    objects.watch(namespace, login);
    await password();
    const before = reads().length;

    rest.put(secrets, secret("Yg=="));
    const change = changed();
    const all = await Promise.all(
      Array.from({ length: 1_000 }, () => objects.refresh(namespace, login)),
    );

    assert.ok(all.every((each) => passwordOf(each) === "Yg=="));
    assert.equal(await change, "apps Secret/login");
    assert.ok(reads().length - before <= 2);
  });

  test("are not read again for a change without the label", async (t) => {
    const { rest, objects, reads, password } = setUp(t);
    rest.put(secrets, secret("YQ=="));
    objects.watch(namespace, login);
    await password();

    rest.put(secrets, secret("Yg=="));
    rest.put(configMaps, { metadata: { name: "login", namespace } });

    assert.equal(await password(), "YQ==");
    assert.equal(reads().length, 1);
  });

  test("are read at once for each change with the label, a deletion included", async (t) => {
    const { rest, objects, changed, password } = setUp(t);
    rest.put(secrets, secret("YQ==", watched));
    const first = changed();
    objects.watch(namespace, login);
    await first;
    assert.equal(await password(), "YQ==");

    const second = changed();
    rest.put(secrets, secret("Yg==", watched));
    await second;
    assert.equal(await password(), "Yg==");

    const third = changed();
    rest.remove(secrets, { namespace, name: "login" });
    await third;
    assert.equal(await password(), "absent");
  });

  test("are watched as soon as it is a workspace, without losing a caller", async (t) => {
    const { rest, objects, workspaces, changed, password } = setUp(t);
    rest.put(secrets, secret("YQ=="));
    objects.watch(namespace, login);
    const waiting = password();

    workspaces.add(namespace);
    objects.workspaceChanged(namespace);

    assert.equal(await waiting, "YQ==");
    assert.equal(await password(), "YQ==");
    const change = changed();
    rest.put(secrets, secret("Yg=="));
    await change;
    assert.equal(await password(), "Yg==");
  });

  test("that cannot be read fail the caller, and are read again", async (t) => {
    const { rest, objects } = setUp(t);
    rest.put(secrets, secret("YQ=="));
    rest.beforeRead = () => {
      throw new Error("the connection was lost");
    };
    objects.watch(namespace, login);
    await assert.rejects(objects.known(namespace, login), /the connection was lost/);
    await assert.rejects(objects.refresh(namespace, login), /the connection was lost/);

    rest.beforeRead = () => undefined;

    assert.equal(passwordOf(await objects.refresh(namespace, login)), "YQ==");
  });
});
