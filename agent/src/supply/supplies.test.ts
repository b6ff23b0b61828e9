import assert from "node:assert/strict";
import type { Supply } from "@flotilla/proto/messages.ts";
import { secrets } from "@flotilla/shared/kube/objects/core-resources.ts";
import { createMemoryApiServer } from "@flotilla/shared/kube/testing/memory-api-server.ts";
import { silentLog } from "@flotilla/shared/log/log.ts";
import { packSupply, type SupplyObject, supplyKey } from "@flotilla/shared/supply/supply.ts";
import { describe, test } from "vitest";
import { createOwnSecrets } from "../storage/own-secrets.ts";
import { createSupplies } from "./supplies.ts";

const ref = { kind: "Secret", name: "source" } as const;
const first: SupplyObject = { type: "Opaque", data: { password: "b25l" } };
const second: SupplyObject = { type: "Opaque", data: { password: "dHdv" } };
const gone: Supply = ref;

async function sent(object: SupplyObject, of: Pick<Supply, "kind" | "name"> = ref) {
  const { digest, bytes } = await packSupply(object);
  return { ...of, packed: { digest, content: bytes } };
}

function setUp(rest = createMemoryApiServer()) {
  const supplies = createSupplies({ own: createOwnSecrets(rest), log: silentLog() });
  const changes: string[] = [];
  supplies.onChange((changed) => changes.push(supplyKey(changed)));
  return { rest, supplies, changes };
}

describe("what the hub supplied", () => {
  test("is known, told, and there again after a restart", async () => {
    const { rest, supplies, changes } = setUp();
    const supply = await sent(first);
    assert.equal(supplies.get(ref), undefined);

    assert.equal(await supplies.take(supply), true);

    assert.deepEqual(supplies.get(ref), { object: first, digest: supply.packed.digest });
    assert.deepEqual(changes, ["Secret/source"]);
    const { supplies: later } = setUp(rest);
    await later.load();
    assert.deepEqual(later.get(ref), supplies.get(ref));
    assert.deepEqual(later.held(), [{ ...ref, digest: supply.packed.digest }]);
  });

  test("is not written once more when it is delivered once more", async () => {
    const { rest, supplies, changes } = setUp();
    await supplies.take(await sent(first));

    assert.equal(await supplies.take(await sent(first)), true);

    assert.deepEqual(rest.writes, ["create secrets flotilla-agent/supply-secret-source"]);
    assert.deepEqual(changes, ["Secret/source"]);
  });

  test("is replaced by what comes later, also after a restart", async () => {
    const { rest, supplies } = setUp();
    await supplies.take(await sent(first));
    const { supplies: later, changes } = setUp(rest);
    await later.load();

    await later.take(await sent(second));

    assert.deepEqual(later.get(ref)?.object, second);
    assert.deepEqual(changes, ["Secret/source"]);
    assert.deepEqual(rest.writes, [
      "create secrets flotilla-agent/supply-secret-source",
      "replace secrets flotilla-agent/supply-secret-source",
    ]);
  });

  test("is told apart by kind and by name", async () => {
    const { supplies } = setUp();
    const configMap = { kind: "ConfigMap", name: "source" } as const;

    await supplies.take(await sent(first));
    await supplies.take(await sent({ data: { a: "b" } }, configMap));

    assert.deepEqual(supplies.get(ref)?.object, first);
    assert.deepEqual(supplies.get(configMap)?.object, { data: { a: "b" } });
  });

  test("is used where it could not be stored, and asked for again", async () => {
    const { rest, supplies } = setUp();
    rest.beforeWrite = () => {
      throw new Error("403");
    };

    assert.equal(await supplies.take(await sent(first)), false);
    assert.deepEqual(supplies.get(ref)?.object, first);
    assert.deepEqual(supplies.held(), [ref]);

    rest.beforeWrite = () => undefined;
    assert.equal(await supplies.take(await sent(first)), true);
    assert.equal(supplies.held()[0]?.digest, supplies.get(ref)?.digest);
  });

  test("is refused when it is not what its digest says, and what was held stays", async () => {
    const { supplies } = setUp();
    await supplies.take(await sent(first));
    const { packed } = await sent(second);

    await assert.rejects(supplies.take({ ...ref, packed: { ...packed, digest: "sha256:0" } }), {
      code: "SUPPLY_INVALID",
    });

    assert.deepEqual(supplies.get(ref)?.object, first);
  });

  test("is kept, in the cluster too, where it comes anew while it is being deleted", async () => {
    const { rest, supplies } = setUp();
    await supplies.take(await sent(first));
    const again = await sent(first);

    const dropping = supplies.drop(ref);
    const taking = supplies.take(again);

    assert.deepEqual(await Promise.all([dropping, taking]), [undefined, true]);
    assert.deepEqual(supplies.get(ref)?.object, first);
    const { supplies: later } = setUp(rest);
    await later.load();
    assert.deepEqual(later.get(ref)?.object, first);
  });

  test("is sent again where what is stored of it cannot be read", async () => {
    const { rest, supplies } = setUp();
    await supplies.take(await sent(first));
    const secret = await rest.get(secrets, {
      namespace: "flotilla-agent",
      name: "supply-secret-source",
    });
    assert.ok(secret !== undefined);
    rest.put(secrets, { ...secret, data: { content: "bm9uc2Vuc2U=" } });
    const { supplies: later } = setUp(rest);

    await later.load();
    assert.deepEqual(later.held(), []);
    assert.equal(await later.take(await sent(second)), true);

    assert.deepEqual(later.get(ref)?.object, second);
  });
});

