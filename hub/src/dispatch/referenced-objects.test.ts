import assert from "node:assert/strict";
import type { ObjectRef, ObservedObject } from "@flotilla/proto";
import { formatObjectRef } from "@flotilla/shared/api";
import { describe, test } from "vitest";
import { createDeploymentSigner, createDeploymentTrust } from "../content/index.ts";
import { createPinSigner } from "../resolve/index.ts";
import { aDeployment } from "../testing/index.ts";
import { createReferencedObjects } from "./referenced-objects.ts";

const bytes = Buffer.from("key");
const signer = createDeploymentSigner(createPinSigner(bytes));
const own = signer.signed(aDeployment("paris", { spec: { referencedObjects: ["Secret/own"] } }));
const packed = { digest: "sha256:1", bytes: new Uint8Array([1]) };

/** The operator of one cluster writes into its BundleDeployment, which the hub has signed. */
const forged = {
  ...own,
  spec: { ...own.spec, referencedObjects: ["Secret/own", "Secret/payments/token"] },
};
const stolen: ObjectRef = { kind: "Secret", name: "payments/token" };
const ref: ObjectRef = { kind: "Secret", name: "own" };

function setUp(
  deployment = own,
  { inventory = [], signsDeployments = true }: Partial<Options> = {},
) {
  return createReferencedObjects({
    inventory,
    clusterInfoDigest: undefined,
    deployments: () => [deployment],
    cluster: () => undefined,
    sourceOf: () => ({
      ...{ kind: "present", digest: packed.digest, packed },
      ...{ resourceVersion: "1", object: {} },
    }),
    trust: createDeploymentTrust(() => ({ bytes, signsDeployments }), createPinSigner),
  });
}

interface Options {
  readonly inventory: readonly ObservedObject[];
  readonly signsDeployments: boolean;
}

describe("the objects that an agent is sent", () => {
  test("are those that its deployments refer to", () => {
    const referenced = setUp();

    assert.deepEqual(referenced.plan(), { send: [ref], withdraw: [] });
    assert.equal(referenced.next(ref)?.kind, "referencedObject");
  });

  test("are not those that somebody has written into a deployment", () => {
    const referenced = setUp(forged);

    assert.deepEqual(referenced.plan().send, []);
    assert.equal(referenced.next(stolen), undefined);
  });

  test("are not those of a deployment that has the signature of another cluster's", () => {
    const { name } = own.metadata;
    const copied = { ...own, metadata: { ...own.metadata, namespace: "cluster-oslo", name } };

    assert.equal(setUp(copied).next(ref), undefined);
  });

  test("stay with the agent while a deployment has no valid signature", () => {
    const inventory = [{ ...ref, digest: "sha256:0" }];
    const referenced = setUp(forged, { inventory });

    assert.deepEqual(referenced.plan(), { send: [], withdraw: [] });
    assert.equal(referenced.next(ref), undefined);
  });

  test("are those of an older hub's deployments, until all have a signature", () => {
    const { annotations: _, ...metadata } = own.metadata;
    const unsigned = { ...own, metadata };

    const before = setUp(unsigned, { signsDeployments: false });
    const after = setUp(unsigned, { inventory: [{ ...ref, digest: packed.digest }] });

    assert.deepEqual(before.plan().send.map(formatObjectRef), ["Secret/own"]);
    assert.deepEqual(after.plan(), { send: [], withdraw: [] });
  });
});
