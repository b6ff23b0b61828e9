/** Requests through the proxy of an access. */
import assert from "node:assert/strict";
import { describe, it } from "vitest";
import { accessTo, type ProxyAccess } from "../index.ts";
import {
  createTestClient,
  indexText,
  issueTestCertificate,
  send,
  startHttpProxy,
  startSocksProxy,
  startTestServer,
  type TestProxy,
} from "../testing/index.ts";

const index = indexText({ x: ["1.0.0"] });
const user = { username: "me", password: "p:w" };
const source = (repository: string) => ({ kind: "http", repository, chart: "x" }) as const;

async function versionsOf(
  repository: string,
  proxy: ProxyAccess,
  caPem?: string,
): Promise<readonly string[]> {
  await using client = createTestClient();
  const at = source(repository);
  const settings = { proxy, ...(caPem !== undefined && { caPem }) };
  const listing = await client.list(at, accessTo(at, settings));
  return listing?.versions.map(({ version }) => version) ?? [];
}

const kinds: readonly (readonly [
  scheme: string,
  start: typeof startSocksProxy,
  passed: Readonly<Record<"http" | "https", (host: string) => string>>,
])[] = [
  [
    "http",
    startHttpProxy,
    { http: (host) => `GET http://${host}/index.yaml`, https: (host) => `CONNECT ${host}` },
  ],
  [
    "socks5",
    startSocksProxy,
    { http: (host) => `SOCKS ${host}`, https: (host) => `SOCKS ${host}` },
  ],
];

describe("a request through the proxy of its access", () => {
  for (const [scheme, start, passed] of kinds) {
    it(`passes ${scheme}:// to a server without TLS`, async () => {
      await using server = await startTestServer((_, response) => send(response, 200, index));
      await using proxy: TestProxy = await start(user);

      const versions = await versionsOf(server.origin, {
        address: `${scheme}://${proxy.host}`,
        ...user,
      });

      assert.deepEqual(versions, ["1.0.0"]);
      assert.deepEqual(proxy.passed, [passed.http(server.host)]);
      assert.equal(server.seen[0]?.headers["proxy-authorization"], undefined);
    });

    it(`passes ${scheme}:// to a server with TLS, whose certificate is verified`, async () => {
      const certificate = await issueTestCertificate();
      await using server = await startTestServer((_, response) => send(response, 200, index), {
        certificate,
      });
      await using proxy: TestProxy = await start(user);
      const address = `${scheme}://${proxy.host}`;

      const versions = await versionsOf(server.origin, { address, ...user }, certificate.caPem);

      assert.deepEqual(versions, ["1.0.0"]);
      assert.deepEqual(proxy.passed, [passed.https(server.host)]);
      await assert.rejects(versionsOf(server.origin, { address, ...user }), {
        code: "INDEX_FETCH",
        message: /through the proxy .*: x509: certificate signed by unknown authority/,
      });
    });

    it(`fails with a sentence when ${scheme}:// rejects its password`, async () => {
      await using server = await startTestServer((_, response) => send(response, 200, index));
      await using proxy: TestProxy = await start(user);
      const wrong = { address: `${scheme}://${proxy.host}`, ...user, password: "planted" };

      await assert.rejects(versionsOf(server.origin, wrong), (thrown: Error) => {
        assert.match(thrown.message, /^GET http:.* through the proxy \S+: .*auth/i);
        assert.ok(!thrown.message.includes("planted"));
        return true;
      });
      assert.deepEqual(server.seen, []);
    });

    it(`is not sent when ${scheme}:// is an address that is denied, under whatever name`, async () => {
      await using client = createTestClient({
        egress: {},
        resolveAll: (_, callback) => callback(null, [{ address: "169.254.1.1", family: 4 }]),
      });
      const at = source("http://93.184.216.34/");

      for (const host of ["169.254.169.254", "localhost", "[::1]:1080", "proxy.test"]) {
        const proxy = { address: `${scheme}://${host}` };
        await assert.rejects(client.list(at, accessTo(at, { proxy })), {
          code: "EGRESS_DENIED",
          message: /: the proxy has a .* address, which charts are not fetched from$/,
        });
      }
    });

    it(`names the proxy when nothing listens at ${scheme}://`, async () => {
      const proxy = { address: `${scheme}://127.0.0.1:1` };

      await assert.rejects(versionsOf("http://93.184.216.34/", proxy), {
        code: "INDEX_FETCH",
        message: `GET http://93.184.216.34/index.yaml through the proxy ${proxy.address}: connection refused`,
      });
    });
  }
});
