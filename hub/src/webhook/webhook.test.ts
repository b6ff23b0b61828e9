/** The endpoint as registries call it, over HTTP, on an API server in memory. */
import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { type HelmOp, helmOps } from "@flotilla/shared/api";
import { pollRequestAnnotation, webhookSecretType } from "@flotilla/shared/api/names";
import { createStore } from "@flotilla/shared/kube/cache";
import { type Secret, secrets } from "@flotilla/shared/kube/objects";
import { createMemoryApiServer, serverError } from "@flotilla/shared/kube/testing";
import { silentLog } from "@flotilla/shared/log";
import { startHttpServer } from "@flotilla/shared/program";
import { createFakeClock } from "@flotilla/shared/time/testing";
import { type TestContext, test } from "vitest";
import { aHelmOp, workspace } from "../testing/index.ts";
import { webhookRoute } from "./route.ts";
import { createWebhook } from "./webhook.ts";

const key = "the key";
const authorization = `Bearer ${key}`;
const push = (id: string, repository = "charts/web") =>
  JSON.stringify({
    events: [{ id, action: "push", target: { repository }, request: { host: "r.example.com" } }],
  });

function polled(name: string, namespace = workspace, path = "charts/web"): HelmOp {
  const helm = { repo: `oci://r.example.com/${path}`, version: "1.x" };
  return aHelmOp({ pollingInterval: "1h", helm }, { name, namespace });
}

function hook(type = webhookSecretType, data: Secret["data"] = { token: btoa(key) }): Secret {
  return { metadata: { namespace: workspace, name: "registry" }, type, data };
}

async function serve(t: TestContext, secret: Secret = hook()) {
  const rest = createMemoryApiServer();
  const clock = createFakeClock();
  const store = createStore<HelmOp>();
  const ops = [polled("web"), polled("other", workspace, "charts/other"), polled("web", "tenant")];
  for (const helmOp of ops) store.set(rest.put(helmOps, helmOp));
  rest.put(secrets, secret);
  const ready: { why?: string } = {};
  const webhook = createWebhook({ rest, helmOps: store, clock, log: silentLog() });
  const server = await startHttpServer({
    listen: { host: "127.0.0.1", port: 0 },
    routes: { "/hooks/": webhookRoute(webhook, () => ready.why) },
  });
  t.onTestFinished(() => server.close());

  async function call(
    body: string,
    headers: Readonly<Record<string, string>> = { authorization },
    path = `${workspace}/registry`,
    method = "POST",
  ) {
    const url = `http://${server.address}/hooks/${path}`;
    const answer = await fetch(url, { method, headers, ...(method === "POST" && { body }) });
    return { status: answer.status, text: await answer.text() };
  }

  /** Without a Content-Length. */
  async function callInParts(parts: readonly string[]): Promise<number | undefined> {
    const sending = request(`http://${server.address}/hooks/${workspace}/registry`, {
      method: "POST",
      headers: { authorization },
    });
    for (const part of parts) sending.write(part);
    sending.end();
    const [answer] = (await once(sending, "response")) as [IncomingMessage];
    answer.resume();
    return answer.statusCode;
  }

  /** The HelmOps with a poll request, with their namespace. */
  function marked(): readonly string[] {
    return ops
      .filter(
        ({ metadata }) =>
          rest.peek(helmOps, metadata)?.metadata.annotations?.[pollRequestAnnotation] !== undefined,
      )
      .map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);
  }
  return { rest, clock, ready, call, callInParts, marked };
}

test("a push requests polls of the HelmOps of its namespace that use the repository", async (t) => {
  const { call, marked } = await serve(t);

  const answer = await call(push("one"));

  assert.deepEqual(answer, { status: 202, text: "1 HelmOps are polled\n" });
  assert.deepEqual(marked(), [`${workspace}/web`]);
});

test("a call without a repository requests polls of all HelmOps of its namespace, with one value", async (t) => {
  const { rest, call, marked } = await serve(t);
  const signature = `sha256=${createHmac("sha256", key).update("{}").digest("hex")}`;

  assert.equal((await call("{}", { "x-signature": signature })).status, 202);

  assert.deepEqual(marked(), [`${workspace}/web`, `${workspace}/other`]);
  const values = ["web", "other"].map(
    (name) =>
      rest.peek(helmOps, { namespace: workspace, name })?.metadata.annotations?.[
        pollRequestAnnotation
      ],
  );
  assert.equal(values[0], values[1]);
});

