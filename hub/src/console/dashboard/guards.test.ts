import assert from "node:assert/strict";
import { createServer, type IncomingMessage, request } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { getRequestListener } from "@hono/node-server";
import { Hono } from "hono";
import { describe, type TestContext, test } from "vitest";
import type { Env } from "./context.ts";
import { limitBody } from "./guards.ts";
import { problemOf } from "./problem.ts";

async function startApi(t: TestContext): Promise<number> {
  const app = new Hono<Env>();
  app.use("*", limitBody(10));
  app.all("*", async (context) => context.text(await context.req.text()));
  app.onError((thrown, context) => {
    const { status, problem } = problemOf(thrown);
    return context.json(problem, status);
  });
  const listener = getRequestListener(app.fetch, { overrideGlobalObjects: false });
  const server = createServer((...args) => void listener(...args));
  t.onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  return (server.address() as AddressInfo).port;
}

/** By Node's own client, which sends what it is asked to. */
async function send(
  port: number,
  method: string,
  headers: Readonly<Record<string, string>>,
  body?: string,
): Promise<{ readonly status: number | undefined; readonly body: string }> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const sent = request({ port, host: "127.0.0.1", method, headers, agent: false }, resolve);
    sent.once("error", reject);
    if (body !== undefined) sent.write(body);
    sent.end();
  });
  return { status: response.statusCode, body: await text(response) };
}

describe("the limit of bodies", () => {
  test("passes a request without a body, and one that is short enough", async (t) => {
    const port = await startApi(t);
    assert.deepEqual(await send(port, "DELETE", {}), { status: 200, body: "" });
    assert.deepEqual(await send(port, "GET", {}), { status: 200, body: "" });
    const headers = { "content-length": "10" };
    assert.deepEqual(await send(port, "POST", headers, "0123456789"), {
      status: 200,
      body: "0123456789",
    });
  });

  test("rejects one that is longer, or has no Content-Length", async (t) => {
    const port = await startApi(t);
    const long = await send(port, "POST", { "content-length": "11" }, "0123456789a");
    assert.equal(long.status, 400);
    assert.match(long.body, /VIEW_INVALID.*longer than 10 bytes/);
    const chunked = await send(port, "POST", { "transfer-encoding": "chunked" }, "a");
    assert.equal(chunked.status, 400);
    assert.match(chunked.body, /without the header Content-Length/);
  });
});
