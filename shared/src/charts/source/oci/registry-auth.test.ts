import assert from "node:assert/strict";
import { describe, it } from "vitest";
import { createFakeClock } from "../../../runtime/time/testing/index.ts";
import { type AccessSettings, accessTo } from "../index.ts";
import {
  createTestClient,
  type Respond,
  registryOf,
  send,
  startTestServer,
  type TestServer,
  testChart,
} from "../testing/index.ts";

const charts = registryOf({ "1.0.0": testChart("one") });
const credentials: AccessSettings = { username: "me", password: "pw", plainHttp: true };

/** A registry that accepts only the token `accepted`, and refers other requests to a token service. */
function requiringToken(tokenService: () => string, accepted = "Bearer t1"): Respond {
  return (request, response) => {
    if (request.headers.authorization === accepted) return charts(request, response);
    const challenge = `Bearer realm="${tokenService()}",service="reg, istry",scope="repository:charts/x:pull"`;
    send(
      response,
      401,
      '{"errors":[{"code":"UNAUTHORIZED","message":"authentication required"}]}',
      { "www-authenticate": challenge },
    );
  };
}

function at({ host }: TestServer, settings: AccessSettings, path = "charts/x") {
  const source = { kind: "oci", repository: `oci://${host}/${path}` } as const;
  return [source, accessTo(source, settings)] as const;
}

describe("a registry with a token service", () => {
  it("is sent a token for the credentials, until it expires", async () => {
    await using tokens = await startTestServer((_, response) =>
      send(response, 200, '{"token":"t1","expires_in":300}'),
    );
    await using server = await startTestServer(requiringToken(() => `${tokens.origin}/token?x=1`));
    const clock = createFakeClock();
    await using client = createTestClient({ clock });

    await client.list(...at(server, credentials));
    await client.list(...at(server, credentials));

    assert.equal(tokens.seen.length, 1);
    assert.equal(
      tokens.seen[0]?.path,
      "/token?x=1&service=reg%2C+istry&scope=repository%3Acharts%2Fx%3Apull&account=me",
    );
    assert.equal(tokens.seen[0].headers.authorization, `Basic ${btoa("me:pw")}`);
    assert.deepEqual(
      server.seen.map(({ headers }) => headers.authorization),
      [undefined, "Bearer t1", "Bearer t1"],
    );

    await clock.advance(300_000);
    await client.list(...at(server, credentials));
    assert.equal(tokens.seen.length, 2);
  });

  it("also issues anonymous tokens", async () => {
    await using tokens = await startTestServer((_, response) =>
      send(response, 200, '{"access_token":"t1"}'),
    );
    await using server = await startTestServer(requiringToken(() => tokens.origin));
    await using client = createTestClient();

    await client.list(...at(server, { plainHttp: true }));

    assert.equal(tokens.seen[0]?.headers.authorization, undefined);
  });

  for (const answer of [
    { token: "", access_token: "t1" },
    { token: null, access_token: "t1" },
    { token: "t1", access_token: "" },
  ])
    it(`is sent the token of ${JSON.stringify(answer)}`, async () => {
      await using tokens = await startTestServer((_, response) =>
        send(response, 200, JSON.stringify(answer)),
      );
      await using server = await startTestServer(requiringToken(() => tokens.origin));
      await using client = createTestClient();

      await client.list(...at(server, { plainHttp: true }));

      assert.equal(tokens.seen.length, 1);
    });

  it("gets one request for a token that several requests need", async () => {
    await using tokens = await startTestServer((_, response) =>
      send(response, 200, '{"token":"t1"}'),
    );
    await using server = await startTestServer(requiringToken(() => tokens.origin));
    await using client = createTestClient();
    const [source, access] = at(server, credentials);

    await Promise.all(
      ["1.0.0", "*", "1.x"].map((constraint) => client.resolve(source, constraint, access)),
    );

    assert.equal(tokens.seen.length, 1);
  });

  it("exchanges an identity token by POST", async () => {
    await using tokens = await startTestServer((_, response) =>
      send(response, 200, '{"access_token":"t1"}'),
    );
    await using server = await startTestServer(requiringToken(() => tokens.origin));
    await using client = createTestClient();

    await client.list(...at(server, { identityToken: "i1", plainHttp: true }));

    const [request] = tokens.seen;
    assert.equal(request?.method, "POST");
    assert.deepEqual(Object.fromEntries(new URLSearchParams(request.body)), {
      grant_type: "refresh_token",
      client_id: "flotilla",
      scope: "repository:charts/x:pull",
      refresh_token: "i1",
      service: "reg, istry",
    });
  });

  it("does not send an identity token where the token service redirects to", async () => {
    await using other = await startTestServer((_, response) =>
      send(response, 200, '{"access_token":"t1"}'),
    );
    await using tokens = await startTestServer((_, response) =>
      send(response, 307, "", { location: `${other.origin}/token` }),
    );
    await using server = await startTestServer(requiringToken(() => tokens.origin));
    await using client = createTestClient();

    await assert.rejects(client.list(...at(server, { identityToken: "i1", plainHttp: true })));

    assert.equal(tokens.seen.length, 1);
    assert.deepEqual(other.seen, []);
  });

  it("is sent a configured bearer token, without a request to the token service", async () => {
    await using server = await startTestServer(
      requiringToken(() => "http://127.0.0.1:1", "Bearer fixed"),
    );
    await using client = createTestClient();

    await client.list(...at(server, { bearerToken: "fixed", plainHttp: true }));
    await assert.rejects(client.list(...at(server, { bearerToken: "wrong", plainHttp: true })), {
      code: "REGISTRY_UNAUTHORIZED",
    });

    assert.equal(server.seen.length, 2);
  });

  it("that rejects the token gets one request, and the error has its message", async () => {
    await using tokens = await startTestServer((_, response) =>
      send(response, 200, '{"token":"t2"}'),
    );
    await using server = await startTestServer(requiringToken(() => tokens.origin));
    await using client = createTestClient();

    await assert.rejects(client.list(...at(server, credentials)), {
      code: "REGISTRY_UNAUTHORIZED",
      message: /401 Unauthorized \(UNAUTHORIZED\); the credentials of the Secret are not accepted/,
    });

    assert.equal(server.seen.length, 2);
  });

  const services: readonly (readonly [
    name: string,
    respond: Respond,
    code: string,
    message: RegExp,
  ])[] = [
    [
      "rejects the credentials",
      (_, r) => send(r, 401, '{"error":"wrong pw"}'),
      "REGISTRY_UNAUTHORIZED",
      /401 Unauthorized/,
    ],
    ["sends no JSON", (_, r) => send(r, 200, "pw"), "REGISTRY_ANSWER", /the response is not JSON$/],
    [
      "sends no token",
      (_, r) => send(r, 200, "{}"),
      "REGISTRY_ANSWER",
      /the response has no token/,
    ],
    [
      "sends an invalid token",
      (_, r) => send(r, 200, '{"token":"a\\r\\nb: c"}'),
      "REGISTRY_ANSWER",
      /the response has no token/,
    ],
    ["limits the rate", (_, r) => send(r, 429), "REGISTRY_RATE_LIMITED", /429/],
  ];
  for (const [name, respond, code, message] of services) {
    it(`that ${name} results in an error`, async () => {
      await using tokens = await startTestServer(respond);
      await using server = await startTestServer(requiringToken(() => tokens.origin));
      await using client = createTestClient();

      await assert.rejects(client.list(...at(server, credentials)), (thrown) => {
        assert.ok(thrown instanceof Error && "code" in thrown);
        assert.equal(thrown.code, code);
        assert.match(thrown.message, message);
        assert.doesNotMatch(thrown.message, /account=|pw/);
        return true;
      });
    });
  }

  it("is not sent credentials over HTTP, except on this machine", async () => {
    await using server = await startTestServer(requiringToken(() => "http://tokens.example.org/"));
    await using client = createTestClient();
    const { plainHttp: _, ...secure } = credentials;

    await assert.rejects(client.list(...at(server, secure)), {
      code: "REGISTRY_UNAUTHORIZED",
      message:
        /the token service http:\/\/tokens.example.org\/ does not use TLS, so the credentials were not sent/,
    });
  });
});

