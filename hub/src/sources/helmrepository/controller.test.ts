import assert from "node:assert/strict";
import { type HelmRepository, helmRepositories } from "@flotilla/shared/flux";
import {
  createTestClient,
  digestOf,
  indexText,
  type Respond,
  send,
  startTestServer,
} from "@flotilla/shared/source/testing";
import { describe, type TestContext, test } from "vitest";
import { namespace, startTestSources } from "../fluxsource/testing/index.ts";
import { createHelmRepositoryController } from "./controller.ts";

const first = indexText({ web: ["1.0.0"] });
const second = indexText({ web: ["1.0.0", "1.1.0"] });

/** The controller with the real client, and an HTTP server that responds by `server.respond`. */
async function setUp(t: TestContext) {
  const state: { respond: Respond } = { respond: (_, response) => send(response, 404, "") };
  const server = await startTestServer((request, response) => state.respond(request, response));
  const client = createTestClient();
  t.onTestFinished(async () => {
    await client.close();
    await server[Symbol.asyncDispose]();
  });
  const sources = await startTestSources(t);
  const { controller } = createHelmRepositoryController({
    ...sources.deps,
    readIndex: client.readIndex,
  });
  sources.run(controller);
  return {
    ...{ ...sources, server, state },
    create: (spec: Partial<NonNullable<HelmRepository["spec"]>> = {}, name = "charts") =>
      sources.rest.put(helmRepositories, {
        metadata: { name, namespace, uid: `u-${name}`, generation: 1 },
        spec: { url: server.origin, interval: "1h", provider: "generic", ...spec },
      }),
    statusOf: (name = "charts") => sources.get(helmRepositories, name)?.status,
    condition: (type: string, name = "charts") => sources.condition(helmRepositories, name, type),
  };
}

/** An index with an ETag: a conditional request for the same gets 304. */
function index(text: string): Respond {
  const etag = `"${digestOf(text)}"`;
  return ({ headers }, response) =>
    headers["if-none-match"] === etag
      ? send(response, 304, "", { etag })
      : send(response, 200, text, { etag });
}

