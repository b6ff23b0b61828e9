/** Tokens of Google Pub/Sub, with the keys of an issuer over HTTPS. */
import assert from "node:assert/strict";
import { generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import {
  issueTestCertificate,
  send,
  startTestServer,
  type TestCertificate,
} from "@flotilla/shared/source/testing";
import { createConnectionPools, createExchanger } from "@flotilla/shared/source/transport";
import { createFakeClock } from "@flotilla/shared/time/testing";
import { type TestContext, test } from "vitest";
import { createGoogleVerifier } from "./google-token.ts";

const first = generateKeyPairSync("rsa", { modulusLength: 2048 });
const second = generateKeyPairSync("rsa", { modulusLength: 2048 });
const expected = { email: "push@project.iam.gserviceaccount.com", audience: "https://hub/hook" };

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");

function signed(claims: Record<string, unknown>, key: KeyObject = first.privateKey, kid = "one") {
  const text = `${encode({ alg: "RS256", kid })}.${encode(claims)}`;
  return `Bearer ${text}.${sign("RSA-SHA256", Buffer.from(text), key).toString("base64url")}`;
}

async function start(t: TestContext) {
  const certificate: TestCertificate = await issueTestCertificate();
  const keys = new Map([["one", first.publicKey]]);
  const status = { now: 200 };
  const server = await startTestServer(
    ({ path }, response) => {
      const body =
        path === "/keys"
          ? { keys: [...keys].map(([kid, key]) => ({ ...key.export({ format: "jwk" }), kid })) }
          : { jwks_uri: `${server.origin}/keys` };
      send(response, status.now, JSON.stringify(body));
    },
    { certificate },
  );
  const pools = createConnectionPools({
    ...{ connectTimeoutMs: 5_000, idleTimeoutMs: 5_000, connectionsPerHost: 1, maxPools: 2 },
    egress: { allowLoopback: true },
  });
  t.onTestFinished(async () => {
    await pools.close();
    await server[Symbol.asyncDispose]();
  });
  const clock = createFakeClock();
  const verify = createGoogleVerifier({
    exchange: createExchanger({ pools, userAgent: "test" }),
    issuer: server.origin,
    caPem: certificate.caPem,
    clock,
  });
  const seconds = () => Math.floor(clock.now() / 1_000);
  const claims = () => ({
    iss: server.origin,
    aud: expected.audience,
    email: expected.email,
    email_verified: true,
    iat: seconds(),
    exp: seconds() + 3_600,
  });
  return { server, keys, status, clock, verify, claims };
}

test("a token of the service account is accepted, and the keys are fetched once", async (t) => {
  const { server, verify, claims } = await start(t);

  assert.equal((await verify(signed(claims()), expected)).kind, "accepted");
  assert.equal((await verify(signed(claims()), expected)).kind, "accepted");

  assert.deepEqual(server.paths(), ["/.well-known/openid-configuration", "/keys"]);
});

test("a token with another claim, key or form is rejected", async (t) => {
  const { verify, claims } = await start(t);
  const now = claims();
  const { email_verified: _, ...unverified } = now;
  const none = `Bearer ${encode({ alg: "none", kid: "one" })}.${encode(now)}.`;
  const tokens = {
    "another audience": signed({ ...now, aud: "https://other" }),
    "another email": signed({ ...now, email: "other@example.com" }),
    "an email that is not verified": signed(unverified),
    "another issuer": signed({ ...now, iss: "https://other.example.com" }),
    expired: signed({ ...now, exp: now.iat - 3_600 }),
    "issued in the future": signed({ ...now, iat: now.iat + 3_600 }),
    "signed with another key": signed(now, second.privateKey),
    "of an unknown key": signed(now, second.privateKey, "two"),
    "not signed": none,
    absent: "",
  };

  for (const [name, token] of Object.entries(tokens))
    assert.equal((await verify(token, expected)).kind, "rejected", name);
  const without = await verify(signed(now), { ...expected, audience: "" });
  assert.equal(without.kind, "rejected");
});

test("a new key of the issuer is fetched, at most once a minute", async (t) => {
  const { server, keys, clock, verify, claims } = await start(t);
  await verify(signed(claims()), expected);
  keys.set("two", second.publicKey);
  const token = signed(claims(), second.privateKey, "two");

  assert.equal((await verify(token, expected)).kind, "rejected");
  assert.equal(server.seen.length, 2);
  await clock.advance(61_000);

  assert.equal((await verify(token, expected)).kind, "accepted");
});

test("an issuer that does not answer is an error, and is asked again after a minute", async (t) => {
  const { server, status, clock, verify, claims } = await start(t);
  status.now = 500;
  await assert.rejects(verify(signed(claims()), expected), { code: "ISSUER_KEYS" });
  await assert.rejects(verify(signed(claims()), expected), { code: "ISSUER_KEYS" });
  assert.equal(server.seen.length, 1);

  status.now = 200;
  await clock.advance(61_000);
  assert.equal((await verify(signed(claims()), expected)).kind, "accepted");
});
