import assert from "node:assert/strict";
import { createPublicKey, generateKeyPairSync, verify } from "node:crypto";
import { silentLog } from "@flotilla/shared/log";
import { rsaKeyOfSize, send, startTestServer } from "@flotilla/shared/source/testing";
import { createConnectionPools, createExchanger } from "@flotilla/shared/source/transport";
import { createFakeClock } from "@flotilla/shared/time/testing";
import { describe, type TestContext, test } from "vitest";
import { createTokenMinter, parseGithubApp } from "./github-app.ts";
import { createProjectSecret } from "./token-secret.ts";

const { privateKey, publicKey } = generateKeyPairSync("rsa", {
  modulusLength: 2048,
  publicKeyEncoding: { type: "spki", format: "pem" },
  privateKeyEncoding: { type: "pkcs1", format: "pem" },
});
const hourMs = 60 * 60_000;

async function setUp(t: TestContext, status = 201) {
  const clock = createFakeClock();
  let tokens = 0;
  const server = await startTestServer(({ path, method }, response) => {
    if (path === "/orgs/team/installation") return send(response, 404, "{}");
    if (path === "/users/team/installation") return send(response, 200, '{"id":77}');
    tokens += 1;
    assert.equal(`${method} ${path}`, "POST /app/installations/77/access_tokens");
    const expires = new Date(clock.now() + hourMs).toISOString();
    return send(
      response,
      status,
      JSON.stringify({ token: `token-${tokens}`, expires_at: expires }),
    );
  });
  const pools = createConnectionPools({
    ...{ connectTimeoutMs: 5_000, idleTimeoutMs: 5_000, connectionsPerHost: 1, maxPools: 1 },
    egress: { allowLoopback: true },
  });
  t.onTestFinished(async () => {
    await pools.close();
    await server[Symbol.asyncDispose]();
  });
  const mint = createTokenMinter({ exchange: createExchanger({ pools, userAgent: "t" }), clock });
  const texts = {
    githubAppID: "12",
    githubAppPrivateKey: privateKey,
    githubAppInstallationOwner: "team",
    githubAppBaseURL: server.origin,
  };
  return { server, clock, mint, texts };
}

test("a key that takes long to sign with is rejected before it signs", async (t) => {
  const { server, mint, texts } = await setUp(t);

  await assert.rejects(mint({ ...texts, githubAppPrivateKey: rsaKeyOfSize(16_384) }), {
    code: "GIT_SECRET_INVALID",
    message: /has 16384 bits, more than the limit of 4096/,
  });
  assert.equal(server.seen.length, 0);
});

describe("a token of a GitHub App", () => {
  test("is asked for with a signed token of the App, and again when it ends soon", async (t) => {
    const { server, clock, mint, texts } = await setUp(t);

    const first = await mint(texts);
    const again = await mint(texts);
    await clock.advance(hourMs - 10 * 60_000);
    const renewed = await mint(texts);

    assert.deepEqual([first.token, again.token, renewed.token], ["token-1", "token-1", "token-2"]);
    const [, jwt = ""] = /^Bearer (.*)$/.exec(server.seen[0]?.headers.authorization ?? "") ?? [];
    const [head = "", body = "", signature = ""] = jwt.split(".");
    assert.deepEqual(JSON.parse(Buffer.from(head, "base64url").toString()), {
      alg: "RS256",
      typ: "JWT",
    });
    assert.equal(JSON.parse(Buffer.from(body, "base64url").toString()).iss, "12");
    const isValid = verify(
      "RSA-SHA256",
      Buffer.from(`${head}.${body}`),
      createPublicKey(publicKey),
      Buffer.from(signature, "base64url"),
    );
    assert.ok(isValid);
  });

  test("is what agents get instead of the key", async (t) => {
    const { clock, mint, texts } = await setUp(t);
    const project = createProjectSecret({ mint, clock, log: silentLog() });
    const encode = (text: string) => Buffer.from(text).toString("base64");
    const data = Object.fromEntries(
      Object.entries({ ...texts, "ca.crt": "" }).map(([key, text]) => [key, encode(text)]),
    );

    const { object, renewInMs } = await project({ type: "Opaque", data });
    const other = await project({ data: { username: encode("u") } });

    assert.deepEqual(object.data, {
      "ca.crt": "",
      username: encode("x-access-token"),
      password: encode("token-1"),
    });
    assert.ok(renewInMs !== undefined && renewInMs <= 40 * 60_000, String(renewInMs));
    assert.deepEqual(other, { object: { data: { username: encode("u") } } });
  });

  test("is not there when GitHub denies it, and the key is not sent instead", async (t) => {
    const { clock, mint, texts } = await setUp(t, 401);
    const project = createProjectSecret({ mint, clock, log: silentLog() });

    await assert.rejects(mint(texts), {
      code: "GIT_UNAUTHORIZED",
      message: /GitHub answered 401: it does not know this App, its key or its installation$/,
    });
    const data = Object.fromEntries(
      Object.entries(texts).map(([key, text]) => [key, Buffer.from(text).toString("base64")]),
    );
    assert.deepEqual((await project({ data })).object.data, {});
  });
});

describe("the Secret of a GitHub App is refused", () => {
  const valid = { githubAppID: "1", githubAppPrivateKey: "k", githubAppInstallationID: "2" };
  const cases: readonly (readonly [Record<string, string>, RegExp])[] = [
    [{ ...valid, githubAppPrivateKey: "" }, /githubAppPrivateKey is missing/],
    [{ ...valid, githubAppInstallationOwner: "x" }, /either githubAppInstallationOwner or/],
    [{ ...valid, githubAppInstallationID: "" }, /either githubAppInstallationOwner or/],
    [{ ...valid, githubAppBaseURL: "ftp://x" }, /githubAppBaseURL/],
  ];
  for (const [texts, message] of cases)
    test(message.source, () => {
      assert.throws(() => parseGithubApp(texts), { code: "GIT_SECRET_INVALID", message });
    });
});
