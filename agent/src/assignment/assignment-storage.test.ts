import assert from "node:assert/strict";
import { agentNamespace } from "@flotilla/shared/api/names.ts";
import { partBytes } from "@flotilla/shared/content/content-parts.ts";
import { secrets } from "@flotilla/shared/kube/objects/core-resources.ts";
import { createMemoryApiServer } from "@flotilla/shared/kube/testing/memory-api-server.ts";
import { silentLog } from "@flotilla/shared/log/log.ts";
import { describe, test } from "vitest";
import type { HeldAssignment } from "./assignment-secret.ts";
import { createAssignmentStorage } from "./assignment-storage.ts";

function setUp(rest = createMemoryApiServer()) {
  const storage = createAssignmentStorage({ rest, log: silentLog() });
  const names = async (): Promise<readonly string[]> =>
    (await rest.list(secrets)).items.map(({ metadata }) => metadata.name).sort();
  return { rest, storage, names };
}

function heldOf(sizeBytes: number, fields: Partial<HeldAssignment> = {}): HeldAssignment {
  return {
    owner: { name: "web", uid: "u" },
    deploymentId: `sha256:${sizeBytes}`,
    content: Buffer.from(Uint8Array.from({ length: sizeBytes }, (_, index) => index % 251)),
    paused: false,
    withdrawing: false,
    ...fields,
  };
}

describe("a stored assignment", () => {
  for (const [sizeBytes, count] of [
    [0, 1],
    [partBytes, 1],
    [partBytes + 1, 2],
    [2 * partBytes + 7, 3],
  ] as const) {
    test(`with a content of ${sizeBytes} bytes lies in ${count} Secrets and is there again`, async () => {
      const { rest, storage, names } = setUp();
      const held = heldOf(sizeBytes);

      await storage.store(held);

      assert.equal((await names()).length, count);
      assert.deepEqual(await setUp(rest).storage.load(), [held]);
      assert.equal(
        rest.writes.at(-1),
        "create secrets flotilla-agent/assignment-web",
        "the first one means all",
      );
    });
  }

  test("writes its parts once, however often the rest of it changes", async () => {
    const { rest, storage } = setUp();
    const held = heldOf(partBytes + 1);
    await storage.store(held);
    const before = rest.writes.length;

    await storage.store({ ...held, paused: true });

    assert.deepEqual(rest.writes.slice(before), ["replace secrets flotilla-agent/assignment-web"]);
    assert.deepEqual(await setUp(rest).storage.load(), [{ ...held, paused: true }]);
  });

  test("leaves no part of an earlier content", async () => {
    const { rest, storage, names } = setUp();
    await storage.store(heldOf(3 * partBytes));

    await storage.store(heldOf(2 * partBytes));
    assert.equal((await names()).length, 2);
    await storage.store(heldOf(10));

    assert.deepEqual(await names(), ["assignment-web"]);
    assert.deepEqual(await setUp(rest).storage.load(), [heldOf(10)]);
  });

  test("keeps apart what two deployments have in common", async () => {
    const { rest, storage, names } = setUp();
    const [web, shop] = [
      heldOf(partBytes + 1),
      heldOf(partBytes + 1, { owner: { name: "shop", uid: "v" } }),
    ];
    await storage.store(web);
    await storage.store(shop);

    await storage.remove("web");

    assert.equal((await names()).length, 2);
    assert.deepEqual(await setUp(rest).storage.load(), [shop]);
  });

  test("is the earlier one as long as the new one is not complete", async () => {
    const { rest, storage } = setUp();
    await storage.store(heldOf(partBytes + 1));
    rest.beforeWrite = (write) => {
      if (write.startsWith("replace ")) throw new Error("killed");
    };

    await assert.rejects(storage.store(heldOf(partBytes + 2)), /killed/);

    rest.beforeWrite = () => undefined;
    const { storage: next, names } = setUp(rest);
    assert.deepEqual(await next.load(), [heldOf(partBytes + 1)]);
    assert.equal((await names()).length, 2, "what the killed one left is swept");
  });

  test("of which a part is missing is left alone, and stored anew", async () => {
    const { rest, storage, names } = setUp();
    const held = heldOf(2 * partBytes + 1);
    await storage.store(held);
    const [lost = ""] = (await names()).filter((name) => name.startsWith("content-"));
    await rest.delete(secrets, { namespace: agentNamespace, name: lost });

    const { storage: next } = setUp(rest);
    assert.deepEqual(await next.load(), []);
    assert.equal((await names()).length, 2);

    await next.store(held);
    assert.deepEqual(await setUp(rest).storage.load(), [held]);
  });

  test("is stored though an old part of it cannot be swept", async () => {
    const { rest, storage, names } = setUp();
    await storage.store(heldOf(partBytes + 1));
    rest.beforeWrite = (write) => {
      if (write.startsWith("delete ")) throw new Error("told to fail");
    };

    await storage.store(heldOf(10));

    assert.equal((await names()).length, 2);
    rest.beforeWrite = () => undefined;
    const { storage: next } = setUp(rest);
    assert.deepEqual(await next.load(), [heldOf(10)]);
    assert.deepEqual(await names(), ["assignment-web"]);
  });
});
