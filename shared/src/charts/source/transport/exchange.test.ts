import assert from "node:assert/strict";
import { createServer, type IncomingMessage } from "node:http";
import { connect, type Socket } from "node:net";
import { describe, it } from "vitest";
import { accessTo } from "../index.ts";
import {
  createTestClient,
  indexText,
  issueTestCertificate,
  rsaKeyOfSize,
  send,
  startTestServer,
} from "../testing/index.ts";

const index = indexText({ x: ["1.0.0"] });
const credentials = { username: "me", password: "pw" };

function versions(origin: string) {
  const source = { kind: "http", repository: origin, chart: "x" } as const;
  return [source, accessTo(source, credentials)] as const;
}

describe("a redirect", () => {
  it("to the same scheme, host and port is followed with the credentials, as Helm does", async () => {
    await using server = await startTestServer(({ path }, response) => {
      if (path === "/index.yaml") return send(response, 302, "", { location: "/elsewhere.yaml" });
      send(response, 200, index);
    });
    await using client = createTestClient();

    await client.list(...versions(server.origin));

    assert.deepEqual(
      server.seen.map(({ headers }) => headers.authorization !== undefined),
      [true, true],
    );
  });

  it("that comes back from another host is followed without credentials", async () => {
    await using other = await startTestServer((_, response) =>
      send(response, 302, "", { location: `${server.origin}/elsewhere.yaml` }),
    );
    await using server = await startTestServer(({ path }, response) => {
      if (path !== "/index.yaml") return send(response, 200, index);
      return send(response, 302, "", { location: `${other.origin}/i.yaml` });
    });
    await using client = createTestClient();

    await client.list(...versions(server.origin));

    assert.deepEqual(
      [...server.seen, ...other.seen].map(({ headers }) => headers.authorization !== undefined),
      [true, false, false],
    );
  });

  it("to another host or port is followed without credentials", async () => {
    await using other = await startTestServer((_, response) => send(response, 200, index));
    await using server = await startTestServer((_, response) =>
      send(response, 307, "", { location: `${other.origin}/i.yaml?sig=1` }),
    );
    await using client = createTestClient();

    const listing = await client.list(...versions(server.origin));

    assert.deepEqual(
      listing?.versions.map(({ version }) => version),
      ["1.0.0"],
    );
    assert.notEqual(server.seen[0]?.headers.authorization, undefined);
    assert.deepEqual(other.paths(), ["/i.yaml?sig=1"]);
    assert.equal(other.seen[0]?.headers.authorization, undefined);
  });

  it("is followed a limited number of times", async () => {
    await using server = await startTestServer(({ path }, response) =>
      send(response, 302, "", { location: `${path}a` }),
    );
    await using client = createTestClient();

    await assert.rejects(client.list(...versions(server.origin)), {
      code: "INDEX_FETCH",
      message: /redirected more than 5 times/,
    });
    assert.equal(server.seen.length, 6);
  });

  it("to an address that is not HTTP is not followed", async () => {
    await using server = await startTestServer((_, response) =>
      send(response, 302, "", { location: "file:///etc/passwd" }),
    );
    await using client = createTestClient();

    await assert.rejects(client.list(...versions(server.origin)), {
      message: /not https:\/\/ or http:\/\//,
    });
  });
});

it("a client certificate whose key takes long to sign with is rejected before a handshake", async () => {
  const { certPem, caPem } = await issueTestCertificate("client");
  await using server = await startTestServer((_, response) => send(response, 200, index), {
    certificate: await issueTestCertificate(),
    clientCa: caPem,
  });
  await using client = createTestClient();
  const [source] = versions(server.origin);
  const clientCertificate = { certPem, keyPem: rsaKeyOfSize(16_384) };

  await assert.rejects(client.list(source, accessTo(source, { clientCertificate })), {
    code: "REPOSITORY_SECRET_INVALID",
    message: /has more than 8192 bits: use one of 2048 or 4096/,
  });
  assert.equal(server.seen.length, 0);
});

