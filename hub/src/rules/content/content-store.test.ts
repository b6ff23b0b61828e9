import assert from "node:assert/strict";
import type { PackedContent } from "@flotilla/shared/content";
import { createStore } from "@flotilla/shared/kube/cache";
import { type Secret, secrets } from "@flotilla/shared/kube/objects";
import { createMemoryApiServer, serverError } from "@flotilla/shared/kube/testing";
import { createFakeClock } from "@flotilla/shared/time/testing";
import { describe, test } from "vitest";
import { digestA, digestB } from "../../testing/index.ts";
import { contentSecretName } from "./content-secret.ts";
import { createContentStore } from "./content-store.ts";

const namespace = "flotilla-system";

function start() {
  const kube = createMemoryApiServer();
  const clock = createFakeClock();
  const stored = createStore<Secret>({ transform: ({ data: _, ...secret }) => secret });
  const contents = createContentStore({ rest: kube, stored, namespace, clock });
  return { kube, clock, stored, contents };
}

const small: PackedContent = { deploymentId: digestA, bytes: Buffer.from("small") };
const large: PackedContent = { deploymentId: digestB, bytes: Buffer.alloc(2_000_000, "large ") };

function created(digest: string, ...parts: readonly number[]): string[] {
  return parts.map((part) => `create secrets ${namespace}/${contentSecretName(digest, part)}`);
}

describe("the contents on the hub", () => {
  test("are stored once, also for concurrent and repeated requests", async () => {
    const { kube, contents } = start();

    await Promise.all([contents.ensure(small), contents.ensure(small)]);
    await contents.ensure(small);

    assert.deepEqual(kube.writes, created(digestA, 0));
  });

  test("are stored from the last part to the first, so that the first implies all", async () => {
    const { kube, contents } = start();

    await contents.ensure(large);

    assert.deepEqual(kube.writes, created(digestB, 2, 1, 0));
  });

  test("count as stored when another leader created them first", async () => {
    const { kube, contents } = start();
    await contents.ensure(small);
    const other = createContentStore({
      rest: kube,
      stored: createStore<Secret>(),
      namespace,
      clock: createFakeClock(),
    });

    await other.ensure(small);

    assert.equal(kube.writes.length, 2);
  });

  test("are stored again when one of their parts was collected", async () => {
    const { kube, stored, contents } = start();
    await contents.ensure(large);
    const missingPart = { namespace, name: contentSecretName(digestB, 1) };
    const secret = kube.peek(secrets, missingPart);
    assert.ok(secret !== undefined);
    await kube.delete(secrets, missingPart);
    stored.remove(secret);

    await contents.ensure(large);

    assert.ok(kube.peek(secrets, missingPart) !== undefined);
  });

  test("do not count as stored when the write fails, and are written by the next attempt", async () => {
    const { kube, contents } = start();
    kube.failNext(serverError());

    await assert.rejects(contents.ensure(small), { code: "KUBE_SERVER" });
    await contents.ensure(small);

    assert.deepEqual(kube.writes, created(digestA, 0, 0));
  });

  test("are read from all their parts by a replica that did not store them", async () => {
    const { kube, contents } = start();
    await contents.ensure(large);
    const reader = createContentStore({
      rest: kube,
      stored: createStore<Secret>(),
      namespace,
      clock: createFakeClock(),
    });

    const read = await reader.read(digestB);

    assert.ok(Buffer.from(read).equals(large.bytes));
  });

  test("are read once for concurrent readers", async () => {
    const { kube, contents } = start();
    await contents.ensure(small);
    const reader = createContentStore({
      rest: kube,
      stored: createStore<Secret>(),
      namespace,
      clock: createFakeClock(),
    });

    await Promise.all([reader.read(digestA), reader.read(digestA)]);
    await reader.read(digestA);

    assert.deepEqual(kube.reads, [`secrets ${namespace}/${contentSecretName(digestA)}`]);
  });

  test("that do not exist are reported with the missing Secret", async () => {
    const { contents } = start();

    await assert.rejects(contents.read(digestA), {
      code: "CONTENT_MISSING",
      message: `content ${digestA} cannot be delivered: there is no Secret ${namespace}/content-${"a".repeat(64)}`,
    });
  });

  test("with a missing part are reported", async () => {
    const { kube, contents } = start();
    await contents.ensure(large);
    await kube.delete(secrets, { namespace, name: contentSecretName(digestB, 2) });
    contents.forget(digestB);

    await assert.rejects(contents.read(digestB), { code: "CONTENT_MISSING" });
  });

  test("have a time of last use until they are forgotten", async () => {
    const { clock, contents } = start();
    assert.equal(contents.lastUsed(digestA), undefined);
    await contents.ensure(small);
    await clock.advance(1_000);

    await contents.read(digestA);

    assert.equal(contents.lastUsed(digestA), 1_000);
    contents.forget(digestA);
    assert.equal(contents.lastUsed(digestA), undefined);
  });
});
