import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import type { ReferencedObject } from "@flotilla/proto";
import { formatObjectRef } from "@flotilla/shared/api";
import { secrets } from "@flotilla/shared/kube/objects";
import { createMemoryApiServer } from "@flotilla/shared/kube/testing";
import { silentLog } from "@flotilla/shared/log";
import { packReferencedObject, type ReferencedObjectData } from "@flotilla/shared/referenced";
import { describe, test } from "vitest";
import { createSecretStorage } from "../../base/storage/secret-storage.ts";
import { createReferencedObjects } from "./referenced-objects.ts";

const ref = { kind: "Secret", name: "source" } as const;
const first: ReferencedObjectData = { type: "Opaque", data: { password: "b25l" } };
const second: ReferencedObjectData = { type: "Opaque", data: { password: "dHdv" } };
const missing: ReferencedObject = ref;

async function sent(
  object: ReferencedObjectData,
  of: Pick<ReferencedObject, "kind" | "name"> = ref,
) {
  const { digest, bytes } = await packReferencedObject(object);
  return { ...of, packed: { digest, content: bytes } };
}

function setUp(rest = createMemoryApiServer()) {
  const referenced = createReferencedObjects({
    secrets: createSecretStorage(rest),
    log: silentLog(),
  });
  const changes: string[] = [];
  referenced.onChange((changed) => changes.push(formatObjectRef(changed)));
  return { rest, referenced, changes };
}

describe("a referenced object", () => {
  test("is used, reported, and loaded after a restart", async () => {
    const { rest, referenced, changes } = setUp();
    const object = await sent(first);
    assert.equal(referenced.get(ref), undefined);

    assert.equal(await referenced.set(object), true);

    assert.deepEqual(referenced.get(ref), { object: first, digest: object.packed.digest });
    assert.deepEqual(changes, ["Secret/source"]);
    const { referenced: restarted } = setUp(rest);
    await restarted.load();
    assert.deepEqual(restarted.get(ref), referenced.get(ref));
    assert.deepEqual(restarted.observed(), [{ ...ref, digest: object.packed.digest }]);
  });

  test("is not written again when it is delivered again", async () => {
    const { rest, referenced, changes } = setUp();
    await referenced.set(await sent(first));

    assert.equal(await referenced.set(await sent(first)), true);

    assert.deepEqual(rest.writes, ["create secrets flotilla-agent/referenced-secret-source"]);
    assert.deepEqual(changes, ["Secret/source"]);
  });

  test("that does not fit into a Secret is continued in others, which go with it", async () => {
    const { rest, referenced } = setUp();
    const large = (bytes: number): ReferencedObjectData => ({
      data: { value: randomBytes(bytes).toString("base64") },
    });
    const object = large(1_000_000);
    assert.equal(await referenced.set(await sent(object)), true);
    const stored = await rest.list(secrets, { namespace: "flotilla-agent" });
    assert.equal(stored.items.length, 2);
    for (const { data = {} } of stored.items)
      assert.ok(Buffer.from(data["content"] ?? "", "base64").length <= 900 * 1024);

    const { referenced: restarted } = setUp(rest);
    await restarted.load();
    assert.deepEqual(restarted.get(ref), referenced.get(ref));

    const later = large(1_000_001);
    await restarted.set(await sent(later));
    assert.equal((await rest.list(secrets, { namespace: "flotilla-agent" })).items.length, 2);
    const { referenced: again } = setUp(rest);
    await again.load();
    assert.deepEqual(again.get(ref)?.object, later);
    await restarted.remove(ref);
    assert.deepEqual((await rest.list(secrets, { namespace: "flotilla-agent" })).items, []);
  });

  test("is sent again if one of its Secrets is missing", async () => {
    const { rest, referenced } = setUp();
    await referenced.set(
      await sent({ data: { value: randomBytes(1_000_000).toString("base64") } }),
    );
    const stored = await rest.list(secrets, { namespace: "flotilla-agent" });
    const part = stored.items.find(({ metadata }) => metadata.name.startsWith("referenced-part-"));
    await rest.delete(secrets, { namespace: "flotilla-agent", name: part?.metadata.name ?? "" });

    const { referenced: restarted } = setUp(rest);
    await restarted.load();

    assert.deepEqual(restarted.observed(), [ref]);
  });

  test("is replaced by a later version, also after a restart", async () => {
    const { rest, referenced } = setUp();
    await referenced.set(await sent(first));
    const { referenced: restarted, changes } = setUp(rest);
    await restarted.load();

    await restarted.set(await sent(second));

    assert.deepEqual(restarted.get(ref)?.object, second);
    assert.deepEqual(changes, ["Secret/source"]);
    assert.deepEqual(rest.writes, [
      "create secrets flotilla-agent/referenced-secret-source",
      "replace secrets flotilla-agent/referenced-secret-source",
    ]);
  });

  test("is identified by its kind and name", async () => {
    const { referenced } = setUp();
    const configMap = { kind: "ConfigMap", name: "source" } as const;

    await referenced.set(await sent(first));
    await referenced.set(await sent({ data: { a: "b" } }, configMap));

    assert.deepEqual(referenced.get(ref)?.object, first);
    assert.deepEqual(referenced.get(configMap)?.object, { data: { a: "b" } });
  });

  test("is used even if it cannot be stored, and requested again", async () => {
    const { rest, referenced } = setUp();
    rest.beforeWrite = () => {
      throw new Error("403");
    };

    assert.equal(await referenced.set(await sent(first)), false);
    assert.deepEqual(referenced.get(ref)?.object, first);
    assert.deepEqual(referenced.observed(), [ref]);

    rest.beforeWrite = () => undefined;
    assert.equal(await referenced.set(await sent(first)), true);
    assert.equal(referenced.observed()[0]?.digest, referenced.get(ref)?.digest);
  });

  test("is rejected if it does not match its digest, and the previous version stays", async () => {
    const { referenced } = setUp();
    await referenced.set(await sent(first));
    const { packed } = await sent(second);

    await assert.rejects(referenced.set({ ...ref, packed: { ...packed, digest: "sha256:0" } }), {
      code: "REFERENCED_OBJECT_INVALID",
    });

    assert.deepEqual(referenced.get(ref)?.object, first);
  });

  test("is kept in memory and in the cluster if it is sent again while it is being deleted", async () => {
    const { rest, referenced } = setUp();
    await referenced.set(await sent(first));
    const sentAgain = await sent(first);

    const removing = referenced.remove(ref);
    const setting = referenced.set(sentAgain);

    assert.deepEqual(await Promise.all([removing, setting]), [undefined, true]);
    assert.deepEqual(referenced.get(ref)?.object, first);
    const { referenced: restarted } = setUp(rest);
    await restarted.load();
    assert.deepEqual(restarted.get(ref)?.object, first);
  });

  test("is requested again if the stored one cannot be read", async () => {
    const { rest, referenced } = setUp();
    await referenced.set(await sent(first));
    const secret = await rest.get(secrets, {
      namespace: "flotilla-agent",
      name: "referenced-secret-source",
    });
    assert.ok(secret !== undefined);
    rest.put(secrets, { ...secret, data: { content: "bm9uc2Vuc2U=" } });
    const { referenced: restarted } = setUp(rest);

    await restarted.load();
    assert.deepEqual(restarted.observed(), []);
    assert.equal(await restarted.set(await sent(second)), true);

    assert.deepEqual(restarted.get(ref)?.object, second);
  });
});

