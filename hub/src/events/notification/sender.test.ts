import assert from "node:assert/strict";
import { createServer, type RequestListener } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { issueTestCertificate } from "@flotilla/shared/source/testing";
import { createConnectionPools, type EgressPolicy } from "@flotilla/shared/source/transport";
import { type Clock, systemClock } from "@flotilla/shared/time";
import { describe, onTestFinished, test } from "vitest";
import type { FluxEvent } from "./event.ts";
import type { ReadyProvider } from "./provider-settings.ts";
import { createSender } from "./sender.ts";

const event: FluxEvent = {
  involvedObject: { apiVersion: "v1", kind: "HelmOp", name: "web", namespace: "prod", uid: "1" },
  ...{ severity: "info", timestamp: "2026-01-01T00:00:00Z", message: "m", reason: "Ready" },
  metadata: { commit: "c".repeat(40) },
  ...{ reportingController: "hub", reportingInstance: "hub-0" },
};

/** The waits between attempts pass at once, and count. */
function quickClock(): Clock {
  let skippedMs = 0;
  return {
    now: systemClock.now,
    monotonic: () => systemClock.monotonic() + skippedMs,
    setTimeout(run, delayMs) {
      skippedMs += delayMs;
      return systemClock.setTimeout(run, 0);
    },
  };
}

const allowed: EgressPolicy = { allowLoopback: true };

async function listen(
  listener: RequestListener,
  tls?: { readonly key: string; readonly cert: string },
): Promise<string> {
  const server = tls === undefined ? createServer(listener) : createTlsServer(tls, listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return `${tls === undefined ? "http" : "https"}://127.0.0.1:${port}`;
}

/** Answers with one status after the other, and then with the last one. */
async function answering(...statuses: readonly number[]) {
  const requests: string[] = [];
  const url = await listen((request, response) => {
    requests.push(`${request.method} ${request.url}`);
    const status = statuses[Math.min(requests.length, statuses.length) - 1] ?? 200;
    request.resume().on("end", () => response.writeHead(status).end("internal details"));
  });
  return { url, requests };
}

function send(
  address: string,
  more: {
    readonly access?: Partial<ReadyProvider["access"]>;
    readonly egress?: EgressPolicy;
    readonly type?: string;
    readonly timeoutMs?: number;
  } = {},
) {
  const pools = createConnectionPools({
    ...{ connectTimeoutMs: 1_000, idleTimeoutMs: 5_000, connectionsPerHost: 2, maxPools: 2 },
    egress: more.egress ?? allowed,
  });
  onTestFinished(() => pools.close());
  const sender = createSender({ pools, userAgent: "test", clock: quickClock() });
  const url = new URL(address);
  const ready: ReadyProvider = {
    settings: {
      ...{
        address: url,
        channel: "",
        username: "",
        password: "",
        token: "",
        headers: {},
        uid: "u",
      },
    },
    access: { origin: url.origin, ...more.access },
    timeoutMs: more.timeoutMs ?? 15_000,
  };
  return sender(event, more.type ?? "generic", ready, new AbortController().signal);
}

describe("a request", () => {
  test("that succeeds is sent once", async () => {
    const { url, requests } = await answering(202);

    assert.deepEqual(await send(`${url}/a?b`), { kind: "delivered" });
    assert.deepEqual(requests, ["POST /a?b"]);
  });

  test("is retried at 2, 6 and 14 seconds within the timeout of 15", async () => {
    const { url, requests } = await answering(503);
    const result = await send(url);

    assert.equal(result.kind, "failed");
    assert.equal(requests.length, 4);
  });

  test("that succeeds at a retry is delivered", async () => {
    const { url, requests } = await answering(500, 502, 200);

    assert.deepEqual(await send(url), { kind: "delivered" });
    assert.equal(requests.length, 3);
  });

  for (const [status, kind] of [
    [400, "rejected"],
    [401, "failed"],
    [404, "failed"],
    [429, "failed"],
    [501, "rejected"],
    [307, "failed"],
  ] as const)
    test(`with the answer ${status} is ${kind}, and the text names the host alone`, async () => {
      const { url } = await answering(status);
      const result = await send(`${url}/secret-path`, { timeoutMs: 1_500 });

      assert.equal(result.kind, kind);
      assert.ok("why" in result);
      assert.match(result.why, new RegExp(`^127\\.0\\.0\\.1:\\d+: error code: ${status} `));
      assert.ok(!/secret-path|internal details/.test(result.why), result.why);
    });

  test("for a commit that a Git host has not is rejected", async () => {
    const { url, requests } = await answering(404);
    const result = await send(`${url}/org/repo`, { type: "gitea" });

    assert.equal(result.kind, "rejected");
    assert.deepEqual(requests, [`GET /api/v1/repos/org/repo/commits/${"c".repeat(40)}/statuses`]);
  });

  test("ends with the timeout of the Provider when nothing is answered", async () => {
    const url = await listen(() => undefined);

    assert.deepEqual(await send(url, { timeoutMs: 200 }), {
      kind: "failed",
      why: `${new URL(url).host}: no complete response within 0.2 s`,
    });
  });

  test("is not sent to an address that the egress policy denies", async () => {
    const { url, requests } = await answering(200);
    const result = await send(url, { egress: {}, timeoutMs: 500 });

    assert.ok(result.kind === "failed");
    assert.match(result.why, /loopback address, to which notifications are not sent$/);
    assert.deepEqual(requests, []);
  });

  test("trusts the authority of the Provider, and no other one with it", async () => {
    const [own, other] = await Promise.all([issueTestCertificate(), issueTestCertificate()]);
    const url = await listen(
      (request, response) => void request.resume().on("end", () => response.end()),
      { key: own.keyPem, cert: own.certPem },
    );
    const trusting = (caPem: string) =>
      send(url, { access: { caPem, trustsOnlyCa: true }, timeoutMs: 1_500 });

    assert.equal((await trusting(own.caPem)).kind, "delivered");
    const refused = await trusting(other.caPem);
    assert.ok(refused.kind === "failed");
    assert.match(refused.why, /certificate/);
  });
});
