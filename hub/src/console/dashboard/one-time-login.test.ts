import assert from "node:assert/strict";
import { loginCodeSecretName, loginCodeSecretType } from "@flotilla/shared/api/names";
import { secrets } from "@flotilla/shared/kube/objects";
import { createMemoryApiServer } from "@flotilla/shared/kube/testing";
import { describe, test } from "vitest";
import { createRedeemCode } from "./one-time-login.ts";

const namespace = "flotilla-system";
const code = "a-code-of-a-login-link";

function setUp(type = loginCodeSecretType) {
  const rest = createMemoryApiServer();
  const metadata = { namespace, name: loginCodeSecretName(code) };
  const data = { token: Buffer.from("own-token").toString("base64") };
  rest.put(secrets, { apiVersion: "v1", kind: "Secret", type, metadata, data });
  return { rest, redeem: createRedeemCode({ rest, namespace }) };
}

const rejection = {
  code: "LOGIN_FAILED",
  message: /^this login link is invalid or was already used; create another one with/,
};

describe("the code of a login link", () => {
  test("is valid once", async () => {
    const { redeem } = setUp();
    assert.equal(await redeem(code), "own-token");
    await assert.rejects(redeem(code), rejection);
  });

  test("is valid for one of two logins at the same time", async () => {
    const { redeem } = setUp();
    const [one, other] = await Promise.allSettled([redeem(code), redeem(code)]);
    assert.deepEqual([one.status, other.status].sort(), ["fulfilled", "rejected"]);
  });

  test("is rejected if it is unknown, and leaves other codes valid", async () => {
    const { redeem } = setUp();
    await assert.rejects(redeem("another-code-than-that"), rejection);
    assert.equal(await redeem(code), "own-token");
  });

  test("is rejected if its Secret has another type, which stays", async () => {
    const { rest, redeem } = setUp("Opaque");
    await assert.rejects(redeem(code), rejection);
    assert.equal(rest.all(secrets).length, 1);
  });
});
