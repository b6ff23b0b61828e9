/** The errors for error responses of repositories. */
import assert from "node:assert/strict";
import { gzipSync } from "node:zlib";
import { describe, it } from "vitest";
import { type AccessSettings, accessTo } from "../index.ts";
import {
  createTestClient,
  indexText,
  type Respond,
  send,
  startTestServer,
} from "../testing/index.ts";

const login = { username: "me", password: "pw" };

async function rejectedIndex(respond: Respond, settings: AccessSettings): Promise<string> {
  await using server = await startTestServer(respond);
  await using client = createTestClient();
  const source = { kind: "http", repository: server.origin, chart: "web" } as const;
  return await client.resolve(source, "", accessTo(source, settings)).then(
    () => assert.fail("it was not rejected"),
    ({ message }: Error) => message.replaceAll(server.origin, "<here>"),
  );
}

describe("an error response", () => {
  it("has the server's message when it is compressed", async () => {
    const words = gzipSync("come back\nlater");

    const message = await rejectedIndex(
      (_, response) => send(response, 503, words, { "content-encoding": "gzip" }),
      { showsResponses: true },
    );

    assert.equal(message, "GET <here>/index.yaml: error code: 503 Service Unavailable (come back)");
  });

  it("has no message of the server unless responses are shown, only a code of the distribution API", async () => {
    const secret = JSON.stringify({
      errors: [
        { code: "DENIED", message: "internal words" },
        { code: "internal-code", message: "internal words" },
      ],
    });
    for (const [body, shown] of [
      ["internal words", ""],
      [JSON.stringify({ error: "internal words" }), ""],
      [secret, " (DENIED)"],
    ] as const) {
      const message = await rejectedIndex((_, response) => send(response, 500, body), {});

      assert.equal(message, `GET <here>/index.yaml: error code: 500 Internal Server Error${shown}`);
    }
  });

  it("of a host that a redirect leads to is not shown where responses of the repository are", async () => {
    await using elsewhere = await startTestServer((_, response) => send(response, 500, "internal"));

    const message = await rejectedIndex(
      (_, response) => send(response, 302, "", { location: `${elsewhere.origin}/i.yaml` }),
      { showsResponses: true },
    );

    assert.equal(message, `GET ${elsewhere.origin}/i.yaml: error code: 500 Internal Server Error`);
  });

  it("after a redirect to the same host reports that the credentials are not accepted", async () => {
    const message = await rejectedIndex(
      ({ path }, response) =>
        path === "/index.yaml"
          ? send(response, 302, "", { location: "/elsewhere.yaml" })
          : send(response, 401),
      login,
    );

    assert.equal(
      message,
      "GET <here>/elsewhere.yaml: error code: 401 Unauthorized; the credentials of the Secret are not accepted",
    );
  });

  it("has no message when it is in an encoding that the request does not accept", async () => {
    const message = await rejectedIndex(
      (_, response) => send(response, 503, "\u0001\u0002", { "content-encoding": "br" }),
      {},
    );

    assert.equal(message, "GET <here>/index.yaml: error code: 503 Service Unavailable");
  });

  it("of another host reports that the credentials are not for it", async () => {
    await using elsewhere = await startTestServer((_, response) => send(response, 403));

    const message = await rejectedIndex(
      (_, response) => send(response, 302, "", { location: `${elsewhere.origin}/i.yaml` }),
      login,
    );

    assert.equal(
      message,
      `GET ${elsewhere.origin}/i.yaml: error code: 403 Forbidden; the credentials of the Secret were not sent: they are for another host`,
    );
  });

  it("for an archive at another host reports that too", async () => {
    await using elsewhere = await startTestServer((_, response) => send(response, 401));
    await using server = await startTestServer((_, response) =>
      send(
        response,
        200,
        indexText({ web: [{ version: "1.0.0", url: `${elsewhere.origin}/web.tgz` }] }),
      ),
    );
    await using client = createTestClient();
    const source = { kind: "http", repository: server.origin, chart: "web" } as const;
    const access = accessTo(source, login);
    const { pin } = await client.resolve(source, "", access);

    await assert.rejects(
      client.fetch(pin, () => Promise.resolve(), { access, timeoutMs: 5_000, maxBytes: 1000 }),
      {
        code: "REGISTRY_UNAUTHORIZED",
        message:
          /401 Unauthorized; the credentials of the Secret were not sent: they are for another host$/,
      },
    );
  });

  it("of a registry with an unsupported challenge reports that", async () => {
    await using server = await startTestServer((_, response) =>
      send(response, 401, "", { "www-authenticate": 'Negotiate realm="r"' }),
    );
    await using client = createTestClient();
    const source = { kind: "oci", repository: `oci://${server.host}/charts/web` } as const;

    await assert.rejects(client.resolve(source, "1.x", accessTo(source, login)), {
      message:
        /401 Unauthorized; the credentials of the Secret were not sent: the server offers no supported authentication scheme$/,
    });
  });
});
