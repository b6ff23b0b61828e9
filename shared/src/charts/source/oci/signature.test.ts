/** Signatures as cosign writes them, made by openssl. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, test } from "vitest";
import { hasSignature, type OciSignature, publicKeyOf } from "./signature.ts";

const folder = mkdtempSync(join(tmpdir(), "cosign-"));
afterAll(() => rmSync(folder, { recursive: true }));

const digest = `sha256:${"a".repeat(64)}`;
const other = `sha256:${"b".repeat(64)}`;

function openssl(...args: readonly string[]): void {
  execFileSync("openssl", args, { cwd: folder, stdio: "pipe" });
}

interface Key {
  readonly publicPem: string;
  /** The signature in base64. */
  sign(data: Uint8Array): string;
}

function makeKey(name: string, kind: readonly string[], isEd25519 = false): Key {
  openssl("genpkey", ...kind, "-out", `${name}.key`);
  openssl("pkey", "-in", `${name}.key`, "-pubout", "-out", `${name}.pub`);
  return {
    publicPem: readFileSync(join(folder, `${name}.pub`), "utf8"),
    sign(data) {
      writeFileSync(join(folder, "data"), data);
      if (isEd25519)
        openssl(
          ...["pkeyutl", "-sign", "-rawin", "-inkey", `${name}.key`],
          ...["-in", "data", "-out", "signature"],
        );
      else openssl("dgst", "-sha256", "-sign", `${name}.key`, "-out", "signature", "data");
      return readFileSync(join(folder, "signature")).toString("base64");
    },
  };
}

const ecdsa = makeKey("ec", ["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"]);
const rsa = makeKey("rsa", ["-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"]);
const ed25519 = makeKey("ed", ["-algorithm", "ed25519"], true);
const unrelated = makeKey("unrelated", ["-algorithm", "ed25519"], true);

function simple(key: Key, of = digest, type = "cosign container image signature"): OciSignature {
  const critical = {
    identity: { "docker-reference": "registry.example.com/web" },
    image: { "docker-manifest-digest": of },
    type,
  };
  const payload = Buffer.from(JSON.stringify({ critical, optional: null }));
  return { kind: "simple", payload, signature: key.sign(payload) };
}

function bundle(
  key: Key,
  of = digest,
  predicateType = "https://sigstore.dev/cosign/sign/v1",
): OciSignature {
  const sha256 = of.slice("sha256:".length);
  const statement = {
    _type: "https://in-toto.io/Statement/v1",
    subject: [{ digest: { sha256 } }],
    predicateType,
    predicate: {},
  };
  const payload = Buffer.from(JSON.stringify(statement));
  const payloadType = "application/vnd.in-toto+json";
  const encoded = Buffer.concat([
    Buffer.from(`DSSEv1 ${payloadType.length} ${payloadType} ${payload.length} `),
    payload,
  ]);
  return {
    kind: "bundle",
    bundle: {
      mediaType: "application/vnd.dev.sigstore.bundle.v0.3+json",
      dsseEnvelope: {
        payload: payload.toString("base64"),
        payloadType,
        signatures: [{ sig: key.sign(encoded) }],
      },
    },
  };
}

describe("a signature", () => {
  for (const [name, key] of Object.entries({ ecdsa, rsa, ed25519 })) {
    for (const [form, make] of Object.entries({ simple, bundle })) {
      test(`of ${name} in the form ${form} is accepted by its key among several`, () =>
        assert.equal(hasSignature(make(key), digest, [unrelated.publicPem, key.publicPem]), true));
    }
  }

  const rejected: readonly (readonly [string, OciSignature, Key])[] = [
    ["by another key", simple(ecdsa), rsa],
    ["by another key, in a bundle", bundle(ecdsa), rsa],
    ["over another digest", simple(ecdsa, other), ecdsa],
    ["over another digest, in a bundle", bundle(ecdsa, other), ecdsa],
    ["of another type", simple(ecdsa, digest, "atomic container signature"), ecdsa],
    ["of an attestation", bundle(ecdsa, digest, "https://spdx.dev/Document"), ecdsa],
    ["that is not base64", { ...simple(ecdsa), signature: "???" } as OciSignature, ecdsa],
    ["without an envelope", { kind: "bundle", bundle: { messageSignature: {} } }, ecdsa],
    ["over changed bytes", { ...simple(ecdsa), payload: Buffer.from("{}") } as OciSignature, ecdsa],
  ];
  for (const [what, signature, key] of rejected)
    test(`${what} is rejected`, () =>
      assert.equal(hasSignature(signature, digest, [key.publicPem]), false));

  test("is rejected without keys", () =>
    assert.equal(hasSignature(simple(ecdsa), digest, []), false));
});

test("a private key is not a public key", () => {
  assert.equal(publicKeyOf(readFileSync(join(folder, "ec.key"), "utf8")), undefined);
  assert.equal(publicKeyOf("nonsense"), undefined);
});