describe("a HelmRepository", () => {
  test("has the digest of its index as revision, and the address of the index", async (t) => {
    const { server, state, create, statusOf, condition, until, events } = await setUp(t);
    state.respond = index(first);
    create({ url: `${server.origin}/stable/` });

    const artifact = await until(() => statusOf()?.artifact);
    const digest = digestOf(first);
    assert.deepEqual(
      [artifact.revision, artifact.digest, artifact.size],
      [digest, digest, first.length],
    );
    assert.equal(artifact.url, `${server.origin}/stable/index.yaml`);
    assert.equal(artifact.path, `helmrepository/apps/charts/index-${digest.slice(7)}.yaml`);
    assert.equal(statusOf()?.url, artifact.url);
    assert.equal(statusOf()?.observedGeneration, 1);
    assert.equal(condition("Ready")?.message, `stored artifact: revision '${digest}'`);
    assert.equal(condition("ArtifactInStorage")?.reason, "Succeeded");
    assert.deepEqual(events, ["Normal NewArtifact"]);
  });

  test("is requested conditionally, and again in whole when the index has changed", async (t) => {
    const { server, state, create, request, statusOf, until } = await setUp(t);
    const handled = (value: string) =>
      until(() => (statusOf()?.lastHandledReconcileAt === value ? true : undefined));
    state.respond = index(first);
    create();
    const { lastUpdateTime } = await until(() => statusOf()?.artifact);

    request(helmRepositories, "charts", "one");
    await handled("one");
    assert.equal(server.seen[1]?.headers["if-none-match"], `"${digestOf(first)}"`);
    assert.equal(statusOf()?.artifact?.lastUpdateTime, lastUpdateTime);

    state.respond = index(second);
    request(helmRepositories, "charts", "two");
    await handled("two");
    assert.equal(statusOf()?.artifact?.revision, digestOf(second));
    assert.equal(server.seen.length, 3);
  });

  test("sends its credentials, and never shows them", async (t) => {
    const { server, state, create, putSecret, rest, until, statusOf } = await setUp(t);
    const planted = "planted-password";
    state.respond = index(first);
    putSecret("login", { username: "me", password: planted });
    create({ secretRef: { name: "login" } });
    await until(() => statusOf()?.artifact);

    const expected = `Basic ${Buffer.from(`me:${planted}`).toString("base64")}`;
    assert.equal(server.seen.at(-1)?.headers.authorization, expected);
    assert.ok(!JSON.stringify(rest.all(helmRepositories)).includes(planted));
  });

  const failures: readonly (readonly [
    what: string,
    respond: Respond,
    reason: string,
    message: RegExp,
  ])[] = [
    [
      "rejects the login",
      (_, response) => send(response, 401, ""),
      "AuthenticationFailed",
      /index\.yaml.*401.*retrying at/,
    ],
    [
      "has no index",
      (_, response) => send(response, 404, ""),
      "Failed",
      /GET http:.*\/index\.yaml.*404.*retrying at/,
    ],
    [
      "has an index that is not YAML",
      (_, response) => send(response, 200, "{"),
      "IndexationFailed",
      /index\.yaml.*retrying at/,
    ],
  ];
  for (const [what, respond, reason, message] of failures)
    test(`is not Ready and is retried when its server ${what}`, async (t) => {
      const { state, create, condition, statusOf, until, events } = await setUp(t);
      state.respond = respond;
      create();

      const failed = await until(() => condition("FetchFailed"));
      assert.equal(failed.reason, reason);
      assert.match(failed.message ?? "", message);
      assert.equal(condition("Reconciling")?.reason, "ProgressingWithRetry");
      assert.ok(statusOf()?.polling?.nextAttemptTime !== undefined);
      assert.ok(events.includes(`Warning ${reason}`));
    });

  test("is not requested before the time in Retry-After", async (t) => {
    const { server, state, create, statusOf, until } = await setUp(t);
    state.respond = (_, response) => send(response, 429, "", { "retry-after": "3600" });
    create();

    const next = await until(() => statusOf()?.polling?.nextAttemptTime);
    assert.ok(Date.parse(next) > Date.now() + 3_500_000, next);
    assert.equal(server.seen.length, 1);
  });

  test("that does not respond within spec.timeout says so", async (t) => {
    const { state, create, condition, until } = await setUp(t);
    state.respond = () => undefined;
    create({ timeout: "100ms" });

    const failed = await until(() => condition("FetchFailed"));
    assert.match(
      failed.message ?? "",
      /^no complete answer after spec.timeout, 100ms; retrying at/,
    );
  });

  const stalled: readonly (readonly [what: string, url: string])[] = [
    ["without a host", "http://"],
    ["of another scheme", "ftp://charts.example.com"],
  ];
  for (const [what, url] of stalled)
    test(`with an address ${what} is Stalled, without a request`, async (t) => {
      const { server, create, condition, until } = await setUp(t);
      create({ url });

      assert.equal((await until(() => condition("Stalled"))).reason, "URLInvalid");
      assert.equal(server.seen.length, 0);
    });

  test("without a spec is Stalled", async (t) => {
    const { rest, condition, until } = await setUp(t);
    rest.put(helmRepositories, { metadata: { name: "charts", namespace, generation: 1 } });
    const { reason, message } = await until(() => condition("Stalled"));
    assert.deepEqual(
      [reason, message],
      ["URLInvalid", "the HelmRepository has no spec: set spec.url"],
    );
  });

  const registries: readonly Partial<NonNullable<HelmRepository["spec"]>>[] = [
    { type: "oci", url: "oci://registry.example.com/charts" },
    { url: "oci://registry.example.com/charts" },
  ];
  for (const spec of registries)
    test(`with ${JSON.stringify(spec)} has no status and is not requested`, async (t) => {
      const { server, state, create, statusOf, until } = await setUp(t);
      state.respond = index(first);
      create(spec, "registry");
      create();

      await until(() => statusOf()?.artifact);
      assert.equal(statusOf("registry"), undefined);
      assert.deepEqual(server.paths(), ["/index.yaml"]);
    });
});
