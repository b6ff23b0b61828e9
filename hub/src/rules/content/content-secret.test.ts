import assert from "node:assert/strict";
import { partBytes } from "@flotilla/shared/content";
import type { Secret } from "@flotilla/shared/kube/objects";
import { describe, test } from "vitest";
import { contentDigestOf, contentLabel } from "../../base/cache/keys.ts";
import { digestA } from "../../testing/index.ts";
import {
  contentSecretName,
  contentSecrets,
  contentSecretType,
  partBytesOf,
  partsOf,
} from "./content-secret.ts";

function packed(size: number) {
  const bytes = Uint8Array.from({ length: size }, (_, index) => index % 251);
  return { deploymentId: digestA, bytes };
}

/** A Secret with these annotations and otherwise unused fields. */
function secretNamed(name: string, annotations: Record<string, string> = {}): Secret {
  return { metadata: { name, namespace: "flotilla-system", annotations } };
}

describe("the Secrets of a content", () => {
  test("are named by its digest, labelled and immutable", () => {
    const [secret] = contentSecrets(packed(10), "flotilla-system");

    assert.equal(secret?.metadata.name, `content-${"a".repeat(64)}`);
    assert.equal(secret.metadata.namespace, "flotilla-system");
    assert.deepEqual(secret.metadata.labels, { [contentLabel]: "true" });
    assert.equal(secret.type, contentSecretType);
    assert.equal(secret.immutable, true);
  });

  for (const [size, parts] of [
    [0, 1],
    [1, 1],
    [partBytes, 1],
    [partBytes + 1, 2],
    [2 * partBytes, 2],
    [2 * partBytes + 1, 3],
  ] as const) {
    test(`of ${size} bytes are ${parts}, and together they have the whole content`, () => {
      const content = packed(size);

      const secrets = contentSecrets(content, "flotilla-system");

      assert.equal(secrets.length, parts);
      assert.ok(secrets.every((secret) => partsOf(secret) === parts));
      assert.ok(secrets.every((secret) => contentDigestOf(secret) === digestA));
      assert.deepEqual(
        secrets.map(({ metadata }) => metadata.name),
        secrets.map((_, part) => contentSecretName(digestA, part)),
      );
      assert.ok(Buffer.concat(secrets.map(partBytesOf)).equals(content.bytes));
    });
  }

  for (const name of [
    "content-short",
    `content-${"A".repeat(64)}`,
    `content-${"a".repeat(64)}-x`,
    "token",
  ]) {
    test(`are not those named ${name}`, () => {
      assert.equal(contentDigestOf(secretNamed(name)), undefined);
    });
  }

  for (const text of ["0", "-1", "1.5", "many", ""]) {
    test(`are one when the parts annotation is ${JSON.stringify(text)}`, () => {
      assert.equal(partsOf(secretNamed("content", { "flotilla.dev/parts": text })), 1);
    });
  }
});
