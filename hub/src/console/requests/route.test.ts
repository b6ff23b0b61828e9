/** Requests over HTTP to two replicas, on an API server in memory. */
import assert from "node:assert/strict";
import type { Bundle, BundleDeployment, Cluster } from "@flotilla/shared/api";
import {
  bundleNameLabel,
  bundleNamespaceLabel,
  clusterLabel,
  clusterNamespaceLabel,
  helmOpLabel,
  requestsAudience,
  tokenHeader,
} from "@flotilla/shared/api/names";
import { silentLog } from "@flotilla/shared/log";
import { startHttpServer } from "@flotilla/shared/program";
import { createFakeClock } from "@flotilla/shared/time/testing";
import { describe, type TestContext, test } from "vitest";
import type { AnswerSink, NewRequest, OpenedRequest } from "../../link/dispatch/agent-requests.ts";
import { replicaLinks } from "../../link/replicalink/testing/index.ts";
import { requestRoute } from "./route.ts";
import { createUserRequests } from "./user-requests.ts";

const token = "a.b.c";
const history = "/requests/v1/namespaces/shop/helmops/web/history";

interface Asked {
  readonly cluster: string;
  readonly request: NewRequest;
  readonly sink: AnswerSink;
}

interface Options {
  readonly agent?: object;
  readonly opened?: OpenedRequest;
  readonly allowed?: boolean;
  readonly audiences?: readonly string[];
}

/** The replicas `a` and `b`; the agent is connected to `b`. */
async function setUp(
  t: TestContext,
  {
    agent = { connected: true, replica: "b" },
    opened,
    allowed = true,
    audiences = [requestsAudience],
  }: Options = {},
) {
  const clock = createFakeClock();
  const asked: (Asked & { readonly replica: string })[] = [];
  const reviews: string[] = [];
  const addresses = new Map<string, string>();
  const linkAddresses = new Map<string, string>();
  const waiting: (() => void)[] = [];
  let cancelled = 0;
  function changed(): void {
    for (const resolve of waiting.splice(0)) resolve();
  }
  function cancel(): void {
    cancelled += 1;
    changed();
  }
  const labels = {
    ...{ [bundleNamespaceLabel]: "shop", [bundleNameLabel]: "web" },
    ...{ [clusterNamespaceLabel]: "shop", [clusterLabel]: "paris" },
  };
  const deployment = { metadata: { namespace: "cluster-paris", name: "web", uid: "1", labels } };
  const bundle = { metadata: { name: "web", labels: { [helmOpLabel]: "web" } } };
  const linkTo = await replicaLinks(t, "hub-id");
  async function start(replica: string): Promise<void> {
    const link = await linkTo(replica);
    const requests = createUserRequests({
      bundles: { get: () => bundle as unknown as Bundle },
      deployments: { byIndex: () => [deployment as unknown as BundleDeployment] },
      clusters: {
        get: () => ({ metadata: { name: "paris" }, status: { agent } }) as unknown as Cluster,
      },
      groups: { byIndex: () => [] },
      ...{ replica, link, clock, log: silentLog() },
      addressOf: (of) => linkAddresses.get(of),
      ask(cluster, request, sink) {
        asked.push({ replica, cluster, request, sink });
        changed();
        return opened ?? { kind: "open", cancel };
      },
    });
    link.answer(requests.answerReplica);
    linkAddresses.set(replica, link.address);
    const route = requestRoute({
      rest: {
        raw(path, { body = "" } = {}) {
          reviews.push(`${path} ${body}`);
          const user = { username: "system:serviceaccount:shop:reader", groups: ["g"], uid: "7" };
          return Promise.resolve(
            JSON.stringify({
              status: path.includes("tokenreviews")
                ? { authenticated: true, audiences, user }
                : { allowed },
            }),
          );
        },
      },
      ...{ requests, clock, notReady: () => undefined },
    });
    const listen = { host: "127.0.0.1", port: 0 };
    const server = await startHttpServer({ listen, routes: { "/requests/": route } });
    t.onTestFinished(() => server.close());
    addresses.set(replica, server.address);
  }
  await start("a");
  await start("b");
  return {
    ...{ clock, asked, reviews, addresses },
    get cancelled() {
      return cancelled;
    },
    send: (replica = "a", path = history, headers = { [tokenHeader]: token }, more = {}) =>
      fetch(`http://${addresses.get(replica)}${path}`, { headers, ...more }),
    async until(isTrue: () => boolean): Promise<void> {
      while (!isTrue()) await new Promise<void>((resolve) => void waiting.push(resolve));
    },
  };
}

async function messageOf(answer: Response): Promise<string> {
  const { kind, message } = (await answer.json()) as { kind: string; message: string };
  assert.equal(kind, "Status");
  return message;
}

