import assert from "node:assert/strict";
import type { Bundle } from "@flotilla/shared/api";
import { test } from "vitest";
import { aBundle, httpPin } from "../../testing/index.ts";
import { createPinSigner } from "./pin-signature.ts";

const signer = createPinSigner(Buffer.from("a key"));
const reference = { repo: "https://charts.example.com", chart: "web", version: "~1.2" };
const pins = [{ ...reference, pin: httpPin("1.2.3"), note: "published again" }];
const own = signer.signed(aBundle({ helmOpOptions: { pins, helmOpSecretName: "login" } }));

test("a signed pin is accepted, also after a round trip through the API server", () => {
  const read = JSON.parse(JSON.stringify(own)) as Bundle;

  assert.deepEqual(signer.pinsOf(read), pins);
  assert.equal(read.spec.helmOpOptions?.helmOpSecretName, "login");
});

const { pinSignature } = own.spec.helmOpOptions ?? {};
const elsewhere = [
  { ...reference, pin: { ...httpPin("1.2.3"), url: "https://evil.example/web.tgz" } },
];
const forgeries: readonly (readonly [what: string, bundle: Bundle])[] = [
  ["no signature", aBundle({ helmOpOptions: { pins } })],
  ["an empty signature", aBundle({ helmOpOptions: { pins, pinSignature: "" } })],
  ["no options", aBundle({})],
  ["another address", aBundle({ helmOpOptions: { pins: elsewhere, pinSignature } })],
  [
    "another note",
    aBundle({ helmOpOptions: { pins: [{ ...reference, pin: httpPin("1.2.3") }], pinSignature } }),
  ],
  ["a Bundle of another name", { ...own, metadata: { ...own.metadata, name: "other" } }],
  ["another namespace", { ...own, metadata: { ...own.metadata, namespace: "other" } }],
  ["another hub's signature", createPinSigner(Buffer.from("another")).signed(own)],
];
for (const [what, bundle] of forgeries) {
  test(`pins with ${what} are not accepted`, () => {
    assert.equal(signer.pinsOf(bundle), undefined);
  });
}
