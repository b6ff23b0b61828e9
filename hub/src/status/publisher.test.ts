import assert from "node:assert/strict";
import { createStore } from "@flotilla/shared/kube/cache";
import { type KubeObject, keyOf, type Resource } from "@flotilla/shared/kube/objects";
import { conflict, createMemoryApiServer, serverError } from "@flotilla/shared/kube/testing";
import { silentLog } from "@flotilla/shared/log";
import { createFakeClock, settle } from "@flotilla/shared/time/testing";
import { describe, it } from "vitest";
import { createPublisher } from "./publisher.ts";

interface Status {
  readonly says: string;
}

interface Ship extends KubeObject {
  readonly status?: Status;
}

const ships: Resource<Ship> = {
  group: "example.com",
  version: "v1",
  kind: "Ship",
  plural: "ships",
  namespaced: true,
};
const ref = { namespace: "sea", name: "argo" };
const key = keyOf(ref);
const written = `replace ships ${key}`;

/** A ship in the API server and in the cache. What its status should say is set by the test; `!` makes it a verdict. */
function start(options: { readonly concurrency?: number; readonly others?: number } = {}) {
  const kube = createMemoryApiServer();
  const clock = createFakeClock();
  const store = createStore<Ship>();
  const wanted = new Map<string, string>();
  const settled: string[] = [];
  const launch = (name: string) =>
    store.set(kube.put(ships, { metadata: { namespace: "sea", name } }));
  launch(ref.name);
  for (let index = 0; index < (options.others ?? 0); index += 1) launch(`other-${index}`);
  const writer = createPublisher<Status, Ship>({
    rest: kube,
    resource: ships,
    store,
    rollUp: (ship) => {
      const says = wanted.get(ship.metadata.name);
      return says === undefined ? undefined : { says };
    },
    isUrgent: (_before, after) => after.says.endsWith("!"),
    onSettled: (name) => settled.push(name),
    clock,
    log: silentLog(),
    ...(options.concurrency !== undefined && { concurrency: options.concurrency }),
  });

  /** Says something new of a ship. */
  const say = (says: string, name = ref.name): void => {
    wanted.set(name, says);
    writer.refresh(`sea/${name}`);
  };
  const stored = (name = ref.name) => kube.peek(ships, { namespace: "sea", name })?.status?.says;
  return { kube, clock, store, wanted, settled, writer, say, stored };
}

