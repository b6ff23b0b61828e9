import assert from "node:assert/strict";
import { mutated } from "@flotilla/proto/testing";
import { AppError } from "@flotilla/shared/errors";
import fc from "fast-check";
import { describe, test } from "vitest";
import { aCertificateRequest } from "../../testing/index.ts";
import { readCertificateRequest } from "./certificate-request.ts";

const valid = await aCertificateRequest();
const { fingerprint } = await readCertificateRequest(valid);

/** The fingerprint of the parsed request; `undefined` for the expected rejection. */
async function read(bytes: Uint8Array): Promise<string | undefined> {
  try {
    return (await readCertificateRequest(bytes)).fingerprint;
  } catch (thrown) {
    assert.ok(thrown instanceof AppError, String(thrown));
    assert.equal(thrown.code, "CERTIFICATE_REQUEST_INVALID");
    return undefined;
  }
}

describe("a certificate request", () => {
  test("of any bytes is rejected with a message", async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 5_000 }), async (bytes) => {
        assert.equal(await read(bytes), undefined);
      }),
    );
  });

  test("with a modified byte is rejected, or has the key that signed it", async () => {
    await fc.assert(
      fc.asyncProperty(mutated(valid), async (bytes) => {
        const found = await read(bytes);

        assert.ok(found === undefined || found === fingerprint);
      }),
      { numRuns: 500 },
    );
  });

  test("for another type of key is rejected", async () => {
    const p384 = await aCertificateRequest({ name: "ECDSA", namedCurve: "P-384", hash: "SHA-384" });

    await assert.rejects(readCertificateRequest(p384), /its key is secp384r1, not P-256/);
  });
});
