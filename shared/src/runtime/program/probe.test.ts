import assert from "node:assert/strict";
import { Registry } from "prom-client";
import { describe, type TestContext, test } from "vitest";
import { startHealthServer } from "./health-server.ts";
import { probe, probeUrl } from "./probe.ts";

async function serve(t: TestContext, why?: string): Promise<string> {
  const server = await startHealthServer({
    listen: { host: "127.0.0.1", port: 0 },
    metrics: new Registry(),
    notReady: () => why,
  });
  t.onTestFinished(() => server.close());
  return `http://${server.address}/readyz`;
}

describe("a probe", () => {
  test("succeeds when the process is ready", async (t) => {
    await probe(await serve(t));
  });

  test("fails with the reason that the process gives", async (t) => {
    const url = await serve(t, "not connected to the hub: connection refused");

    await assert.rejects(probe(url), {
      code: "PROBE_FAILED",
      message: `probe ${url}: HTTP status 503: not connected to the hub: connection refused`,
    });
  });

  test("fails with the address when nothing answers", async () => {
    await assert.rejects(probe("http://127.0.0.1:1/readyz"), {
      code: "PROBE_FAILED",
      message: /^probe http:\/\/127\.0\.0\.1:1\/readyz: .*(ECONNREFUSED|bad port)/,
    });
  });

  test("is requested by a flag", () => {
    assert.equal(probeUrl(["node", "main.ts", "--probe=http://a/readyz"]), "http://a/readyz");
    assert.equal(probeUrl(["node", "main.ts"]), undefined);
  });
});
