/** Any bad response results in an error with the request and the cause, and does not affect other repositories. */
import assert from "node:assert/strict";
import { describe, it } from "vitest";
import { accessTo, RepositoryError, type SourceLocation } from "../index.ts";
import {
  createTestClient,
  indexText,
  type Respond,
  registryOf,
  send,
  startTestServer,
  type TestServer,
  testChart,
} from "../testing/index.ts";

/** Timeouts longer than any good response takes, and short enough for a test. */
const timeouts = { idleTimeoutMs: 400, indexTimeoutMs: 5_000 };

interface RepositoryCase {
  readonly what: string;
  readonly source: (server: TestServer) => SourceLocation;
  readonly constraint: string;
  /** The request that gets the bad response. */
  readonly path: RegExp;
  /** The code of a failure that has none of its own. */
  readonly code: string;
  /** The code of a failure without a response: no connection, a timeout. */
  readonly unreachable: string;
}

const repositories: readonly RepositoryCase[] = [
  {
    what: "the index of a repository",
    source: ({ origin }) => ({ kind: "http", repository: origin, chart: "web" }),
    constraint: "1.x",
    path: /\/index\.yaml$/,
    code: "INDEX_FETCH",
    unreachable: "INDEX_FETCH",
  },
  {
    what: "the tags of a registry",
    source: ({ host }) => ({ kind: "oci", repository: `oci://${host}/charts/web` }),
    constraint: "1.x",
    path: /\/v2\/charts\/web\/tags\/list\?…$/,
    code: "REGISTRY_ANSWER",
    unreachable: "REGISTRY_UNREACHABLE",
  },
  {
    what: "a manifest of a registry",
    source: ({ host }) => ({ kind: "oci", repository: `oci://${host}/charts/web` }),
    constraint: "1.0.0",
    path: /\/v2\/charts\/web\/manifests\/1\.0\.0$/,
    code: "REGISTRY_ANSWER",
    unreachable: "REGISTRY_UNREACHABLE",
  },
];

interface BadResponse {
  readonly name: string;
  readonly respond: Respond;
  /** Instead of the failure's usual code. */
  readonly code?: string;
  readonly isBelow?: true;
  /** The error message after the address. */
  readonly message: RegExp;
  readonly retryAfterMs?: number;
}

const badResponses: readonly BadResponse[] = [
  {
    name: "401",
    respond: (_, response) => send(response, 401, "", { "www-authenticate": 'Basic realm="r"' }),
    code: "REGISTRY_UNAUTHORIZED",
    message:
      /^error code: 401 Unauthorized; no credentials are set: set helmSecretName to a Secret that has credentials for this host$/,
  },
  {
    name: "403",
    respond: (_, response) => send(response, 403, "not for you\nsecond line"),
    code: "REGISTRY_UNAUTHORIZED",
    message: /^error code: 403 Forbidden; no credentials are set/,
  },
  {
    name: "429 with Retry-After in seconds",
    respond: (_, response) => send(response, 429, "", { "retry-after": "90" }),
    code: "REGISTRY_RATE_LIMITED",
    message: /^error code: 429 Too Many Requests; the server asks to retry in 90 s$/,
    retryAfterMs: 90_000,
  },
  {
    name: "429 with an invalid Retry-After",
    respond: (_, response) => send(response, 429, "", { "retry-after": "soon" }),
    code: "REGISTRY_RATE_LIMITED",
    message: /^error code: 429 Too Many Requests$/,
  },
  {
    name: "500 with an HTML page",
    respond: (_, response) => send(response, 500, "<html><body>oops</body></html>"),
    message: /^error code: 500 Internal Server Error$/,
  },
  {
    name: "503 with Retry-After",
    respond: (_, response) => send(response, 503, "down", { "retry-after": "7" }),
    message: /^error code: 503 Service Unavailable; the server asks to retry in 7 s$/,
    retryAfterMs: 7_000,
  },
  {
    name: "an unknown status",
    respond: (_, response) => send(response, 299),
    message: /^error code: 299$/,
  },
  {
    name: "a closed connection without a response",
    respond: (_, response) => void response.destroy(),
    isBelow: true,
    message: /^the connection was closed before the response was complete$/,
  },
  {
    name: "no response",
    respond: () => undefined,
    isBelow: true,
    message: /^the server accepted the connection, but did not respond$/,
  },
  {
    name: "a closed connection after half a response",
    respond: (_, response) => {
      response.writeHead(200, { "content-length": "1000" });
      response.write('{"tags": [', () => response.destroy());
    },
    isBelow: true,
    message: /^the connection was closed before the response was complete$/,
  },
  {
    name: "half a response without an end",
    respond: (_, response) =>
      void response.writeHead(200, { "content-length": "1000" }).write('{"tags": ['),
    isBelow: true,
    message: /^the response stopped before its end$/,
  },
  {
    name: "a redirect loop",
    respond: ({ path }, response) => send(response, 302, "", { location: path }),
    isBelow: true,
    message: /^redirected more than 5 times$/,
  },
];

