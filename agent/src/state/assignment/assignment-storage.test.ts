import assert from "node:assert/strict";
import { agentNamespace } from "@flotilla/shared/api/names";
import { partBytes } from "@flotilla/shared/content";
import { secrets } from "@flotilla/shared/kube/objects";
import { createMemoryApiServer } from "@flotilla/shared/kube/testing";
import { silentLog } from "@flotilla/shared/log";
import { describe, test } from "vitest";
import type { Assignment } from "./assignment-secret.ts";
import { createAssignmentStorage } from "./assignment-storage.ts";

function setUp(rest = createMemoryApiServer()) {
  const storage = createAssignmentStorage({ rest, log: silentLog() });
  const names = async (): Promise<readonly string[]> =>
    (await rest.list(secrets)).items.map(({ metadata }) => metadata.name).sort();
  return { rest, storage, names };
}

function assignmentOf(sizeBytes: number, fields: Partial<Assignment> = {}): Assignment {
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
    test(`with a content of ${sizeBytes} bytes is stored in ${count} Secrets and read back`, async () => {
      const { rest, storage, names } = setUp();
      const assignment = assignmentOf(sizeBytes);

      await storage.store(assignment);

      assert.equal((await names()).length, count);
      assert.deepEqual(await setUp(rest).storage.load(), [assignment]);
      assert.equal(
        rest.writes.at(-1),
        "create secrets flotilla-agent/assignment-web",
        "the first Secret is written last",
      );
    });
  }

  test("writes its content once, even if other fields change", async () => {
    const { rest, storage } = setUp();
    const assignment = assignmentOf(partBytes + 1);
    await storage.store(assignment);
    const before = rest.writes.length;

    await storage.store({ ...assignment, paused: true });

    assert.deepEqual(rest.writes.slice(before), ["replace secrets flotilla-agent/assignment-web"]);
    assert.deepEqual(await setUp(rest).storage.load(), [{ ...assignment, paused: true }]);
  });

  test("has no parts of the previous content", async () => {
    const { rest, storage, names } = setUp();
    await storage.store(assignmentOf(3 * partBytes));

    await storage.store(assignmentOf(2 * partBytes));
    assert.equal((await names()).length, 2);
    await storage.store(assignmentOf(10));

    assert.deepEqual(await names(), ["assignment-web"]);
    assert.deepEqual(await setUp(rest).storage.load(), [assignmentOf(10)]);
  });

  test("does not share parts between deployments", async () => {
    const { rest, storage, names } = setUp();
    const [web, shop] = [
      assignmentOf(partBytes + 1),
      assignmentOf(partBytes + 1, { owner: { name: "shop", uid: "v" } }),
    ];
    await storage.store(web);
    await storage.store(shop);

    await storage.remove("web");

    assert.equal((await names()).length, 2);
    assert.deepEqual(await setUp(rest).storage.load(), [shop]);
  });

  test("keeps its previous content if the write of a new one is interrupted", async () => {
    const { rest, storage } = setUp();
    await storage.store(assignmentOf(partBytes + 1));
    rest.beforeWrite = (write) => {
      if (write.startsWith("replace ")) throw new Error("killed");
    };

    await assert.rejects(storage.store(assignmentOf(partBytes + 2)), /killed/);

    rest.beforeWrite = () => undefined;
    const { storage: next, names } = setUp(rest);
    assert.deepEqual(await next.load(), [assignmentOf(partBytes + 1)]);
    assert.equal((await names()).length, 2, "the parts of the interrupted write are deleted");
  });

  test("with a missing part is ignored, and can be stored again", async () => {
    const { rest, storage, names } = setUp();
    const assignment = assignmentOf(2 * partBytes + 1);
    await storage.store(assignment);
    const [missing = ""] = (await names()).filter((name) => name.startsWith("content-"));
    await rest.delete(secrets, { namespace: agentNamespace, name: missing });

    const { storage: next } = setUp(rest);
    assert.deepEqual(await next.load(), []);
    assert.equal((await names()).length, 2);

    await next.store(assignment);
    assert.deepEqual(await setUp(rest).storage.load(), [assignment]);
  });

  test("is stored even if an old part cannot be deleted", async () => {
    const { rest, storage, names } = setUp();
    await storage.store(assignmentOf(partBytes + 1));
    rest.beforeWrite = (write) => {
      if (write.startsWith("delete ")) throw new Error("failure");
    };

    await storage.store(assignmentOf(10));

    assert.equal((await names()).length, 2);
    rest.beforeWrite = () => undefined;
    const { storage: next } = setUp(rest);
    assert.deepEqual(await next.load(), [assignmentOf(10)]);
    assert.deepEqual(await names(), ["assignment-web"]);
  });
});