describe("what the hub does not have", () => {
  test("is known as such, also after a restart", async () => {
    const { rest, supplies, changes } = setUp();

    assert.equal(await supplies.take(gone), true);

    assert.deepEqual(supplies.get(ref), {});
    assert.deepEqual(changes, ["Secret/source"]);
    const { supplies: later } = setUp(rest);
    await later.load();
    assert.deepEqual(later.get(ref), {});
    assert.deepEqual(later.held(), [ref]);
  });

  test("but had before stays as it was, without a digest, also after a restart", async () => {
    const { rest, supplies } = setUp();
    await supplies.take(await sent(first));

    await supplies.take(gone);

    assert.deepEqual(supplies.get(ref), { object: first });
    const { supplies: later } = setUp(rest);
    await later.load();
    assert.deepEqual(later.get(ref), { object: first });
    assert.deepEqual(later.held(), [ref]);
  });

  test("is taken when it is there again, be it the same as before", async () => {
    const { supplies, changes } = setUp();
    await supplies.take(await sent(first));
    await supplies.take(gone);

    await supplies.take(await sent(first));

    assert.notEqual(supplies.get(ref)?.digest, undefined);
    assert.deepEqual(changes, ["Secret/source", "Secret/source", "Secret/source"]);
  });
});

describe("a withdrawn supply", () => {
  test("leaves the cluster", async () => {
    const { rest, supplies } = setUp();
    await supplies.take(await sent(first));

    await supplies.drop(ref);

    assert.equal(supplies.get(ref), undefined);
    assert.deepEqual(supplies.held(), []);
    const { supplies: later } = setUp(rest);
    await later.load();
    assert.equal(later.get(ref), undefined);
  });

  test("that was never heard of costs nothing", async () => {
    const { rest, supplies } = setUp();

    await supplies.drop(ref);

    assert.deepEqual(rest.writes, []);
  });

  test("is still held where it could not be deleted, so that it is withdrawn again", async () => {
    const { rest, supplies } = setUp();
    await supplies.take(await sent(first));
    rest.beforeWrite = () => {
      throw new Error("403");
    };

    await supplies.drop(ref);

    assert.equal(supplies.held().length, 1);
  });
});