describe("a registry with basic authentication", () => {
  const basic: Respond = (request, response) => {
    if (request.headers.authorization === `Basic ${btoa("me:pw")}`)
      return charts(request, response);
    send(response, 401, "", { "www-authenticate": 'Basic realm="r"' });
  };

  it("is sent the credentials after a challenge, and at once the next time", async () => {
    await using server = await startTestServer(basic);
    await using client = createTestClient();

    await client.list(...at(server, credentials));
    await client.list(...at(server, credentials));

    assert.equal(server.seen.length, 3);
  });

  it("is sent wrong credentials once", async () => {
    await using server = await startTestServer(basic);
    await using client = createTestClient();

    await assert.rejects(client.list(...at(server, { ...credentials, password: "no" })), {
      message: /credentials of the Secret are not accepted/,
    });
    assert.equal(server.seen.length, 2);
    await assert.rejects(client.list(...at(server, { plainHttp: true })), {
      message: /no credentials are set/,
    });
    assert.equal(server.seen.length, 3);
  });

  it("is not sent the credentials of another host", async () => {
    await using server = await startTestServer(basic);
    await using client = createTestClient();
    const [source, access] = at(server, credentials);

    await assert.rejects(
      client.list(source, { ...access, origin: "oci://elsewhere.example.org" }),
      { code: "REGISTRY_UNAUTHORIZED" },
    );

    assert.deepEqual(
      server.seen.map(({ headers }) => headers.authorization),
      [undefined],
    );
  });
});