describe("a status writer", () => {
  it("writes a verdict at once", async () => {
    const { kube, say } = start();

    say("ready!");
    await settle();

    assert.deepEqual(kube.writes, [written]);
  });

  it("writes progress after a second, once for all that came in it", async () => {
    const { kube, clock, say, stored } = start();

    say("one");
    await clock.advance(500);
    say("two");
    say("three");
    await clock.advance(499);
    assert.deepEqual(kube.writes, []);
    await clock.advance(1);

    assert.deepEqual(kube.writes, [written]);
    assert.equal(stored(), "three");
  });

  it("writes progress with the verdict that comes in time", async () => {
    const { kube, clock, say, stored } = start();

    say("installing");
    await clock.advance(300);
    say("ready!");
    await clock.advance(5_000);

    assert.deepEqual(kube.writes, [written]);
    assert.equal(stored(), "ready!");
  });

  it("remembers nothing of an object that is gone: one of its name is written at once", async () => {
    const { kube, store, writer, say } = start();
    for (const says of ["1!", "2!", "3!", "4!", "5!"]) {
      say(says);
      await settle();
    }
    const gone = store.get(key);
    assert.ok(gone !== undefined);
    store.remove(gone);
    writer.refresh(key);

    store.set(kube.put(ships, { metadata: { ...ref, uid: "another" } }));
    say("6!");
    await settle();

    assert.equal(kube.writes.length, 6);
  });

  it("writes nothing when progress is undone before it is told", async () => {
    const { kube, clock, wanted, writer, say } = start();
    say("ready!");
    await settle();

    say("changing");
    say("ready!");
    await clock.advance(5_000);
    wanted.delete(ref.name);
    writer.refresh(key);
    await clock.advance(5_000);

    assert.deepEqual(kube.writes, [written]);
  });

  it("writes five verdicts at once, then one a second, and always the last one", async () => {
    const { kube, clock, say, stored } = start();
    const says = async (count: number, first: number): Promise<void> => {
      for (let index = first; index < first + count; index += 1) {
        say(`${index}!`);
        await settle();
      }
    };

    await says(8, 0);
    assert.equal(kube.writes.length, 5);
    assert.equal(stored(), "4!");
    await clock.advance(1_000);
    assert.equal(kube.writes.length, 6);
    assert.equal(stored(), "7!");

    await says(3, 8);
    assert.equal(kube.writes.length, 6);
    await clock.advance(1_000);
    assert.equal(kube.writes.length, 7);
    assert.equal(stored(), "10!");
  });

  it("has five verdicts again after it was quiet", async () => {
    const { kube, clock, say } = start();
    for (let index = 0; index < 5; index += 1) {
      say(`${index}!`);
      await settle();
    }
    await clock.advance(10_000);

    for (let index = 5; index < 12; index += 1) {
      say(`${index}!`);
      await settle();
    }

    assert.equal(kube.writes.length, 10);
  });

  it("has one write of an object on its way, and then writes what came meanwhile", async () => {
    const { kube, say, stored } = start();
    const letThrough = kube.hold();

    say("one!");
    await settle();
    say("two!");
    say("three!");
    await settle();
    assert.equal(kube.writes.length, 1);
    letThrough();
    await settle();

    assert.equal(kube.writes.length, 2);
    assert.equal(stored(), "three!");
  });

  it("has no more writes on their way than it may", async () => {
    const { kube, say, stored } = start({ concurrency: 2, others: 5 });
    const letThrough = kube.hold();

    for (let index = 0; index < 5; index += 1) say("ready!", `other-${index}`);
    await settle();
    assert.equal(kube.writes.length, 2);
    letThrough();
    await settle();

    assert.equal(kube.writes.length, 5);
    assert.equal(stored("other-4"), "ready!");
  });

  it("writes nothing that is there already, and says that it is settled", async () => {
    const { kube, settled, say } = start();
    say("ready!");
    await settle();

    say("ready!");

    assert.deepEqual(kube.writes, [written]);
    assert.deepEqual(settled, [key, key]);
  });

  it("says that an object is settled that is not there, or of which nothing can be told", () => {
    const { kube, settled, writer } = start();

    writer.refresh("sea/nobody");
    writer.refresh(key);

    assert.deepEqual(settled, ["sea/nobody", key]);
    assert.deepEqual(kube.writes, []);
  });

  it("decides again about the newest object when somebody else was faster", async () => {
    const { kube, say } = start();
    kube.put(ships, { metadata: { ...ref, labels: { new: "label" } } });

    say("ready!");
    await settle();

    assert.deepEqual(kube.writes, [written, written]);
    const ship = kube.peek(ships, ref);
    assert.deepEqual(ship?.metadata.labels, { new: "label" });
    assert.equal(ship.status?.says, "ready!");
  });

  it("writes nothing when somebody else wrote the same", async () => {
    const { kube, settled, say } = start();
    kube.put(ships, { metadata: ref, status: { says: "ready!" } });

    say("ready!");
    await settle();

    assert.deepEqual(kube.writes, [written]);
    assert.deepEqual(settled, [key]);
  });

  it("is not settled by conflicts, however many: it tries again", async () => {
    const { kube, clock, settled, say, stored } = start();
    kube.failNext(conflict(), conflict(), conflict());

    say("ready!");
    await settle();
    assert.equal(kube.writes.length, 3);
    assert.deepEqual(settled, []);
    await clock.advance(200);

    assert.equal(stored(), "ready!");
    assert.deepEqual(settled, [key]);
  });

  it("tries a failed write again with a growing delay, until it is stored", async () => {
    const { kube, clock, settled, say, stored } = start();
    kube.failNext(serverError(), serverError(), serverError());

    say("ready!");
    await settle();
    const delays: number[] = [];
    while (clock.waiting().length > 0) {
      const [delay = 0] = clock.waiting();
      delays.push(delay);
      assert.deepEqual(settled, []);
      await clock.advance(delay);
    }

    assert.deepEqual(delays, [200, 400, 800]);
    assert.equal(stored(), "ready!");
    assert.deepEqual(settled, [key]);
  });

  it("never waits longer than half a minute for the next try", async () => {
    const { kube, clock, say } = start();
    kube.failNext(...Array.from({ length: 20 }, serverError));

    say("ready!");
    for (let index = 0; index < 15; index += 1) {
      await clock.advance(clock.waiting()[0] ?? 0);
      assert.ok((clock.waiting()[0] ?? 0) <= 30_000);
    }
    assert.equal(clock.waiting()[0], 30_000);
  });

  it("gives up an object that is gone", async () => {
    const { kube, clock, settled, say } = start();
    await kube.delete(ships, ref);

    say("ready!");
    await settle();

    assert.deepEqual(settled, [key]);
    assert.deepEqual(clock.waiting(), []);
  });
});

