import assert from "node:assert/strict";
import type { HubMessage, ObjectRef, ObservedObject } from "@flotilla/proto";
import { type Bundle, type BundleDeployment, formatObjectRef } from "@flotilla/shared/api";
import {
  packReferencedObject,
  type ReferencedObjectData,
  unpackReferencedObject,
} from "@flotilla/shared/referenced";
import { describe, test } from "vitest";
import {
  createDeploymentSigner,
  createDeploymentTrust,
} from "../../rules/content/deployment-signature.ts";
import { createSentObject } from "../../rules/referenced/sent-object.ts";
import type { WorkspaceObject } from "../../rules/referenced/workspace-object.ts";
import { createPinSigner } from "../../rules/resolve/pin-signature.ts";
import { aBundle, aDeployment } from "../../testing/index.ts";
import { createReferencedObjectSync } from "./referenced-objects.ts";

const bytes = Buffer.from("key");
const signer = createDeploymentSigner(createPinSigner(bytes));
const bundle = aBundle();
const bundleUid = bundle.metadata.uid;
const own = signer.signed(
  aDeployment("paris", { spec: { referencedObjects: ["Secret/own"] } }),
  bundleUid,
);
const object: ReferencedObjectData = {
  ...{ type: "Opaque", labels: { team: "a" } },
  data: { username: "bWU=", password: "cHc=", unrelated: "c2VjcmV0" },
};
const source: WorkspaceObject = {
  ...{ kind: "present", resourceVersion: "1", object },
  sent: createSentObject(object),
};

/** The operator of one cluster writes into its BundleDeployment, which the hub has signed. */
const forged = {
  ...own,
  spec: { ...own.spec, referencedObjects: ["Secret/own", "Secret/payments/token"] },
};
const stolen: ObjectRef = { kind: "Secret", name: "payments/token" };
const ref: ObjectRef = { kind: "Secret", name: "own" };

function setUp(
  deployments: readonly BundleDeployment[] = [own],
  { stored = [], signsDeployments = true, bundleNow = bundle }: Partial<Options> = {},
) {
  return createReferencedObjectSync({
    stored,
    clusterInfoDigest: undefined,
    deployments: () => deployments,
    cluster: () => undefined,
    sourceOf: () => source,
    trust: createDeploymentTrust(() => ({ bytes, signsDeployments }), createPinSigner, {
      get: () => bundleNow ?? undefined,
    }),
  });
}

interface Options {
  readonly stored: readonly ObservedObject[];
  readonly signsDeployments: boolean;
  /** Null: it was deleted. */
  readonly bundleNow: Bundle | null;
}

describe("the objects that an agent is sent", () => {
  test("are those that its deployments refer to", async () => {
    const referenced = setUp();

    assert.deepEqual(referenced.plan(), { send: [ref], withdraw: [] });
    assert.equal((await referenced.next(ref))?.kind, "referencedObject");
  });

  test("are not those that somebody has written into a deployment", async () => {
    const referenced = setUp([forged]);

    assert.deepEqual(referenced.plan().send, []);
    assert.equal(await referenced.next(stolen), undefined);
  });

  test("are not those of a deployment that has the signature of another cluster's", async () => {
    const { name } = own.metadata;
    const copied = { ...own, metadata: { ...own.metadata, namespace: "cluster-oslo", name } };

    assert.equal(await setUp([copied]).next(ref), undefined);
  });

  test("stay with the agent while a deployment has no valid signature", async () => {
    const stored = [{ ...ref, digest: "sha256:0" }];
    const referenced = setUp([forged], { stored });

    assert.deepEqual(referenced.plan(), { send: [], withdraw: [] });
    assert.equal(await referenced.next(ref), undefined);
  });

  for (const [what, bundleNow] of [
    ["whose Bundle was deleted", null],
    ["of an earlier Bundle with the same name", aBundle({}, { uid: "another" })],
  ] as const)
    test(`are not those of a deployment ${what}, which somebody created again`, async () => {
      const referenced = setUp([own], { bundleNow });

      assert.deepEqual(referenced.plan().send, []);
      assert.equal(await referenced.next(ref), undefined);
    });

  test("are those of an older hub's deployments, until all have a signature", () => {
    const { annotations: _, ...metadata } = own.metadata;
    const unsigned = { ...own, metadata };

    const before = setUp([unsigned], { signsDeployments: false });
    const after = setUp([unsigned], {
      stored: [{ ...ref, digest: source.sent.digest("whole") }],
    });

    assert.deepEqual(before.plan().send.map(formatObjectRef), ["Secret/own"]);
    assert.deepEqual(after.plan(), { send: [], withdraw: [] });
  });
});

describe("of an object an agent is sent", () => {
  const referring = (name: string, entry: string) =>
    signer.signed(
      aDeployment("paris", { bundle: name, spec: { referencedObjects: [entry] } }),
      bundleUid,
    );
  const login = referring("login", "Secret/own#password,username");
  const values = referring("values", "Secret/own#unrelated");
  const { type, labels, data = {} } = object;
  const { unrelated: _, ...credentials } = data;

  for (const [what, deployments, expected] of [
    ["the keys that a deployment uses", [login], { data: credentials }],
    ["the keys that several use", [login, values], { data }],
    ["all of it for a copy, beside keys", [own, values], { type, labels, data }],
    ["nothing of it for a key that it does not have", [referring("no", "Secret/own#no")], {}],
  ] as const)
    test(what, async () => {
      const message = await setUp(deployments).next(ref);

      assert.deepEqual(message && (await objectIn(message)), expected);
    });

  test("nothing when it has what its deployments use, whatever else changes", async () => {
    const observed = { ...ref, digest: (await packReferencedObject({ data: credentials })).digest };
    const referenced = setUp([login], { stored: [observed] });

    assert.deepEqual(referenced.plan(), { send: [], withdraw: [] });
    assert.equal(await referenced.next(ref), undefined);
  });

  test("no more when somebody writes that its deployment uses more", async () => {
    const widened = { ...login, spec: { ...login.spec, referencedObjects: ["Secret/own"] } };

    assert.equal(await setUp([widened]).next(ref), undefined);
  });
});

async function objectIn(message: HubMessage) {
  assert.ok(message.kind === "referencedObject" && message.object.packed !== undefined);
  const { digest, content } = message.object.packed;
  return await unpackReferencedObject(ref, { digest, bytes: content });
}
