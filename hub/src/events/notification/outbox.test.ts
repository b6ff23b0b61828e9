import assert from "node:assert/strict";
import { type Secret, secrets } from "@flotilla/shared/kube/objects";
import { conflict, createMemoryApiServer } from "@flotilla/shared/kube/testing";
import { silentLog } from "@flotilla/shared/log";
import { createFakeClock, settle } from "@flotilla/shared/time/testing";
import { describe, onTestFinished, test } from "vitest";
import { Outbox } from "./outbox.ts";
import {
  changeEntries,
  entriesOf,
  type OutboxEntry,
  outboxName,
  outboxSecret,
} from "./outbox-record.ts";

const provider = "prod/chat";
const namespace = "flotilla-system";
const ref = { namespace, name: outboxName(provider) };

function entry(id: string, message = id): OutboxEntry {
  return {
    id,
    alert: "prod/on-call",
    event: {
      involvedObject: {
        apiVersion: "v1",
        kind: "HelmOp",
        name: "web",
        namespace: "prod",
        uid: "1",
      },
      ...{ severity: "info", timestamp: "2026-01-01T00:00:00Z", message, reason: "Ready" },
      ...{ reportingController: "hub", reportingInstance: "hub-0" },
    },
  };
}

const ids = (entries: readonly OutboxEntry[]) => entries.map(({ id }) => id);

describe("the record of an outbox", () => {
  const none = new Set<string>();
  const limits = { entries: 3, bytes: 10_000 };

  test("has the entries that it was made of", () => {
    const secret = outboxSecret({ namespace, provider }, [entry("a"), entry("b")]);

    assert.deepEqual(entriesOf(secret), [entry("a"), entry("b")]);
    assert.ok(!JSON.stringify(secret).includes("on-call"), "it is in base64");
  });

  for (const [what, text] of [
    ["no JSON", "{"],
    ["another form", '[{"id":1}]'],
  ] as const)
    test(`is empty where somebody has written ${what}`, () => {
      const data = { events: Buffer.from(text).toString("base64") };
      assert.deepEqual(entriesOf({ metadata: { name: "a" }, data }), []);
    });

  for (const [what, before, add, remove, kept, dropped] of [
    ["adds at the end", ["a"], ["b"], [], ["a", "b"], []],
    ["adds nothing twice", ["a"], ["a"], [], ["a"], []],
    ["removes", ["a", "b"], [], ["a"], ["b"], []],
    ["removes what is added in the same change", ["a"], ["b"], ["b"], ["a"], []],
    ["drops the oldest when it is full", ["a", "b", "c"], ["d"], [], ["b", "c", "d"], ["a"]],
    ["drops nothing when as many are removed", ["a", "b", "c"], ["d"], ["b"], ["a", "c", "d"], []],
  ] as const)
    test(what, () => {
      const change = { add: add.map((id) => entry(id)), remove: new Set<string>(remove) };
      const result = changeEntries(
        before.map((id) => entry(id)),
        change,
        limits,
      );

      assert.deepEqual(ids(result.entries), kept);
      assert.deepEqual(ids(result.dropped), dropped);
    });

  test("drops the oldest when they are too long", () => {
    const change = { add: [entry("c")], remove: none };
    const before = [entry("a", "x".repeat(6_000)), entry("b", "x".repeat(6_000))];

    assert.deepEqual(ids(changeEntries(before, change, limits).dropped), ["a"]);
  });
});

function start() {
  const rest = createMemoryApiServer();
  const clock = createFakeClock();
  const ending = new AbortController();
  const dropped: string[] = [];
  const limits = { entries: 4, bytes: 10_000 };
  const outbox = new Outbox({
    ...{ rest, namespace, limits, clock },
    log: silentLog(),
    onDropped: (_, entries) => dropped.push(...ids(entries)),
  });
  const running = outbox.run(ending.signal);
  onTestFinished(async () => {
    ending.abort();
    await running;
  });
  const stored = () => ids(entriesOf(rest.peek<Secret>(secrets, ref)));
  return { rest, clock, outbox, stored, dropped };
}

describe("an outbox", () => {
  test("has stored an entry when adding it ends", async () => {
    const { outbox, stored } = start();

    await outbox.add(provider, entry("a"));

    assert.deepEqual(stored(), ["a"]);
    assert.deepEqual(ids(outbox.entries(provider)), ["a"]);
    assert.deepEqual(outbox.providers(), [provider]);
  });

  test("stores in one write what arrives during another", async () => {
    const { outbox, rest, stored } = start();
    await outbox.add(provider, entry("first"));
    const release = rest.hold();
    const adding = ["a", "b", "c"].map((id) => outbox.add(provider, entry(id)));
    await settle();
    release();
    await Promise.all(adding);

    assert.deepEqual(stored(), ["first", "a", "b", "c"]);
    assert.equal(rest.writes.length, 2);
  });

  test("keeps what another replica has added in the meantime", async () => {
    const { outbox, rest, stored } = start();
    await outbox.add(provider, entry("a"));
    const other = outboxSecret({ namespace, provider }, [entry("a"), entry("b")]);
    rest.put(secrets, other);
    rest.failNext(conflict("changed"));

    await outbox.add(provider, entry("c"));

    assert.deepEqual(stored(), ["a", "b", "c"]);
  });

  test("removes together what is delivered within a second, and returns none of it before", async () => {
    const { outbox, rest, clock, stored } = start();
    await Promise.all(["a", "b", "c"].map((id) => outbox.add(provider, entry(id))));
    const before = rest.writes.length;

    outbox.remove(provider, "a");
    outbox.remove(provider, "b");
    assert.deepEqual(ids(outbox.entries(provider)), ["c"]);
    await clock.advance(2_000);

    assert.deepEqual(stored(), ["c"]);
    assert.equal(rest.writes.length, before + 1);
  });

  test("returns no delivered entry after a removal that was stored together with another entry", async () => {
    const { outbox, clock, stored } = start();
    await outbox.add(provider, entry("a"));
    await settle();
    outbox.remove(provider, "a");
    // Stores the removal, too, before its second is over.
    await outbox.add(provider, entry("b"));
    await clock.advance(900);
    outbox.remove(provider, "b");
    // The second of the first removal is over now, and that of the other one is not.
    await clock.advance(200);

    assert.deepEqual(ids(outbox.entries(provider)), []);
    await clock.advance(2_000);
    assert.deepEqual(stored(), []);
  });

  test("retries a write that failed, and loses nothing", async () => {
    const { outbox, rest, clock, stored } = start();
    rest.failNext(new Error("no connection"), new Error("no connection"));
    const adding = outbox.add(provider, entry("a"));
    await clock.advance(10_000);
    await adding;

    assert.deepEqual(stored(), ["a"]);
  });

  test("gives up at the end of the hub after a failure, so that nobody waits for it", async () => {
    const { outbox, rest, stored } = start();
    rest.failNext(new Error("no connection"), new Error("no connection"));
    const adding = outbox.add(provider, entry("a"));
    await settle();

    await outbox.flush();
    await adding;

    assert.deepEqual(stored(), []);
  });

  test("stores at the end of the hub what waits to be removed", async () => {
    const { outbox, stored } = start();
    await outbox.add(provider, entry("a"));
    await settle();
    outbox.remove(provider, "a");

    await outbox.flush();

    assert.deepEqual(stored(), []);
  });

  test("says what it drops when it is full", async () => {
    const { outbox, dropped } = start();
    for (const id of ["a", "b", "c", "d", "e", "f"]) await outbox.add(provider, entry(id));

    assert.deepEqual(dropped, ["a", "b"]);
  });
});