describe("a flush", () => {
  it("is over at once when nothing waits", async () => {
    const { kube, writer } = start();

    await writer.flush();

    assert.deepEqual(kube.writes, []);
  });

  it("writes what waits, and is over when it is stored", async () => {
    const { kube, clock, writer, say, stored } = start({ others: 1 });
    say("installing");
    say("installing", "other-0");

    await writer.flush();

    assert.equal(kube.writes.length, 2);
    assert.equal(stored(), "installing");
    assert.deepEqual(clock.waiting(), []);
  });

  it("waits for what is on its way, and for what came meanwhile, tokens or not", async () => {
    const { kube, writer, say, stored } = start();
    for (let index = 0; index < 4; index += 1) {
      say(`${index}!`);
      await settle();
    }
    const letThrough = kube.hold();
    say("last but one!");
    say("last");
    let isOver = false;

    const flushed = writer.flush().then(() => {
      isOver = true;
    });
    await settle();
    assert.equal(isOver, false);
    letThrough();
    await flushed;

    assert.equal(stored(), "last");
  });

  it("takes no marks any more", async () => {
    const { kube, clock, writer, say } = start();
    await writer.flush();

    say("ready!");
    await clock.advance(5_000);

    assert.deepEqual(kube.writes, []);
  });

  it("gives up what cannot be written, and does not call it settled", async () => {
    const { kube, clock, settled, writer, say } = start({ others: 1 });
    kube.failNext(...Array.from({ length: 9 }, serverError));
    say("ready!");
    await settle();
    say("installing", "other-0");

    await writer.flush();

    assert.equal(kube.writes.length, 3);
    assert.deepEqual(settled, []);
    assert.deepEqual(clock.waiting(), []);
  });
});

describe("a published status", () => {
  /** The status is what is published, rolled up with the number of the ships that are there. */
  function publishing() {
    const kube = createMemoryApiServer();
    const clock = createFakeClock();
    const store = createStore<Ship>();
    store.set(kube.put(ships, { metadata: { ...ref, uid: "first" } }));
    const publisher = createPublisher<Status, Ship>({
      rest: kube,
      resource: ships,
      store,
      rollUp: ({ status }) =>
        status && { says: status.says.replace(/ of .*/, ` of ${store.size}`) },
      isUrgent: (_before, after) => after.says.startsWith("!"),
      clock,
      log: silentLog(),
    });
    const ship = () => {
      const found = store.get(key);
      assert.ok(found !== undefined);
      return found;
    };
    return { kube, clock, store, publisher, ship };
  }

  it("is the one to decide by until it is written, and is rolled up when it is", async () => {
    const { kube, clock, publisher, ship } = publishing();
    assert.equal(publisher.current(ship()), undefined);

    publisher.publish(ship(), { says: "one of ?" });
    assert.deepEqual(publisher.current(ship()), { says: "one of ?" });
    await clock.advance(1_000);

    assert.deepEqual(kube.peek(ships, ref)?.status, { says: "one of 1" });
    assert.deepEqual(publisher.current(ship()), { says: "one of 1" });
  });

  it("is that of its object, not of a new one of the same name", () => {
    const { kube, store, publisher, ship } = publishing();
    publisher.publish(ship(), { says: "old" });
    store.remove(ship());
    const metadata = { ...ref, uid: "second", resourceVersion: "99" };

    store.set({ ...kube.put(ships, { metadata }), metadata });

    assert.equal(publisher.current(ship()), undefined);
  });

  it("survives a conflict, after which it is rolled up again", async () => {
    const { kube, publisher, ship } = publishing();
    kube.failNext(conflict());

    publisher.publish(ship(), { says: "!now" });
    await settle();
    await settle();

    assert.deepEqual(kube.peek(ships, ref)?.status, { says: "!now" });
  });
});
