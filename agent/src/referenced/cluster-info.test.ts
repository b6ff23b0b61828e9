import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { silentLog } from "@flotilla/shared/log/log.ts";
import { type ClusterFacts, packFacts } from "@flotilla/shared/supply/cluster-facts.ts";
import { createSecretStorage } from "../storage/secret-storage.ts";
import { createMemoryRest } from "../testing/memory-rest.ts";
import { createClusterInfoStore } from "./cluster-info.ts";

const paris: ClusterFacts = {
  namespace: "fleet-default",
  name: "paris",
  labels: { region: "eu" },
  annotations: {},
  templateValues: { size: 3 },
};
const packed = await packFacts(paris);

function setUp(rest = createMemoryRest()) {
  const facts = createClusterInfoStore({ secrets: createSecretStorage(rest), log: silentLog() });
  let changes = 0;
  facts.onChange(() => {
    changes += 1;
  });
  return { rest, facts, changes: () => changes };
}

suite("what the hub says that a cluster is", () => {
  test("is known, told, and there again after a restart", async () => {
    const { rest, facts, changes } = setUp();
    assert.deepEqual([facts.get(), facts.digest], [undefined, undefined]);

    assert.equal(await facts.set(packed), true);

    assert.deepEqual(facts.get(), paris);
    assert.equal(changes(), 1);
    const { facts: later } = setUp(rest);
    await later.load();
    assert.deepEqual(later.get(), paris);
    assert.equal(later.digest, packed.digest);
  });

  test("is neither written nor told once more when it is delivered once more", async () => {
    const { rest, facts, changes } = setUp();
    await facts.set(packed);

    await facts.set(packed);

    assert.deepEqual(rest.writes, ["create cluster-info"]);
    assert.equal(changes(), 1);
  });

  test("is known where it could not be stored, and asked for again", async () => {
    const { rest, facts } = setUp();
    rest.beforeWrite = () => {
      throw new Error("403");
    };

    assert.equal(await facts.set(packed), false);

    assert.deepEqual(facts.get(), paris);
    assert.equal(facts.digest, undefined);
    rest.beforeWrite = () => undefined;
    assert.equal(await facts.set(packed), true);
    assert.equal(facts.digest, packed.digest);
  });

  test("stays what it was when something else comes than its digest says", async () => {
    const { facts } = setUp();
    await facts.set(packed);
    const other = await packFacts({ ...paris, name: "rome" });

    await assert.rejects(facts.set({ ...other, digest: "sha256:0" }), { code: "SUPPLY_INVALID" });

    assert.deepEqual(facts.get(), paris);
  });
});
