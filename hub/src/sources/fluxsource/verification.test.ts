import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { describe, test } from "vitest";
import { SourceError } from "./source-error.ts";
import { publicKeysOf, type Verification, verifySignature } from "./verification.ts";

const pem = generateKeyPairSync("ed25519")
  .publicKey.export({ type: "spki", format: "pem" })
  .toString();
const base64 = (text: string) => Buffer.from(text).toString("base64");
const keys = { "team.pub": base64(pem), "other.txt": base64("x") };
const withKeys: Verification = { provider: "cosign", secretRef: { name: "keys" } };
const digest = `sha256:${"a".repeat(64)}`;
const repository = "oci://registry.example.com/web";

function verify(spec: Verification, isSigned: boolean) {
  return verifySignature(spec, {
    artifacts: {
      isSigned: (_, asked, asking) =>
        Promise.resolve(isSigned && asked === digest && asking[0] === pem),
    },
    query: { repository, access: { origin: "oci://registry.example.com" } },
    digest,
    secret: (name) => (name === "keys" ? { data: keys } : undefined),
    what: `revision latest@${digest}`,
    failure: { reason: "VerificationError", condition: "SourceVerified" },
  });
}

describe("the verification of a source", () => {
  test("is a condition when one of the keys has signed it", async () => {
    assert.deepEqual(await verify(withKeys, true), {
      type: "SourceVerified",
      status: "True",
      reason: "Succeeded",
      message: `verified signature of revision latest@${digest}`,
    });
  });

  const failures: readonly (readonly [string, Verification, RegExp, boolean])[] = [
    ["when no key has signed it", withKeys, /no matching signatures were found for oci:/, false],
    ["without the Secret", { ...withKeys, secretRef: { name: "x" } }, /no Secret x/, false],
    ["without keys", { provider: "cosign" }, /keyless.*secretRef/, true],
    ["with notation", { ...withKeys, provider: "notation" }, /notation is not supported/, true],
    [
      "with identities",
      { ...withKeys, matchOIDCIdentity: [{ issuer: "a", subject: "b" }] },
      /matchOIDCIdentity is not supported/,
      true,
    ],
    [
      "with a trusted root",
      { ...withKeys, trustedRootSecretRef: { name: "x" } },
      /trustedRootSecretRef is not supported/,
      true,
    ],
  ];
  for (const [what, spec, message, stalls] of failures) {
    test(`fails ${what}`, async () => {
      await assert.rejects(verify(spec, false), (thrown: unknown) => {
        assert.ok(thrown instanceof SourceError);
        assert.match(thrown.message, message);
        assert.deepEqual([thrown.stalls, thrown.isUnverified], [stalls, true]);
        return true;
      });
    });
  }
});

test("a Secret without public keys is a sentence that names its key", () => {
  assert.match(String(publicKeysOf("keys", { a: base64(pem) })), /none of its keys ends in \.pub/);
  assert.match(
    String(publicKeysOf("keys", { "a.pub": base64("planted") })),
    /^a\.pub of the Secret/,
  );
});
