import assert from "node:assert/strict";
import { describe, it, test } from "vitest";
import { AppError } from "../../../runtime/errors/index.ts";
import { accessTo } from "../index.ts";
import { createTestClient, indexText, send, startTestServer } from "../testing/index.ts";
import {
  type EgressPolicy,
  type Endpoint,
  egressProblem,
  isNetwork,
  networksOf,
} from "./egress.ts";

const own = ["10.1.2.3"];
const strict: EgressPolicy = { ownPorts: [8443] };
const permitted = "permitted";
const denied = networksOf(["10.96.0.0/12", "203.0.113.7", "fd12:3456::/32"]);
const denies = ({ address, port }: Endpoint): string | undefined =>
  ["10.0.0.1", "fd98::a"].includes(address) && port === 443 ? "the API server" : undefined;

const cases: readonly (readonly [address: string, problem: string, policy?: EgressPolicy])[] = [
  ["93.184.215.14", permitted],
  ["2606:2800:21f:cb07::1", permitted],
  ["10.9.8.7", permitted],
  ["169.254.169.254", "a link-local address"],
  ["::ffff:169.254.169.254", "a link-local address"],
  ["::a9fe:a9fe", "a link-local address"],
  ["64:ff9b::a9fe:a9fe", "a link-local address"],
  ["2002:a9fe:a9fe::1", "a link-local address"],
  ["fe80::1%eth0", "a link-local address"],
  ["::ffff:169.254.169.254%eth0", "a link-local address"],
  ["fd00:ec2::254", "a link-local address"],
  ["fd00:ec2::23", "a link-local address"],
  ["fd00:ec3::23", permitted],
  ["fd20:ce::254", "a link-local address"],
  ["192.0.0.192", "a link-local address"],
  ["::ffff:0:a9fe:a9fe", "a link-local address"],
  ["64:ff9b:1::a9fe:a9fe", "a link-local address"],
  ["64:ff9b:1:a9fe:00a9:fe00::", "a link-local address"],
  ["64:ff9b:1:5db8:d7:e00::", permitted],
  ["64:ff9b:1:aaa9:fe:a9fe::", "a link-local address"],
  ["64:ff9b:1:aaaa:a9:fea9:fe00:0", "a link-local address"],
  ["64:ff9b:1::5db8:d70e", permitted],
  ["64:ff9b:1::7f00:1", "a loopback address"],
  ["2002:5db8:d70e::1", permitted],
  ["2002:7f00:1::1", "a loopback address"],
  ["2001:0:5db8:d70e:0:0:5601:5601", "a link-local address"],
  ["2001:0:a9fe:a9fe:0:0:a247:28f1", "a link-local address"],
  ["2001:0:5db8:d70e:0:0:a247:28f1", permitted],
  ["2606:2800:21f:cb07:0:5efe:a9fe:a9fe", "a link-local address"],
  ["2002:a00:1::1", "a private address", { denyPrivate: true }],
  ["64:ff9b::a60:1", "an address that the administrator denies", { denied }],
  ["10.96.0.1", "an address that the administrator denies", { denied }],
  ["10.112.0.1", permitted, { denied }],
  ["203.0.113.7", "an address that the administrator denies", { denied }],
  ["203.0.113.8", permitted, { denied }],
  ["fd12:3456::1", "an address that the administrator denies", { denied }],
  ["10.0.0.1", "the API server", { denies }],
  ["::ffff:10.0.0.1", "the API server", { denies }],
  ["FD98:0:0::A", "the API server", { denies }],
  ["100.100.100.200", "a link-local address"],
  ["168.63.129.16", "a link-local address"],
  ["169.254.169.254", "a link-local address", { allowLoopback: true }],
  ["127.0.0.1", "a loopback address"],
  ["127.255.0.1", "a loopback address"],
  ["::1", "a loopback address"],
  ["::ffff:7f00:1", "a loopback address"],
  ["127.0.0.1", permitted, { allowLoopback: true }],
  ["::1", permitted, { allowLoopback: true }],
  ["0.0.0.0", "an address that no host has"],
  ["::", "an address that no host has"],
  ["224.0.0.1", "an address that no host has"],
  ["10.9.8.7", "a private address", { denyPrivate: true }],
  ["172.31.0.1", "a private address", { denyPrivate: true }],
  ["192.168.1.1", "a private address", { denyPrivate: true }],
  ["fd12:3456::1", "a private address", { denyPrivate: true }],
  ["172.32.0.1", permitted, { denyPrivate: true }],
];
for (const [address, problem, policy = strict] of cases) {
  test(`${address} is ${problem} under ${JSON.stringify(policy)}`, () => {
    const found = egressProblem({ address, port: 443 }, policy, own);

    assert.equal(found ?? permitted, problem);
  });
}

