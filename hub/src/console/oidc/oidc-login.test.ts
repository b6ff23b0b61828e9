import assert from "node:assert/strict";
import { generateKeyPairSync, sign } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createFakeClock } from "@flotilla/shared/time/testing";
import { describe, type TestContext, test } from "vitest";
import { createOidcLogin } from "./oidc-login.ts";

/** What the provider answers to `METHOD path`: a status, and JSON or a text. */
type Answers = Readonly<Record<string, readonly [status: number, body: unknown]>>;

const discovery = "GET /.well-known/openid-configuration";
const checks = { state: "s", nonce: "n", verifier: "v".repeat(43) };
const secret = "planted-secret";

/** A server that stands in for a provider with a fault. One that works is in e2e. */
async function setUp(t: TestContext, answersOf: (issuer: string) => Answers) {
  const requests: string[] = [];
  const server = createServer((request, response) => {
    const what = `${request.method} ${request.url}`;
    requests.push(what);
    const [status, body] = answersOf(issuer)[what] ?? [404, "not found"];
    const isText = typeof body === "string";
    response
      .writeHead(status, { "content-type": isText ? "text/plain" : "application/json" })
      .end(isText ? body : JSON.stringify(body));
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const dir = await mkdtemp(join(tmpdir(), "flotilla-oidc-"));
  const clientSecretFile = join(dir, "client-secret");
  await writeFile(clientSecretFile, secret);
  const clock = createFakeClock();
  const login = createOidcLogin({
    config: {
      ...{ issuer, clientId: "flotilla", clientSecretFile, scopes: ["openid"] },
      ...{ usernameClaim: "sub", usernamePrefix: "", groupsClaim: "groups", groupsPrefix: "" },
      allowedGroups: [],
      ...{ dashboardUrl: "https://flotilla.example.com", sessionMs: 60_000 },
    },
    ...{ userAgent: "test", egress: { allowLoopback: true }, clock },
  });
  t.onTestFinished(async () => {
    await login.close();
    server.closeAllConnections();
    server.close();
    await rm(dir, { recursive: true });
  });
  const finish = (query = "code=c&state=s") => login.finish(new URLSearchParams(query), checks);
  return { login, finish, issuer, requests, clock, clientSecretFile };
}

function metadata(issuer: string, more: Readonly<Record<string, unknown>> = {}) {
  return {
    ...{ issuer, authorization_endpoint: `${issuer}/auth`, token_endpoint: `${issuer}/token` },
    ...{ jwks_uri: `${issuer}/keys`, response_types_supported: ["code"], ...more },
  };
}

describe("a login cannot begin", () => {
  const rows: readonly (readonly [what: string, (issuer: string) => Answers, RegExp])[] = [
    ["where the issuer has no document", () => ({}), /cannot be used: unexpected HTTP response/],
    [
      "where the document is invalid",
      () => ({ [discovery]: [200, "planted-answer"] }),
      /cannot be used: unexpected response content-type/,
    ],
    [
      "where the document is of another issuer",
      () => ({ [discovery]: [200, metadata("https://id.example.com")] }),
      /discovered metadata issuer does not match the expected issuer/,
    ],
    [
      "where the document has no address for it",
      (issuer) => ({ [discovery]: [200, { ...metadata(issuer), authorization_endpoint: 7 }] }),
      /the answer of the provider http:\/\/127\.0\.0\.1:\d+ cannot be used/,
    ],
  ];
  for (const [what, answers, message] of rows)
    test(what, async (t) => {
      const { login } = await setUp(t, answers);
      const failure: unknown = await login.begin().catch((thrown: unknown) => thrown);
      assert.ok(failure instanceof Error && "code" in failure);
      assert.equal(failure.code, "OIDC_UNAVAILABLE");
      assert.match(failure.message, message);
      assert.doesNotMatch(failure.message, /planted/);
    });

  test("while the provider is down, and begins when it is up", async (t) => {
    let isDown = true;
    const { login, issuer } = await setUp(t, (own) => ({
      [discovery]: isDown ? [503, "down"] : [200, metadata(own)],
    }));
    await assert.rejects(login.begin(), { code: "OIDC_UNAVAILABLE" });
    isDown = false;

    const { address } = await login.begin();

    assert.equal(address.origin + address.pathname, `${issuer}/auth`);
  });
});

describe("the discovery document", () => {
  test("is read at a login, and again after an hour", async (t) => {
    const { login, requests, clock } = await setUp(t, (issuer) => ({
      [discovery]: [200, metadata(issuer)],
    }));
    assert.deepEqual(requests, []);

    const begun = await Promise.all([login.begin(), login.begin()]);
    await login.begin();
    assert.deepEqual(requests, [discovery]);
    clock.advanceNow(60 * 60_000);
    await login.begin();

    assert.deepEqual(requests, [discovery, discovery]);
    const states = begun.map(({ checks: { state, nonce, verifier } }) => [state, nonce, verifier]);
    assert.equal(new Set(states.flat()).size, 6);
  });
});

describe("a login is not finished", () => {
  const known = (issuer: string) => ({ [discovery]: [200, metadata(issuer)] }) as const;
  const rows: readonly (readonly [
    what: string,
    (issuer: string) => Answers,
    query: string,
    code: string,
    RegExp,
  ])[] = [
    [
      "that the provider rejects, with its error in one line",
      known,
      `error=access_denied&error_description=not%0Ain%20the%20group&state=s`,
      "OIDC_REJECTED",
      /^the provider http\S+ has not logged you in: access_denied: not in the group$/,
    ],
    [
      "whose state is another one",
      known,
      "code=c&state=other",
      "OIDC_REJECTED",
      /unexpected "state" response parameter value$/,
    ],
    [
      "whose code is not valid",
      (issuer) => ({ ...known(issuer), "POST /token": [400, { error: "invalid_grant" }] }),
      "code=c&state=s",
      "OIDC_REJECTED",
      /does not give the hub a token: invalid_grant; check the client's id and secret/,
    ],
    [
      "for a client that the provider does not know",
      (issuer) => ({ ...known(issuer), "POST /token": [401, { error: "invalid_client" }] }),
      "code=c&state=s",
      "OIDC_REJECTED",
      /does not give the hub a token: invalid_client/,
    ],
    [
      "without an ID token",
      (issuer) => ({
        ...known(issuer),
        "POST /token": [200, { access_token: "planted", token_type: "bearer" }],
      }),
      "code=c&state=s",
      "OIDC_REJECTED",
      /"id_token" property/,
    ],
    [
      "with an ID token that is invalid",
      (issuer) => ({
        ...known(issuer),
        "POST /token": [
          200,
          { access_token: "planted", token_type: "bearer", id_token: "planted.planted.planted" },
        ],
      }),
      "code=c&state=s",
      "OIDC_REJECTED",
      /the answer of the provider http\S+ cannot be used/,
    ],
    [
      "at an address without TLS",
      (issuer) => ({
        [discovery]: [200, metadata(issuer, { token_endpoint: "http://192.0.2.1/token" })],
      }),
      "code=c&state=s",
      "OIDC_UNAVAILABLE",
      /^the provider http\S+ names http:\/\/192\.0\.2\.1, which has no TLS$/,
    ],
  ];
  for (const [what, answers, query, code, message] of rows)
    test(what, async (t) => {
      const { finish } = await setUp(t, answers);
      const failure: unknown = await finish(query).catch((thrown: unknown) => thrown);
      assert.ok(failure instanceof Error && "code" in failure);
      assert.equal(failure.code, code);
      assert.match(failure.message, message);
      assert.doesNotMatch(`${failure.message} ${String(failure.cause)}`, /planted/);
    });

  test("without the secret of the client", async (t) => {
    const { finish, clientSecretFile } = await setUp(t, known);
    await writeFile(clientSecretFile, " \n");
    await assert.rejects(finish(), {
      code: "OIDC_UNAVAILABLE",
      message: /^the hub cannot read the file .*client-secret for logins with OpenID Connect/,
    });
  });

  test("by a client whose secret the provider rejects in the body and in a header", async (t) => {
    const { finish, requests } = await setUp(t, (issuer) => ({
      ...known(issuer),
      "POST /token": [401, { error: "invalid_client" }],
    }));
    await assert.rejects(finish(), { code: "OIDC_REJECTED" });
    assert.deepEqual(requests, [discovery, "POST /token", "POST /token"]);
  });
});

describe("an ID token", () => {
  const newKey = () => generateKeyPairSync("rsa", { modulusLength: 2_048 });
  const [own, foreign] = [newKey(), newKey()];
  const nowSeconds = Math.floor(Date.now() / 1_000);
  const base64 = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");

  interface Token {
    readonly header?: Readonly<Record<string, unknown>>;
    readonly claims?: Readonly<Record<string, unknown>>;
    readonly key?: typeof own;
    readonly signature?: string;
  }

  function answersWith({ header, claims, key = own, signature }: Token) {
    return (issuer: string): Answers => {
      const text = [
        base64({ alg: "RS256", kid: "k", ...header }),
        base64({
          ...{ iss: issuer, aud: "flotilla", sub: "anna", nonce: checks.nonce, groups: ["dev"] },
          ...{ iat: nowSeconds, exp: nowSeconds + 300, ...claims },
        }),
      ].join(".");
      const signed = sign("RSA-SHA256", Buffer.from(text), key.privateKey).toString("base64url");
      const id_token = `${text}.${signature ?? signed}`;
      const jwk = { ...own.publicKey.export({ format: "jwk" }), kid: "k", use: "sig" };
      return {
        [discovery]: [200, metadata(issuer)],
        "POST /token": [200, { access_token: "a", token_type: "bearer", id_token }],
        "GET /keys": [200, { keys: [jwk] }],
      };
    };
  }

  test("has the user and their groups", async (t) => {
    const { finish } = await setUp(t, answersWith({}));
    assert.deepEqual(await finish(), { user: "anna", groups: ["dev"] });
  });

  const rows: readonly (readonly [what: string, token: Token, RegExp])[] = [
    ["with the signature of another key", { key: foreign }, /signature verification failed/],
    ["without a signature", { header: { alg: "none" }, signature: "" }, /cannot be used/],
    ["that the client's secret signs", { header: { alg: "HS256" } }, /"alg"/],
    ["of another issuer", { claims: { iss: "https://id.example.com" } }, /"iss"/],
    ["for another client", { claims: { aud: "other" } }, /"aud"/],
    ["of another login", { claims: { nonce: "other" } }, /"nonce"/],
    ["of no login", { claims: { nonce: undefined } }, /"nonce"/],
    ["that has expired", { claims: { exp: nowSeconds - 120 } }, /"exp"/],
  ];
  for (const [what, token, message] of rows)
    test(`is rejected ${what}`, async (t) => {
      const { finish } = await setUp(t, answersWith(token));
      await assert.rejects(finish(), { code: "OIDC_REJECTED", message });
    });
});