const unauthenticated: readonly (readonly [
  what: string,
  secret: Secret,
  headers: Record<string, string>,
  path: string,
])[] = [
  ["a wrong key", hook(), { authorization: "Bearer wrong" }, `${workspace}/registry`],
  ["no key", hook(), {}, `${workspace}/registry`],
  ["a missing Secret", hook(), { authorization }, `${workspace}/other`],
  ["a missing namespace", hook(), { authorization }, "nowhere/registry"],
  ["the key of another namespace", hook(), { authorization }, "tenant/registry"],
  ["a Secret of another type", hook("Opaque"), { authorization }, `${workspace}/registry`],
  ["a Secret without a key", hook(webhookSecretType, {}), {}, `${workspace}/registry`],
  [
    "an empty key",
    hook(webhookSecretType, { token: "" }),
    { authorization: "Bearer " },
    `${workspace}/registry`,
  ],
];
for (const [what, secret, headers, path] of unauthenticated) {
  test(`${what} gets the same response, and has no effect`, async (t) => {
    const { call, marked } = await serve(t, secret);

    const answer = await call(push("one"), headers, path);

    assert.deepEqual(answer, {
      status: 401,
      text: "the key or the signature is not accepted\n",
    });
    assert.deepEqual(marked(), []);
  });
}

test("the Secret is read once for each call", async (t) => {
  const { rest, clock, call } = await serve(t);
  await call(push("one"));
  await clock.advance(1_000);
  await call(push("two"));
  assert.deepEqual(rest.reads, Array(2).fill(`secrets ${workspace}/registry`));
});

test("a repeated delivery has no effect, another one does", async (t) => {
  const { rest, clock, call } = await serve(t);
  await call(push("one"));
  assert.deepEqual(await call(push("one")), {
    status: 202,
    text: "this delivery was handled before\n",
  });
  assert.equal(rest.writes.length, 1);

  await clock.advance(1_000);
  await call(push("two"));
  assert.equal(rest.writes.length, 2);
});

test("a failed delivery may be repeated", async (t) => {
  const { rest, clock, call, marked } = await serve(t);
  rest.failNext(serverError());

  assert.deepEqual(await call(push("one")), {
    status: 503,
    text: "cannot request the polls now; retry\n",
  });
  await clock.advance(1_000);
  assert.equal((await call(push("one"))).status, 202);

  assert.deepEqual(marked(), [`${workspace}/web`]);
});

test("a body that is no notification is rejected, for an authenticated sender", async (t) => {
  const { call } = await serve(t);
  assert.equal((await call("repository=web")).status, 400);
  assert.equal((await call("repository=web", {})).status, 401);
});

test("256 KiB are accepted, and one byte more is not, with and without Content-Length", async (t) => {
  const { call, callInParts } = await serve(t);
  const body = JSON.stringify({ repository: "charts/web" }).padEnd(256 * 1024, " ");
  assert.equal((await call(body)).status, 202);
  assert.equal((await call(`${body} `)).status, 413);

  assert.equal(await callInParts([body, " "]), 413);
});

test("a flood is rate limited, and accepted again later", async (t) => {
  const { rest, clock, call } = await serve(t);
  const statuses = new Map<number, number>();
  for (let at = 0; at < 80; at += 1) {
    const { status } = await call("", { authorization: "Bearer wrong" });
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
  }
  assert.deepEqual(Object.fromEntries(statuses), { 401: 50, 429: 30 });
  assert.equal(rest.reads.length, 50, "rejected requests cause no request to the API server");

  await clock.advance(1_000);
  assert.equal((await call(push("one"))).status, 202);
});

test("other paths and methods, and a hub that is not ready, are rejected", async (t) => {
  const { ready, call } = await serve(t);
  assert.equal((await call("", {}, `${workspace}`)).status, 404);
  assert.equal((await call("", {}, `${workspace}/registry/more`)).status, 404);
  assert.equal((await call("", {}, `${workspace}/registry`, "GET")).status, 405);
  ready.why = "starting";
  assert.equal((await call(push("one"))).status, 503);
});