describe("an object that the hub does not have", () => {
  test("is recorded as missing, also after a restart", async () => {
    const { rest, referenced, changes } = setUp();

    assert.equal(await referenced.set(missing), true);

    assert.deepEqual(referenced.get(ref), {});
    assert.deepEqual(changes, ["Secret/source"]);
    const { referenced: restarted } = setUp(rest);
    await restarted.load();
    assert.deepEqual(restarted.get(ref), {});
    assert.deepEqual(restarted.observed(), [ref]);
  });

  test("keeps its last version without a digest, also after a restart", async () => {
    const { rest, referenced } = setUp();
    await referenced.set(await sent(first));

    await referenced.set(missing);

    assert.deepEqual(referenced.get(ref), { object: first });
    const { referenced: restarted } = setUp(rest);
    await restarted.load();
    assert.deepEqual(restarted.get(ref), { object: first });
    assert.deepEqual(restarted.observed(), [ref]);
  });

  test("is used when it exists again, even if it has not changed", async () => {
    const { referenced, changes } = setUp();
    await referenced.set(await sent(first));
    await referenced.set(missing);

    await referenced.set(await sent(first));

    assert.notEqual(referenced.get(ref)?.digest, undefined);
    assert.deepEqual(changes, ["Secret/source", "Secret/source", "Secret/source"]);
  });
});

describe("a withdrawn object", () => {
  test("is deleted from the cluster", async () => {
    const { rest, referenced } = setUp();
    await referenced.set(await sent(first));

    await referenced.remove(ref);

    assert.equal(referenced.get(ref), undefined);
    assert.deepEqual(referenced.observed(), []);
    const { referenced: restarted } = setUp(rest);
    await restarted.load();
    assert.equal(restarted.get(ref), undefined);
  });

  test("causes no request if it is unknown", async () => {
    const { rest, referenced } = setUp();

    await referenced.remove(ref);

    assert.deepEqual(rest.writes, []);
  });

  test("stays stored if it cannot be deleted, so that the hub withdraws it again", async () => {
    const { rest, referenced } = setUp();
    await referenced.set(await sent(first));
    rest.beforeWrite = () => {
      throw new Error("403");
    };

    await referenced.remove(ref);

    assert.equal(referenced.observed().length, 1);
  });
});