test("an own port is denied on every address of this machine, and on no other", () => {
  const policy = { allowLoopback: true, ownPorts: [8443] };
  const problemOf = (address: string) => egressProblem({ address, port: 8443 }, policy, own);

  for (const address of ["127.0.0.1", "::1", "10.1.2.3", "::ffff:10.1.2.3"])
    assert.equal(problemOf(address), "a port of Flotilla itself");
  assert.equal(problemOf("10.1.2.4"), undefined);
});

test("a network is an address, or one with the length of its prefix", () => {
  for (const text of ["10.0.0.0/8", "10.0.0.1", "fd00::/8", "::1", "0.0.0.0/0"])
    assert.ok(isNetwork(text), text);
  for (const text of ["", "10.0.0.0/33", "fd00::/129", "10.0.0", "example.com", "fe80::1%eth0"])
    assert.ok(!isNetwork(text), text);
});

describe("a request", () => {
  const source = (repository: string) => ({ kind: "http", repository, chart: "x" }) as const;

  it("to an address that is denied is not sent, under whatever name", async () => {
    await using server = await startTestServer((_, response) =>
      send(response, 200, indexText({ x: ["1.0.0"] })),
    );
    const { port } = new URL(server.origin);
    await using client = createTestClient({
      egress: {},
      resolveAll: (_, callback) => callback(null, [{ address: "127.0.0.1", family: 4 }]),
    });
    const hosts = ["127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "2130706433", "x.test"];

    for (const host of hosts) {
      const at = source(`http://${host}:${port}`);
      await assert.rejects(client.list(at, accessTo(at)), {
        code: "EGRESS_DENIED",
        message:
          /^GET http:.*: the host has a loopback address, which charts are not fetched from$/,
      });
    }

    assert.deepEqual(server.seen, []);
  });

  it("that is redirected to an address that is denied is not followed there", async () => {
    await using server = await startTestServer((_, response) =>
      send(response, 302, "", { location: "http://169.254.169.254/latest/meta-data/" }),
    );
    await using client = createTestClient({ egress: { allowLoopback: true } });
    const at = source(server.origin);

    await assert.rejects(client.list(at, accessTo(at)), {
      code: "EGRESS_DENIED",
      message: /169\.254\.169\.254\/latest\/meta-data\/: the host has a link-local address/,
    });
  });

  describe("to a name with several addresses", () => {
    /** A server on 127.0.0.1 alone, and what a request finds there by a name with these addresses. */
    async function listing(...addresses: readonly string[]) {
      await using server = await startTestServer((_, response) =>
        send(response, 200, indexText({ x: ["1.0.0"] })),
      );
      await using client = createTestClient({
        egress: { allowLoopback: true },
        resolveAll: (_, callback) =>
          callback(
            null,
            addresses.map((address) => ({ address, family: 4 })),
          ),
      });
      const at = source(`http://charts.test:${new URL(server.origin).port}`);
      const found = await client.list(at, accessTo(at)).catch((thrown: unknown) => thrown);
      return { found, requests: server.seen.length };
    }

    it("goes to those that are permitted", async () => {
      const { requests } = await listing("169.254.169.254", "127.0.0.1");

      assert.equal(requests, 1);
    });

    it("goes to none that is denied, even if the others do not answer", async () => {
      // Linux connects 0.0.0.0 to the server.
      const { found, requests } = await listing("0.0.0.0", "127.0.0.2");

      assert.equal(AppError.from(found).code, "INDEX_FETCH");
      assert.equal(requests, 0);
    });
  });

  it("through a proxy is denied by the address that it names", async () => {
    await using proxy = await startTestServer((_, response) => send(response, 200, "metadata"));
    await using client = createTestClient({ proxy: { httpProxy: proxy.origin }, egress: {} });
    const at = source("http://169.254.169.254/charts");

    await assert.rejects(client.list(at, accessTo(at)), { code: "EGRESS_DENIED" });

    assert.deepEqual(proxy.seen, []);
  });
});
