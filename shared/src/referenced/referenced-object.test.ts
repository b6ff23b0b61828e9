import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { formatObjectRef, parseObjectRef } from "../api/bundle-deployment.ts";
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

describe("what the hub supplies", () => {
  test("arrives as it was", async () => {
    assert.deepEqual(await unpackReferencedObject(ref, await packReferencedObject(object)), object);
  });

  test("has the digest of what is in it, in whatever order that was written", async () => {
    const { digest } = await packReferencedObject({
      labels: { team: "a" },
      type: "Opaque",
      data: object.data ?? {},
    });

    assert.equal(digest, (await packReferencedObject(object)).digest);
    assert.notEqual(digest, (await packReferencedObject({ ...object, type: "other" })).digest);
  });

  test("is refused when it is not what its digest says, without a word of what is in it", async () => {
    const { bytes } = await packReferencedObject(object);

    await assert.rejects(
      unpackReferencedObject(ref, { digest: "sha256:0", bytes }),
      (thrown: Error) => {
        assert.match(
          thrown.message,
          /^the Secret source that the hub sent cannot be used: its bytes have the digest sha256:[0-9a-f]{64}$/,
        );
        return true;
      },
    );
  });

  test("is named by kind and name", () => {
    assert.equal(formatObjectRef(ref), "Secret/source");
    assert.deepEqual(parseObjectRef("Secret/source"), ref);
    for (const key of ["Secret/", "Pod/a", "source", ""]) {
      assert.equal(parseObjectRef(key), undefined, key);
    }
  });

  test("includes what the cluster is", async () => {
    const facts = {
      namespace: "fleet-default",
      name: "paris",
      labels: { region: "eu" },
      annotations: {},
      templateValues: { size: 3 },
    };

    assert.deepEqual(await unpackClusterInfo(await packClusterInfo(facts)), facts);
  });
});
