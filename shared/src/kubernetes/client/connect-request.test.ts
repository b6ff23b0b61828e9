import assert from "node:assert/strict";
import { describe, it } from "vitest";
import { type ConfigMap, configMaps, namespaces, secrets } from "../objects/index.ts";
import { connected, cutConnection, respondStatus, respondText, stall } from "../testing/index.ts";
import { connectKube } from "./connect.ts";

const settings: ConfigMap = {
  metadata: { name: "settings", namespace: "default" },
  data: { a: "b" },
};
const ref = { namespace: "default", name: "settings" };

describe("a request", () => {
  it("has the credentials and the impersonated user in its headers", async (t) => {
    const { rest, server } = await connected(t, {
      credentials: { kind: "token", token: "secret" },
      impersonate: { user: "system:serviceaccount:a:b", uid: "7", groups: ["x", "y"] },
    });

    await rest.raw("/version").catch(() => undefined);

    const headers = server.requests[0]?.headers ?? {};
    assert.equal(headers.authorization, "Bearer secret");
    assert.equal(headers["user-agent"], "flotilla");
    assert.equal(headers["impersonate-user"], "system:serviceaccount:a:b");
    assert.equal(headers["impersonate-uid"], "7");
    assert.equal(headers["impersonate-group"], "x, y");
  });

  it("of an impersonated client has its user, and uses the same connections, which stay open after it", async (t) => {
    const config = {
      credentials: { kind: "token", token: "secret" },
      impersonate: { user: "alice", uid: "7", groups: ["x"] },
    } as const;
    const { rest, server } = await connected(t, config, 1);
    await rest.get(configMaps, ref);

    const other = rest.as({ user: "system:serviceaccount:a:b", groups: ["y", "z"] });
    await other.get(configMaps, ref);
    await other.close();
    await rest.get(configMaps, ref);

    const [, asOther, again] = server.requests.map(({ headers }) => headers);
    assert.equal(asOther?.authorization, "Bearer secret");
    assert.equal(asOther["impersonate-user"], "system:serviceaccount:a:b");
    assert.equal(asOther["impersonate-uid"], undefined);
    assert.equal(asOther["impersonate-group"], "y, z");
    assert.equal(again?.["impersonate-user"], "alice");
    assert.equal(server.connections, 1);
  });

  it("has the names of an impersonated user in UTF-8, as an API server reads them", async (t) => {
    const { rest, server } = await connected(t);

    await rest.as({ user: "jörg", groups: ["Flotte Süd", "ų"] }).get(configMaps, ref);

    const bytes = (name: string): string =>
      Buffer.from(String(server.requests[0]?.headers[name]), "latin1").toString("utf8");
    assert.equal(bytes("impersonate-user"), "jörg");
    assert.equal(bytes("impersonate-group"), "Flotte Süd, ų");
  });

  it("has a path below that of the server's URL", async (t) => {
    const { rest, server } = await connected(t, { server: "/k8s/clusters/one/" });

    await rest.raw("/version").catch(() => undefined);

    assert.equal(server.requests[0]?.path, "/k8s/clusters/one/version");
  });

  it("that fails has the request and the server in its error", async (t) => {
    const { rest, server } = await connected(t);
    server.next("get", respondStatus(403, "Forbidden"));

    await assert.rejects(rest.get(configMaps, ref), {
      code: "KUBE_FORBIDDEN",
      message: `get configmaps default/settings on ${server.url}: 403 Forbidden: injected fault Forbidden`,
    });
  });

  it("that is denied says what grants the right, if the account is that of the kubeconfig", async (t) => {
    const { server } = await connected(t);
    const rest = connectKube(
      { server: server.url, credentials: { kind: "none" } },
      { grantOf: () => ({ chart: "flotilla-agent", value: "impersonation.namespaces" }) },
    );
    t.onTestFinished(() => rest.close());
    const tenant = "system:serviceaccount:default:deployer";
    const deny = (user: string, verb: string): void => {
      const message = `User "${user}" cannot ${verb} resource "configmaps" in API group "" in the namespace "default"`;
      const status = { kind: "Status", code: 403, reason: "Forbidden", message };
      server.next("get", respondText(403, JSON.stringify(status)));
    };
    const granted = "; the value impersonation.namespaces of the chart flotilla-agent grants it";
    const impersonated = rest.as({ user: tenant, groups: [] });

    deny("system:serviceaccount:flotilla-agent:own", "get");
    await assert.rejects(rest.get(configMaps, ref), {
      message: `get configmaps default/settings on ${server.url}: 403 Forbidden: service account flotilla-agent/own may not get configmaps of API group "" in namespace default${granted}`,
    });
    deny(tenant, "get");
    await assert.rejects(impersonated.get(configMaps, ref), {
      message:
        /service account default\/deployer may not get configmaps of API group "" in namespace default$/,
    });
    deny("system:serviceaccount:flotilla-agent:own", "impersonate");
    await assert.rejects(impersonated.get(configMaps, ref), {
      message:
        /service account flotilla-agent\/own may not impersonate .* of the chart flotilla-agent grants it$/,
    });
  });

  it("that fails does not repeat a server's message about a Secret", async (t) => {
    const { rest, server } = await connected(t);
    const causes = [
      { field: "data[a]", reason: "FieldValueInvalid", message: 'Invalid value: "hunter2"' },
    ];
    const status = {
      kind: "Status",
      code: 422,
      reason: "Invalid",
      message: "hunter2 is invalid",
      details: { causes },
    };
    server.next("write", (response) => {
      response.writeHead(422);
      response.end(JSON.stringify(status));
    });

    await assert.rejects(rest.create(secrets, { metadata: ref }), {
      code: "KUBE_INVALID",
      retryable: false,
      message: `create secrets default/settings on ${server.url}: 422 Invalid: data[a]: FieldValueInvalid`,
    });
  });

  it("for a kind that is not served is an error, not an absence", async (t) => {
    const { rest, server } = await connected(t);
    server.next("get", respondText(404, "404 page not found\n"));
    server.next("get", respondStatus(404, "NotFound"));
    server.next("write", respondText(404, "404 page not found\n"));

    await assert.rejects(rest.get(configMaps, ref), {
      code: "KUBE_NOT_FOUND",
      message: /404: 404 page not found$/,
    });
    await assert.rejects(rest.get(configMaps, ref), { code: "KUBE_NOT_FOUND" });
    await assert.rejects(rest.delete(configMaps, ref), { code: "KUBE_NOT_FOUND" });
  });

  it("fails when the response is not JSON", async (t) => {
    const { rest, server } = await connected(t);
    server.next("list", respondText(200, "<html>log in</html>"));
    server.next("list", respondText(200, "{}"));

    await assert.rejects(rest.list(namespaces), {
      code: "KUBE_BAD_RESPONSE",
      message: /19 characters that are not JSON/,
    });
    await assert.rejects(rest.list(namespaces), {
      code: "KUBE_BAD_RESPONSE",
      message: /it is not a list/,
    });
  });

  it("fails after 10 s without a response", async (t) => {
    const { rest, server, clock } = await connected(t);
    server.next("write", stall);

    const creating = rest.create(configMaps, settings);
    await server.arrival("write");
    clock.advanceNow(10_000);

    await assert.rejects(creating, {
      code: "KUBE_UNREACHABLE",
      message: /: no response within 10 s$/,
    });
  });

  it("returns a response that arrived in time and is read late, by a process that was frozen", async (t) => {
    const { rest, server, clock } = await connected(t);
    server.next("get", (response) => {
      // With the other timers, after which the process reads.
      setTimeout(() => {
        response.end(JSON.stringify(settings));
        clock.advanceNow(20_000);
      });
    });

    assert.deepEqual(await rest.get(configMaps, ref), settings);
  });

  it("has its own timeout when it is set, and sends it to the server", async (t) => {
    const { rest, server, clock } = await connected(t);
    server.next("write", stall);

    const creating = rest.create(configMaps, settings, { timeoutMs: 2500 });
    const { query } = await server.arrival("write");
    clock.advanceNow(2500);

    assert.equal(query.get("timeout"), "2500ms");
    await assert.rejects(creating, { message: /no response within 2.5 s/ });
  });

  it("is cancelled at once when its signal aborts", async (t) => {
    const { rest, server } = await connected(t);
    server.next("get", stall);
    const abort = new AbortController();

    const getting = rest.get(configMaps, ref, { signal: abort.signal });
    await server.arrival("get");
    abort.abort(new Error("too late"));

    await assert.rejects(getting, { code: "CANCELLED", message: /cancelled$/ });
    await assert.rejects(rest.get(configMaps, ref, { signal: abort.signal }), {
      code: "CANCELLED",
    });
    assert.equal(server.requests.length, 1);
  });

  it("fails when no server listens", async (t) => {
    const { rest, server } = await connected(t);
    await server.close();

    await assert.rejects(rest.get(configMaps, ref), {
      code: "KUBE_UNREACHABLE",
      retryable: true,
      message: /ECONNREFUSED/,
    });
  });

  it("that only reads is sent again when its connection is cut", async (t) => {
    const { rest, server } = await connected(t);
    server.put(configMaps, settings);
    server.next("get", cutConnection);

    assert.equal((await rest.get(configMaps, ref))?.metadata.name, "settings");
    server.next("write", cutConnection);
    await assert.rejects(rest.create(configMaps, settings), { code: "KUBE_UNREACHABLE" });
    assert.deepEqual(
      server.requests.map(({ kind }) => kind),
      ["get", "get", "write"],
    );
  });

  it("waits for the Retry-After of a busy server and is sent again when it is idempotent", async (t) => {
    const { rest, server, clock } = await connected(t);
    server.put(configMaps, settings);
    server.next("get", respondStatus(429, "TooManyRequests", { "retry-after": "2" }));
    server.next("write", respondStatus(429, "TooManyRequests", { "retry-after": "2" }));

    const getting = rest.get(configMaps, ref);
    clock.advanceNow(await clock.timer((delayMs) => delayMs === 2000));
    assert.equal((await getting)?.metadata.name, "settings");

    await assert.rejects(rest.create(configMaps, settings), {
      code: "KUBE_TOO_MANY_REQUESTS",
      retryAfterMs: 2000,
    });
  });

  it("gets its response while a hundred watches are open", async (t) => {
    const { rest, server } = await connected(t);
    const abort = new AbortController();
    const watching = Array.from({ length: 100 }, async () => {
      for await (const _ of rest.watch(configMaps, {
        resourceVersion: "1",
        timeoutSeconds: 300,
        signal: abort.signal,
      }));
    });
    for (let count = 0; count < 100; count++) await server.opened();

    await rest.create(configMaps, settings);

    abort.abort();
    await Promise.all(watching);
  });
});
