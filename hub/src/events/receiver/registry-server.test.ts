/** The endpoint as registries call it, over HTTP, on an API server in memory. */
import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { setImmediate as nextTurn } from "node:timers/promises";
import { type HelmOp, helmOps } from "@flotilla/shared/api";
import { pollRequestAnnotation, webhookSecretType } from "@flotilla/shared/api/names";
import { createStore } from "@flotilla/shared/kube/cache";
import { type Secret, secrets } from "@flotilla/shared/kube/objects";
import {
  createMemoryApiServer,
  type MemoryApiServer,
  serverError,
} from "@flotilla/shared/kube/testing";
import { silentLog } from "@flotilla/shared/log";
import { startHttpServer } from "@flotilla/shared/program";
import { createFakeClock } from "@flotilla/shared/time/testing";
import { type TestContext, test } from "vitest";
import { aHelmOp, workspace } from "../../testing/index.ts";
import { createRegistryKeys } from "./registry-keys.ts";
import { createRegistryServer } from "./registry-server.ts";
import { createReconcileRequests } from "./request-reconciles.ts";
import { webhookRoute } from "./route.ts";

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
  const keys = createRegistryKeys(rest, silentLog());
  const ending = new AbortController();
  const watching = keys.run(ending.signal);
  t.onTestFinished(async () => {
    ending.abort();
    await watching;
  });
  while (!rest.reads.some((read) => read.startsWith("list secrets"))) await nextTurn();
  await nextTurn();
  const annotation = pollRequestAnnotation;
  const requestPolls = createReconcileRequests({ rest, clock, annotation });
  const webhook = createRegistryServer({ keys, store, requestPolls, clock, log: silentLog() });
  const server = await startHttpServer({
    listen: { host: "127.0.0.1", port: 0 },
    routes: { "/hooks/": webhookRoute(webhook, { notReady: () => ready.why }) },
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
  return { rest, clock, ready, webhook, call, callInParts, marked };
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

/** The reads of single objects. */
function readsOf(rest: MemoryApiServer): readonly string[] {
  return rest.reads.filter((read) => !read.startsWith("list "));
}

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

test("the Secret is read once for each call with its key", async (t) => {
  const { rest, clock, call } = await serve(t);
  await call(push("one"));
  await clock.advance(1_000);
  await call(push("two"));
  assert.deepEqual(readsOf(rest), Array(2).fill(`secrets ${workspace}/registry`));
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

test("a body that is not a notification is rejected, for an authenticated sender", async (t) => {
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

test("calls with the right key are rate limited, and accepted again later", async (t) => {
  const { clock, call } = await serve(t);
  const statuses = new Map<number, number>();
  for (let at = 0; at < 80; at += 1) {
    const { status } = await call(push(String(at), "charts/nobody-uses"));
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
  }
  assert.deepEqual(Object.fromEntries(statuses), { 202: 50, 429: 30 });

  await clock.advance(1_000);
  assert.equal((await call(push("later"))).status, 202);
});

test("a flood of calls with wrong keys and signatures costs callers with the right key nothing", async (t) => {
  const { rest, call } = await serve(t);
  for (let at = 0; at < 200; at += 1) {
    const headers =
      at % 2 === 0 ? { authorization: "Bearer wrong" } : { "x-signature": "sha256=0" };
    assert.equal((await call(push(String(at)), headers)).status, 401);
  }
  assert.deepEqual(readsOf(rest), []);

  assert.equal((await call(push("one"))).status, 202);
});

test("bodies that stay incomplete do not keep a signed call out, nor one with the right key", async (t) => {
  const { webhook, clock } = await serve(t);
  const evicted: number[] = [];
  const admit = (from: string, at: number, more: Readonly<Record<string, string>> = {}) => {
    const headers: Readonly<Record<string, string>> = { "x-signature": "sha256=0", ...more };
    return webhook.admit({
      method: "POST",
      path: `/hooks/${workspace}/registry`,
      header: (name) => headers[name] ?? "",
      from,
      evict: () => void evicted.push(at),
    });
  };
  for (let at = 0; at < 300; at += 1) await admit("attacker", at);
  await clock.advance(1_000);

  assert.equal((await admit("other", 1_000)).kind, "admitted");
  assert.equal((await admit("attacker", 1_001)).kind, "admitted");
  assert.equal((await admit("attacker", 1_002, { authorization })).kind, "admitted");

  assert.deepEqual(evicted, [0, 1]);
});

test("a key that was just revoked is rejected, also before the watch delivers that", async (t) => {
  const { rest, call } = await serve(t);
  rest.remove(secrets, hook().metadata);

  assert.equal((await call(push("one"))).status, 401);
});

test("other paths and methods, and a hub that is not ready, are rejected", async (t) => {
  const { ready, call } = await serve(t);
  assert.equal((await call("", {}, `${workspace}`)).status, 404);
  assert.equal((await call("", {}, `${workspace}/registry/more`)).status, 404);
  assert.equal((await call("", {}, `${workspace}/registry`, "GET")).status, 405);
  ready.why = "starting";
  assert.equal((await call(push("one"))).status, 503);
});