describe("a redirect from a server with TLS", () => {
  it("to another host is followed without the client certificate, although that host requests one", async () => {
    const certificate = await issueTestCertificate();
    const { certPem, keyPem, caPem } = await issueTestCertificate("client");
    const options = { certificate, clientCa: caPem };
    await using other = await startTestServer((_, response) => send(response, 200, index), options);
    await using server = await startTestServer(
      (_, response) => send(response, 302, "", { location: `${other.origin}/there.yaml` }),
      options,
    );
    await using client = createTestClient();
    const [source] = versions(server.origin);
    const access = accessTo(source, {
      caPem: certificate.caPem,
      clientCertificate: { certPem, keyPem },
    });

    await assert.rejects(client.list(source, access), { code: "INDEX_FETCH" });

    assert.deepEqual(server.paths(), ["/index.yaml"]);
    // It rejects connections without one.
    assert.equal(other.seen.length, 0);
  });

  it("to the same host is followed with the client certificate", async () => {
    const certificate = await issueTestCertificate();
    const { certPem, keyPem, caPem } = await issueTestCertificate("client");
    await using server = await startTestServer(
      ({ path }, response) => {
        if (path === "/index.yaml") return send(response, 302, "", { location: "/elsewhere.yaml" });
        send(response, 200, index);
      },
      { certificate, clientCa: caPem },
    );
    await using client = createTestClient();
    const [source] = versions(server.origin);
    const access = accessTo(source, {
      caPem: certificate.caPem,
      clientCertificate: { certPem, keyPem },
    });

    await client.list(source, access);

    // It rejects connections without one.
    assert.deepEqual(server.paths(), ["/index.yaml", "/elsewhere.yaml"]);
  });

  it("to HTTP is not followed", async () => {
    const certificate = await issueTestCertificate();
    await using other = await startTestServer((_, response) => send(response, 200, index));
    await using server = await startTestServer(
      (_, response) => send(response, 301, "", { location: `${other.origin}/i.yaml` }),
      { certificate },
    );
    await using client = createTestClient();
    const [source] = versions(server.origin);

    await assert.rejects(client.list(source, accessTo(source, { caPem: certificate.caPem })), {
      code: "INDEX_FETCH",
      message: `GET ${server.origin}/index.yaml: redirected from HTTPS to HTTP at ${other.origin}/i.yaml, which is not followed`,
    });
    assert.equal(other.seen.length, 0);
  });
});

describe("a request", () => {
  it("has the user agent", async () => {
    await using server = await startTestServer((_, response) => send(response, 200, index));
    await using client = createTestClient({ userAgent: "flotilla/1" });

    await client.list(...versions(server.origin));

    assert.equal(server.seen[0]?.headers["user-agent"], "flotilla/1");
  });

  it("is sent once more when the server closed the idle connection", async () => {
    let hasFailed = false;
    await using server = await startTestServer((_, response) => {
      if (hasFailed) return send(response, 200, index);
      hasFailed = true;
      response.socket?.destroy();
    });
    await using client = createTestClient();

    await client.list(...versions(server.origin));

    assert.equal(server.seen.length, 2);
  });

  it("uses a proxy when one is set, except for excluded hosts", async () => {
    await using server = await startTestServer((_, response) => send(response, 200, index));
    await using proxy = await startTestServer((_, response) => send(response, 200, index));
    await using through = createTestClient({ proxy: { httpProxy: proxy.origin } });
    await using past = createTestClient({
      proxy: { httpProxy: proxy.origin, noProxy: "127.0.0.1" },
    });

    await through.list(...versions(server.origin));
    assert.deepEqual([proxy.paths(), server.paths()], [[`${server.origin}/index.yaml`], []]);

    await past.list(...versions(server.origin));
    assert.deepEqual([proxy.seen.length, server.paths()], [1, ["/index.yaml"]]);
  });
});

describe("a request through a proxy with TLS", () => {
  it("verifies with the authorities of the access, and sends the proxy no credentials", async (t) => {
    const certificate = await issueTestCertificate();
    await using server = await startTestServer((_, response) => send(response, 200, index), {
      certificate,
    });
    const connects: IncomingMessage[] = [];
    const proxy = createServer().on("connect", (request, socket: Socket) => {
      connects.push(request);
      const [host, port] = (request.url ?? "").split(":");
      const upstream = connect(Number(port), host, () => {
        socket.write("HTTP/1.1 200 OK\r\n\r\n");
        upstream.pipe(socket).pipe(upstream);
      });
      for (const end of [socket, upstream]) end.on("error", () => upstream.destroy());
    });
    await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
    t.onTestFinished(() => void proxy.close());
    const address = proxy.address();
    const port = typeof address === "object" ? address?.port : undefined;
    await using client = createTestClient({ proxy: { httpsProxy: `http://127.0.0.1:${port}` } });
    const [source, access] = versions(server.origin);

    await assert.rejects(
      client.list(source, access),
      /tls: failed to verify certificate: x509: certificate signed by unknown authority/,
    );
    await client.list(source, { ...access, caPem: certificate.caPem });

    assert.deepEqual(
      connects.map(({ url, headers }) => [url, headers.authorization]),
      [
        [server.host, undefined],
        [server.host, undefined],
      ],
    );
    assert.deepEqual(server.paths(), ["/index.yaml"]);
  });
});

describe("a message of a server", () => {
  it("never puts a secret into an error", async () => {
    await using server = await startTestServer(({ headers }, response) =>
      send(response, 401, `bad ${headers.authorization ?? ""} of me:pw`),
    );
    await using client = createTestClient();

    const [source, access] = versions(server.origin);
    await assert.rejects(
      client.list(source, { ...access, showsResponses: true }),
      (thrown: Error) => {
        assert.match(
          thrown.message,
          /401 Unauthorized \(bad Basic \*\*\* of me:\*\*\*\); the credentials of the Secret are not accepted/,
        );
        return true;
      },
    );
  });
});
