import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { formatObjectRef, parseObjectRef } from "../api/index.ts";
import { packClusterInfo, unpackClusterInfo } from "./cluster-info.ts";
import {
  packReferencedObject,
  type ReferencedObjectData,
  unpackReferencedObject,
} from "./referenced-object.ts";

const ref = { kind: "Secret", name: "source" } as const;
const object: ReferencedObjectData = {
  type: "Opaque",
  data: { password: "aHVudGVyMg==" },
  labels: { team: "a" },
};

describe("a referenced object", () => {
  test("is unchanged by encoding and decoding", async () => {
    assert.deepEqual(await unpackReferencedObject(ref, await packReferencedObject(object)), object);
  });

  test("has a digest that does not depend on the order of its fields", async () => {
    const { digest } = await packReferencedObject({
      labels: { team: "a" },
      type: "Opaque",
      data: object.data ?? {},
    });

    assert.equal(digest, (await packReferencedObject(object)).digest);
    assert.notEqual(digest, (await packReferencedObject({ ...object, type: "other" })).digest);
  });

  test("is rejected with another digest, and the error has none of its data", async () => {
    const { bytes } = await packReferencedObject(object);

    await assert.rejects(
      unpackReferencedObject(ref, { digest: "sha256:0", bytes }),
      (thrown: Error) => {
        assert.match(
          thrown.message,
          /^invalid Secret source from the hub: digest mismatch: the bytes have sha256:[0-9a-f]{64}$/,
        );
        return true;
      },
    );
  });

  test("is referenced by kind and name", () => {
    assert.equal(formatObjectRef(ref), "Secret/source");
    assert.deepEqual(parseObjectRef("Secret/source"), ref);
    for (const key of ["Secret/", "Pod/a", "source", ""]) {
      assert.equal(parseObjectRef(key), undefined, key);
    }
  });

  test("cluster info is unchanged by encoding and decoding", async () => {
    const info = {
      namespace: "fleet-default",
      name: "paris",
      labels: { region: "eu" },
      annotations: {},
      templateValues: { size: 3 },
    };

    assert.deepEqual(await unpackClusterInfo(await packClusterInfo(info)), info);
  });
});
