import assert from "node:assert/strict";
import type { Pin } from "@flotilla/shared/source";
import { test } from "vitest";
import { createPinSigner } from "../../rules/resolve/pin-signature.ts";
import { httpPin, now } from "../../testing/index.ts";
import type { SourceArtifact } from "../fluxsource/source-status.ts";
import { pinMetadata, pinOfArtifact } from "./artifact.ts";

const signer = createPinSigner(Buffer.from("the key of this hub"));
const metadata = { namespace: "apps", name: "apps-web", uid: "uid-1" };
const pin = httpPin("1.2.9");

function artifactOf(signed: Readonly<Record<string, string>> | undefined): SourceArtifact {
  const fields = { revision: "1.2.9", digest: "sha256:00", url: "https://charts.example.com" };
  return { ...fields, path: "web.tgz", lastUpdateTime: now, metadata: signed };
}

const ours = pinMetadata("HelmChart", metadata, pin, signer);
const [pinKey = "", signatureKey = ""] = Object.keys(ours);

test("the pin of an artifact that the hub has signed is used", () => {
  assert.deepEqual(pinOfArtifact("HelmChart", metadata, artifactOf(ours), signer), pin);
});

const other: Pin = { ...httpPin("6.6.6"), url: "https://evil.example.com/web.tgz" } as Pin;

const forged: readonly (readonly [
  what: string,
  kind: string,
  object: typeof metadata,
  signed: Readonly<Record<string, string>> | undefined,
])[] = [
  ["no metadata", "HelmChart", metadata, undefined],
  ["no signature", "HelmChart", metadata, { [pinKey]: ours[pinKey] ?? "" }],
  [
    "another pin with a signature of the hub",
    "HelmChart",
    metadata,
    { ...ours, [pinKey]: JSON.stringify(other) },
  ],
  ["text that is not JSON", "HelmChart", metadata, { ...ours, [pinKey]: "{" }],
  ["an empty signature", "HelmChart", metadata, { ...ours, [signatureKey]: "" }],
  [
    "the signature of another hub",
    "HelmChart",
    metadata,
    pinMetadata("HelmChart", metadata, pin, createPinSigner(Buffer.from("another key"))),
  ],
  ["that of another namespace", "HelmChart", { ...metadata, namespace: "other" }, ours],
  ["that of another name", "HelmChart", { ...metadata, name: "apps-db" }, ours],
  ["that of an earlier object of its name", "HelmChart", { ...metadata, uid: "uid-2" }, ours],
  ["that of another kind", "OCIRepository", metadata, ours],
];

test.each(forged)("an artifact with %s has no pin", (_, kind, object, signed) => {
  assert.equal(pinOfArtifact(kind, object, artifactOf(signed), signer), undefined);
});

test("without an artifact there is no pin", () => {
  assert.equal(pinOfArtifact("HelmChart", metadata, undefined, signer), undefined);
});