describe("a request", () => {
  for (const replica of ["a", "b"])
    test(`to replica ${replica} is answered by the agent, which is connected to b`, async (t) => {
      const hub = await setUp(t);

      const answering = hub.send(replica);
      await hub.until(() => hub.asked.length > 0);
      const { replica: at, cluster, request, sink } = hub.asked[0] ?? assert.fail();
      const [one, other] = [Buffer.from("é").subarray(0, 1), Buffer.from("é").subarray(1)];
      sink.data(Buffer.concat([Buffer.from("caf"), one]));
      sink.data(other);
      sink.end({});
      const answer = await answering;

      assert.equal(await answer.text(), '{"data":"caf"}\n{"data":"é"}\n{"end":{}}\n');
      assert.equal(answer.status, 200);
      assert.deepEqual({ at, cluster }, { at: "b", cluster: "shop/paris" });
      assert.deepEqual(request, {
        ...{ deployment: { name: "web", uid: "1" }, body: { kind: "history" } },
      });
    });

  test("is reviewed by the API server, for the subresource in the workspace", async (t) => {
    const hub = await setUp(t, { allowed: false });

    const answer = await hub.send("b");

    assert.equal(answer.status, 403);
    assert.equal(
      await messageOf(answer),
      "system:serviceaccount:shop:reader may not get bundledeployments/history of API group fleet.cattle.io in namespace shop",
    );
    const [tokenReview = "", accessReview = ""] = hub.reviews;
    assert.match(tokenReview, /"token":"a\.b\.c","audiences":\["flotilla-requests"\]/);
    assert.match(accessReview, /"subresource":"history","namespace":"shop","verb":"get"/);
    assert.match(accessReview, /"user":"system:serviceaccount:shop:reader","uid":"7"/);
  });

  test("has the failure of the agent at its end", async (t) => {
    const hub = await setUp(t);

    const answering = hub.send("b");
    await hub.until(() => hub.asked.length > 0);
    hub.asked[0]?.sink.end({ failure: { code: "REQUEST_FAILED", message: "no pod" } });

    const text = await (await answering).text();
    assert.equal(text, '{"end":{"code":"REQUEST_FAILED","message":"no pod"}}\n');
  });

  test("is cancelled at the agent when its client goes, also over another replica", async (t) => {
    const hub = await setUp(t);
    const client = new AbortController();

    const answering = hub.send("a", history, undefined, { signal: client.signal });
    await answering;
    client.abort();
    await hub.until(() => hub.cancelled > 0);

    assert.equal(hub.cancelled, 1);
  });

  test("is cancelled when the agent does not answer in time", async (t) => {
    const hub = await setUp(t);

    const answer = await hub.send("b");
    hub.clock.advanceNow(35_000);

    assert.match(await answer.text(), /REQUEST_INTERRUPTED.*no complete answer after 35 s/);
    assert.equal(hub.cancelled, 1);
  });
});

describe("a request is rejected", () => {
  const cases: readonly (readonly [string, Options, number, RegExp])[] = [
    ["without a token for the hub", { audiences: ["api"] }, 401, /does not accept the token/],
    [
      "if the agent is offline",
      { agent: { connected: false, lastSeen: "2026-01-01T00:00:00Z" } },
      503,
      /^the agent of Cluster shop\/paris is offline since 2026-01-01T00:00:00Z$/,
    ],
    ["if it has gone meanwhile", { opened: { kind: "offline" } }, 503, /not connected to this/],
    ["if the agent is older", { opened: { kind: "outdated" } }, 501, /upgrade the agent$/],
    ["if the agent is busy", { opened: { kind: "busy" } }, 429, /answers other requests/],
    [
      "if the other replica has no address",
      { agent: { connected: true, replica: "c" } },
      501,
      /replica c of the hub, which does not publish its address/,
    ],
  ];
  for (const [name, options, status, message] of cases)
    test(name, async (t) => {
      const answer = await (await setUp(t, options)).send();

      assert.equal(answer.status, status);
      assert.match(await messageOf(answer), message);
    });

  test("if its address or its method is another one, before the API server is asked", async (t) => {
    const hub = await setUp(t);

    assert.equal((await hub.send("a", "/requests/v1/x")).status, 400);
    assert.equal((await hub.send("a", history, undefined, { method: "POST" })).status, 400);
    assert.equal((await hub.send("a", history, { [tokenHeader]: "no token" })).status, 401);
    assert.deepEqual(hub.reviews, []);
  });

  test("if the user has four others in progress", async (t) => {
    const hub = await setUp(t);

    for (let count = 0; count < 4; count += 1) await hub.send("b");
    const fifth = await hub.send("b");

    assert.equal(fifth.status, 429);
    assert.match(await messageOf(fifth), /has 4 other requests in progress/);
    hub.asked[0]?.sink.end({});
    assert.equal((await hub.send("b")).status, 200);
  });
});
