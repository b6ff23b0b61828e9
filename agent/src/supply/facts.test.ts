import assert from "node:assert/strict";
import { createMemoryApiServer } from "@flotilla/shared/kube/testing/memory-api-server.ts";
import { silentLog } from "@flotilla/shared/log/log.ts";
import { type ClusterFacts, packFacts } from "@flotilla/shared/supply/cluster-facts.ts";
import { describe, test } from "vitest";
import { createOwnSecrets } from "../storage/own-secrets.ts";
import { createFacts } from "./facts.ts";

const paris: ClusterFacts = {
  namespace: "fleet-default",
  name: "paris",
  labels: { region: "eu" },
  annotations: {},
  templateValues: { size: 3 },
};
const packed = await packFacts(paris);

function setUp(rest = createMemoryApiServer()) {
  const facts = createFacts({ own: createOwnSecrets(rest), log: silentLog() });
  let changes = 0;
  facts.onChange(() => {
    changes += 1;
  });
  return { rest, facts, changes: () => changes };
}

describe("what the hub says that a cluster is", () => {
  test("is known, told, and there again after a restart", async () => {
    const { rest, facts, changes } = setUp();
    assert.deepEqual([facts.get(), facts.digest], [undefined, undefined]);

    assert.equal(await facts.take(packed), true);

    assert.deepEqual(facts.get(), paris);
    assert.equal(changes(), 1);
    const { facts: later } = setUp(rest);
    await later.load();
    assert.deepEqual(later.get(), paris);
    assert.equal(later.digest, packed.digest);
  });

  test("is neither written nor told once more when it is delivered once more", async () => {
    const { rest, facts, changes } = setUp();
    await facts.take(packed);

    await facts.take(packed);

    assert.deepEqual(rest.writes, ["create secrets flotilla-agent/cluster-facts"]);
    assert.equal(changes(), 1);
  });

  test("is known where it could not be stored, and asked for again", async () => {
    const { rest, facts } = setUp();
    rest.beforeWrite = () => {
      throw new Error("403");
    };

    assert.equal(await facts.take(packed), false);

    assert.deepEqual(facts.get(), paris);
    assert.equal(facts.digest, undefined);
    rest.beforeWrite = () => undefined;
    assert.equal(await facts.take(packed), true);
    assert.equal(facts.digest, packed.digest);
  });

  test("stays what it was when something else comes than its digest says", async () => {
    const { facts } = setUp();
    await facts.take(packed);
    const other = await packFacts({ ...paris, name: "rome" });

    await assert.rejects(facts.take({ ...other, digest: "sha256:0" }), { code: "SUPPLY_INVALID" });

    assert.deepEqual(facts.get(), paris);
  });
});