describe("a good repository beside a bad one", { concurrent: true }, () => {
  for (const { what, source, constraint, path, ...codes } of repositories) {
    for (const bad of badResponses) {
      it(`is resolved, and the bad one is reported, when ${what} is ${bad.name}`, async () => {
        await using broken = await startTestServer(bad.respond);
        await using good = await startTestServer((request, response) =>
          request.path === "/index.yaml"
            ? send(response, 200, indexText({ web: ["1.0.0"] }))
            : registryOf({ "1.0.0": testChart("good") })(request, response),
        );
        await using client = createTestClient(timeouts);
        const resolve = (server: TestServer) => {
          const from = source(server);
          return client.resolve(from, constraint, accessTo(from, { plainHttp: true }));
        };

        const [failed, resolved] = await Promise.allSettled([resolve(broken), resolve(good)]);

        assert.equal(resolved.status, "fulfilled");
        assert.equal(failed.status, "rejected");
        const error: unknown = failed.reason;
        assert.ok(error instanceof RepositoryError);
        const [, address = "", reason = ""] = /^GET (\S+): (.*)$/.exec(error.message) ?? [];
        assert.ok(address.startsWith(broken.origin), error.message);
        assert.match(address, path);
        assert.match(reason, bad.message);
        assert.equal(
          error.code,
          bad.code ?? (bad.isBelow === true ? codes.unreachable : codes.code),
        );
        assert.equal(error.retryAfterMs, bad.retryAfterMs);
        assert.equal(error.retryable, true);
      });
    }
  }
});

describe("a list of 10,000 tags in pages", () => {
  const tags = Array.from({ length: 10_000 }, (_, at) => `1.0.${at}`);
  const pageSize = 100;
  const page: Respond = ({ path }, response) => {
    const from = Number(new URL(path, "http://x").searchParams.get("last") ?? 0);
    const next = from + pageSize;
    const link = `</v2/charts/web/tags/list?last=${next}>; rel="next"`;
    send(
      response,
      200,
      JSON.stringify({ tags: tags.slice(from, next) }),
      next < tags.length ? { link } : {},
    );
  };
  const manifests = registryOf({ "1.0.9999": testChart("last") });

  it("is read completely, to the newest tag at its end", async () => {
    await using server = await startTestServer((request, response) =>
      request.path.includes("/tags/") ? page(request, response) : manifests(request, response),
    );
    await using client = createTestClient();
    const source = { kind: "oci", repository: `oci://${server.host}/charts/web` } as const;

    const { pin } = await client.resolve(source, "", accessTo(source, { plainHttp: true }));

    assert.equal(pin.kind === "oci" && pin.version, "1.0.9999");
    assert.equal(server.seen.length, tags.length / pageSize + 1);
  });

  it("is an error when one page is missing, because an older version would be selected", async () => {
    await using server = await startTestServer((request, response) =>
      request.path.endsWith("last=5000") ? send(response, 500) : page(request, response),
    );
    await using client = createTestClient();
    const source = { kind: "oci", repository: `oci://${server.host}/charts/web` } as const;

    await assert.rejects(client.resolve(source, "", accessTo(source, { plainHttp: true })), {
      code: "REGISTRY_ANSWER",
      message: /tags\/list\?…: error code: 500 Internal Server Error$/,
    });
  });
});

describe("an index with broken entries", () => {
  const entries = [
    "- {name: web, version: 1.2.3, urls: [good.tgz]}",
    "- {name: web, version: one.two, urls: [x.tgz]}",
    "- {name: web, version: [2, 0, 0], urls: [x.tgz]}",
    "- {name: web, urls: [x.tgz]}",
    "- {version: 3.0.0, urls: [x.tgz]}",
    "- web",
    "-",
  ];

  it("resolves the valid one, and reports the others", async () => {
    const text = `apiVersion: v1\nentries:\n  broken: 17\n  web:\n  ${entries.join("\n  ")}\n  nothing:\n`;
    await using server = await startTestServer((_, response) => send(response, 200, text));
    await using client = createTestClient();
    const source = { kind: "http", repository: server.origin, chart: "web" } as const;

    const { pin } = await client.resolve(source, "", accessTo(source));
    const listing = await client.list(source, accessTo(source));

    assert.equal(pin.kind === "http" && pin.version, "1.2.3");
    assert.deepEqual(
      listing?.problems.map((problem) => problem.replace(/ of web.*/, "")),
      ["entry 2", "entry 3", "entry 4", "entry 5", "entry 6", "entry 7"],
    );
    await assert.rejects(client.resolve({ ...source, chart: "broken" }, "", accessTo(source)), {
      code: "CHART_VERSION_NOT_FOUND",
      message:
        /no chart version found for broken: .* lists no versions; skipped: broken: not a list/,
    });
  });
});
