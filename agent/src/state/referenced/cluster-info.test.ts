import assert from "node:assert/strict";
import { createMemoryApiServer } from "@flotilla/shared/kube/testing";
import { silentLog } from "@flotilla/shared/log";
import { type ClusterInfo, packClusterInfo } from "@flotilla/shared/referenced";
import { describe, test } from "vitest";
import { createSecretStorage } from "../../base/storage/secret-storage.ts";
import { createClusterInfoStore } from "./cluster-info.ts";

const paris: ClusterInfo = {
  namespace: "fleet-default",
  name: "paris",
  labels: { region: "eu" },
  annotations: {},
  templateValues: { size: 3 },
};
const packed = await packClusterInfo(paris);

function setUp(rest = createMemoryApiServer()) {
  const info = createClusterInfoStore({ secrets: createSecretStorage(rest), log: silentLog() });
  let changes = 0;
  info.onChange(() => {
    changes += 1;
  });
  return { rest, info, changes: () => changes };
}

describe("the cluster info", () => {
  test("is used, reported, and loaded after a restart", async () => {
    const { rest, info, changes } = setUp();
    assert.deepEqual([info.get(), info.digest], [undefined, undefined]);

    assert.equal(await info.set(packed), true);

    assert.deepEqual(info.get(), paris);
    assert.equal(changes(), 1);
    const { info: restarted } = setUp(rest);
    await restarted.load();
    assert.deepEqual(restarted.get(), paris);
    assert.equal(restarted.digest, packed.digest);
  });

  test("is neither written nor reported again when it is delivered again", async () => {
    const { rest, info, changes } = setUp();
    await info.set(packed);

    await info.set(packed);

    assert.deepEqual(rest.writes, ["create secrets flotilla-agent/cluster-info"]);
    assert.equal(changes(), 1);
  });

  test("is used even if it cannot be stored, and requested again", async () => {
    const { rest, info } = setUp();
    rest.beforeWrite = () => {
      throw new Error("403");
    };

    assert.equal(await info.set(packed), false);

    assert.deepEqual(info.get(), paris);
    assert.equal(info.digest, undefined);
    rest.beforeWrite = () => undefined;
    assert.equal(await info.set(packed), true);
    assert.equal(info.digest, packed.digest);
  });

  test("is rejected if it does not match its digest, and the previous one stays", async () => {
    const { info } = setUp();
    await info.set(packed);
    const other = await packClusterInfo({ ...paris, name: "rome" });

    await assert.rejects(info.set({ ...other, digest: "sha256:0" }), {
      code: "REFERENCED_OBJECT_INVALID",
    });

    assert.deepEqual(info.get(), paris);
  });
});
