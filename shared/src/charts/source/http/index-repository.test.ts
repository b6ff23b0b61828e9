import assert from "node:assert/strict";
import { gzipSync } from "node:zlib";
import { describe, it } from "vitest";
import { createFakeClock } from "../../../runtime/time/testing/index.ts";
import type { SourceClient } from "../client/index.ts";
import { type AccessSettings, accessTo } from "../index.ts";
import {
  createTestClient,
  indexText,
  issueTestCertificate,
  type Respond,
  send,
  startTestServer,
} from "../testing/index.ts";

const index = indexText({ x: ["1.1.0", "1.0.0"], y: ["3.0.0"] });

function source(repository: string, chart = "x") {
  return { kind: "http", repository, chart } as const;
}

/** The version that a repository resolves a constraint to. */
async function versionAt(
  client: SourceClient,
  repository: string,
  constraint = "1.x",
  settings: AccessSettings = {},
): Promise<string | undefined> {
  const from = source(repository);
  const { pin } = await client.resolve(from, constraint, accessTo(from, settings));
  return pin.kind === "http" ? pin.version : undefined;
}

describe("an HTTP repository", () => {
  it("is fetched again with a conditional request, by ETag and date", async () => {
    let text = index;
    await using server = await startTestServer(({ headers }, response) => {
      if (headers["if-none-match"] === `"${text.length}"`) return send(response, 304);
      send(response, 200, text, {
        etag: `"${text.length}"`,
        "last-modified": "Fri, 02 Jan 2026 03:04:05 GMT",
      });
    });
    await using client = createTestClient();

    assert.equal(await versionAt(client, server.origin), "1.1.0");
    assert.equal(await versionAt(client, server.origin), "1.1.0");
    text = indexText({ x: ["1.2.0", "1.1.0"] });
    assert.equal(await versionAt(client, server.origin), "1.2.0");

    assert.equal(server.seen[0]?.headers["if-none-match"], undefined);
    assert.equal(server.seen[1]?.headers["if-none-match"], `"${index.length}"`);
    assert.equal(server.seen[1].headers["if-modified-since"], "Fri, 02 Jan 2026 03:04:05 GMT");
    assert.deepEqual(server.paths(), ["/index.yaml", "/index.yaml", "/index.yaml"]);
  });

  it("is fetched once for all callers at the same time, for any chart", async () => {
    await using server = await startTestServer((_, response) => send(response, 200, index));
    await using client = createTestClient();

    const locations = Array.from({ length: 50 }, (_, at) =>
      source(server.origin, at % 2 === 0 ? "x" : "y"),
    );
    const pins = await Promise.all(locations.map((one) => client.resolve(one, "", accessTo(one))));

    assert.equal(server.seen.length, 1);
    assert.deepEqual(
      new Set(pins.map(({ pin }) => (pin.kind === "http" ? pin.version : ""))),
      new Set(["1.1.0", "3.0.0"]),
    );
  });

  it("uses cached results and failures that are fresh enough", async () => {
    let status = 200;
    await using server = await startTestServer((_, response) => send(response, status, index));
    const clock = createFakeClock();
    await using client = createTestClient({ clock });
    const from = source(server.origin);
    const resolve = (constraint: string) =>
      client.resolve(from, constraint, accessTo(from), { since: clock.monotonic() - 1000 });

    await resolve("1.x");
    await clock.advance(1000);
    await resolve("1.x");
    await assert.rejects(resolve("9.x"), { code: "CHART_VERSION_NOT_FOUND" });
    assert.equal(server.seen.length, 1);

    await clock.advance(1);
    status = 500;
    await assert.rejects(resolve("1.x"), { code: "INDEX_FETCH" });
    await clock.advance(1000);
    await assert.rejects(resolve("1.x"), { code: "INDEX_FETCH" });
    assert.equal(server.seen.length, 2);

    await clock.advance(1);
    status = 200;
    await resolve("1.x");
    assert.equal(server.seen.length, 3);
  });

  it("is fetched again for a trigger while an older request is in flight", async () => {
    const pending: (() => void)[] = [];
    const arrivals = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let text = index;
    await using server = await startTestServer((_, response) => {
      const now = text;
      arrivals[pending.length]?.resolve();
      pending.push(() => send(response, 200, now));
    });
    await using client = createTestClient();
    const from = source(server.origin);
    const resolve = (trigger?: string) => client.resolve(from, "", accessTo(from), { trigger });
    const begun = resolve();
    await arrivals[0]?.promise;

    text = indexText({ x: ["7.0.0"] });
    const triggered = [resolve("pushed"), resolve("pushed")];
    await arrivals[1]?.promise;
    // The response to the later request comes first.
    for (const response of pending.toReversed()) response();
    await begun;

    for (const { pin } of await Promise.all(triggered))
      assert.equal(pin.kind === "http" && pin.version, "7.0.0");
    assert.equal(server.seen.length, 2);
  });

  it("is cached separately for other credentials", async () => {
    await using server = await startTestServer(({ headers }, response) => {
      send(response, headers.authorization === undefined ? 401 : 200, index, { etag: '"a"' });
    });
    await using client = createTestClient();

    assert.equal(
      await versionAt(client, server.origin, "1.x", { username: "me", password: "pw" }),
      "1.1.0",
    );
    await assert.rejects(versionAt(client, server.origin), { code: "REGISTRY_UNAUTHORIZED" });

    assert.equal(server.seen[0]?.headers.authorization, `Basic ${btoa("me:pw")}`);
    assert.equal(server.seen[1]?.headers["if-none-match"], undefined);
  });

  it("may be compressed, have a query, and be below a path", async () => {
    await using server = await startTestServer(({ path, headers }, response) => {
      const answers =
        path === "/stable/index.yaml?token=t" && headers["accept-encoding"] === "gzip";
      send(response, answers ? 200 : 404, gzipSync(index), { "content-encoding": "gzip" });
    });
    await using client = createTestClient();
    const from = source(`${server.origin}/stable/?token=t`);

    const { pin } = await client.resolve(from, "1.0.0", accessTo(from));

    assert.deepEqual(pin, {
      kind: "http",
      version: "1.0.0",
      url: `${server.origin}/stable/x-1.0.0.tgz?token=t`,
    });
  });

  it("is verified with the authority of the access", async () => {
    const certificate = await issueTestCertificate();
    await using server = await startTestServer((_, response) => send(response, 200, index), {
      certificate,
    });
    await using client = createTestClient();

    await assert.rejects(versionAt(client, server.origin), {
      code: "INDEX_FETCH",
      message:
        /tls: failed to verify certificate: x509: certificate signed by unknown authority .*cacerts/,
    });
    assert.equal(
      await versionAt(client, server.origin, "1.x", { caPem: certificate.caPem }),
      "1.1.0",
    );
    assert.equal(
      await versionAt(client, server.origin, "1.x", { insecureSkipVerify: true }),
      "1.1.0",
    );
    assert.equal(server.seen.length, 2);
  });

  it("is sent a client certificate", async () => {
    const certificate = await issueTestCertificate();
    const { certPem, keyPem, caPem } = await issueTestCertificate("client");
    await using server = await startTestServer((_, response) => send(response, 200, index), {
      certificate,
      clientCa: caPem,
    });
    await using client = createTestClient();
    const settings = { caPem: certificate.caPem };

    assert.equal(
      await versionAt(client, server.origin, "1.x", {
        ...settings,
        clientCertificate: { certPem, keyPem },
      }),
      "1.1.0",
    );
    await assert.rejects(versionAt(client, server.origin, "1.x", settings), {
      code: "INDEX_FETCH",
    });
  });

  it("reports an invalid certificate of its Secret without its content", async () => {
    await using client = createTestClient();
    const clientCertificate = {
      certPem: "-----BEGIN CERTIFICATE-----\nhidden\n-----END CERTIFICATE-----",
      keyPem: "hidden",
    };

    await assert.rejects(
      versionAt(client, "https://127.0.0.1:1", "1.x", { clientCertificate }),
      (thrown: Error) => {
        assert.match(thrown.message, /are not valid PEM$/);
        assert.doesNotMatch(thrown.message, /hidden/);
        return true;
      },
    );
  });
});

describe("an index", () => {
  it("is parsed as a whole when the part of a chart is not valid alone", async () => {
    const shared =
      "apiVersion: v1\nentries:\n  y:\n  - &one {name: x, version: 1.5.0, urls: [x.tgz]}\n  x:\n  - *one\n";
    await using server = await startTestServer(({ headers }, response) => {
      if (headers["if-none-match"] === '"a"') return send(response, 304);
      send(response, 200, shared, { etag: '"a"' });
    });
    await using client = createTestClient();

    assert.equal(await versionAt(client, server.origin), "1.5.0");
    assert.equal(await versionAt(client, server.origin), "1.5.0");

    assert.deepEqual(
      server.seen.map(({ headers }) => headers["if-none-match"]),
      [undefined, undefined, '"a"'],
    );
  });

  const answers: readonly (readonly [
    name: string,
    respond: Respond,
    code: string,
    message: RegExp,
  ])[] = [
    [
      "a web page",
      (_, response) => send(response, 200, "<html></html>"),
      "INDEX_INVALID",
      /^GET http:\/\/127.*\/index.yaml: invalid index: it is a web page/,
    ],
    [
      "truncated in a quote",
      (_, response) => send(response, 200, `${index}  "x`),
      "INDEX_INVALID",
      /it is not YAML/,
    ],
    [
      "too large by its Content-Length",
      (_, response) => send(response, 200, "x".repeat(5001)),
      "INDEX_TOO_LARGE",
      /larger than 4.9 KiB/,
    ],
    [
      "too large after decompression",
      (_, response) =>
        send(response, 200, gzipSync("x".repeat(5001)), { "content-encoding": "gzip" }),
      "INDEX_TOO_LARGE",
      /larger than 4.9 KiB/,
    ],
    [
      "packed and broken",
      (_, response) =>
        send(response, 200, gzipSync(index).subarray(0, 50), { "content-encoding": "gzip" }),
      "INDEX_FETCH",
      /unexpected end of file/,
    ],
    [
      "in an encoding that the request does not accept",
      (_, response) => send(response, 200, index, { "content-encoding": "br" }),
      "INDEX_FETCH",
      /encoding br/,
    ],
    [
      "not there",
      (_, response) => send(response, 404, "no such page"),
      "INDEX_FETCH",
      /index.yaml: error code: 404 Not Found/,
    ],
  ];
  for (const [name, respond, code, message] of answers) {
    it(`that is ${name} results in an error`, async () => {
      await using server = await startTestServer(respond);
      await using client = createTestClient({ maxIndexBytes: 5000 });

      await assert.rejects(versionAt(client, `${server.origin}/?token=hidden`), (thrown) => {
        assert.ok(thrown instanceof Error && "code" in thrown);
        assert.equal(thrown.code, code);
        assert.match(thrown.message.replace("?…", ""), message);
        assert.doesNotMatch(thrown.message, /hidden/);
        return true;
      });
    });
  }

  it("that does not arrive in time is reported", async () => {
    await using server = await startTestServer(
      (_, response) => void response.writeHead(200).write("apiVersion"),
    );
    await using client = createTestClient({ indexTimeoutMs: 30 });

    await assert.rejects(versionAt(client, server.origin), {
      code: "INDEX_FETCH",
      message: /no complete response within 0 s/,
    });
  });

  it("is not read further when all callers have aborted", async () => {
    const given = new AbortController();
    await using server = await startTestServer((_, response) => {
      response.on("close", () => given.abort());
      response.writeHead(200).write("apiVersion");
    });
    await using client = createTestClient();
    const from = source(server.origin);
    const leaving = new AbortController();
    const resolved = client.resolve(from, "1.x", accessTo(from), { signal: leaving.signal });
    const rejected = assert.rejects(resolved, /stopping/);
    while (server.seen.length === 0) await new Promise((resolve) => setImmediate(resolve));

    leaving.abort(new Error("stopping"));

    await rejected;
    if (!given.signal.aborted)
      await new Promise((resolve) => given.signal.addEventListener("abort", resolve));
  });
});

describe("a repository that cannot be reached", () => {
  it("rejects the connection", async () => {
    const server = await startTestServer(() => undefined);
    await server[Symbol.asyncDispose]();
    await using client = createTestClient();

    await assert.rejects(versionAt(client, server.origin), {
      code: "INDEX_FETCH",
      message: `GET ${server.origin}/index.yaml: connection refused`,
    });
  });

  it("serves HTTP instead of HTTPS", async () => {
    await using server = await startTestServer((_, response) => send(response, 200, index));
    await using client = createTestClient();

    await assert.rejects(versionAt(client, `https://${server.host}`), {
      message: /the response is not TLS .*plain HTTP/,
    });
  });
});
