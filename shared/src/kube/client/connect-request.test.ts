import assert from "node:assert/strict";
import { describe, it } from "vitest";
import { type ConfigMap, configMaps, namespaces, secrets } from "../objects/core-resources.ts";
import { connected } from "../testing/connected.ts";
import {
  answersStatus,
  answersText,
  cutsConnection,
  staysSilent,
} from "../testing/unruly-server.ts";

const settings: ConfigMap = {
  metadata: { name: "settings", namespace: "default" },
  data: { a: "b" },
};
const ref = { namespace: "default", name: "settings" };

describe("a request", () => {
  it("says who asks", async (t) => {
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

  it("as somebody else says so instead, over the same connections, which outlive it", async (t) => {
    const config = {
      credentials: { kind: "token", token: "secret" },
      impersonate: { user: "somebody", uid: "7", groups: ["x"] },
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
    assert.equal(again?.["impersonate-user"], "somebody");
    assert.equal(server.connections, 1);
  });

  it("goes below the path of the server's address", async (t) => {
    const { rest, server } = await connected(t, { server: "/k8s/clusters/one/" });

    await rest.raw("/version").catch(() => undefined);

    assert.equal(server.requests[0]?.path, "/k8s/clusters/one/version");
  });

  it("says what was asked of whom when it fails", async (t) => {
    const { rest, server } = await connected(t);
    server.next("get", answersStatus(403, "Forbidden"));

    await assert.rejects(rest.get(configMaps, ref), {
      code: "KUBE_FORBIDDEN",
      message: `get configmaps default/settings on ${server.url}: 403 Forbidden: told to say Forbidden`,
    });
  });

  it("does not repeat what a server says about a secret", async (t) => {
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
    server.next("get", answersText(404, "404 page not found\n"));
    server.next("get", answersStatus(404, "NotFound"));
    server.next("write", answersText(404, "404 page not found\n"));

    await assert.rejects(rest.get(configMaps, ref), {
      code: "KUBE_NOT_FOUND",
      message: /404: 404 page not found$/,
    });
    await assert.rejects(rest.get(configMaps, ref), { code: "KUBE_NOT_FOUND" });
    await assert.rejects(rest.delete(configMaps, ref), { code: "KUBE_NOT_FOUND" });
  });

  it("that is answered with something else than JSON fails", async (t) => {
    const { rest, server } = await connected(t);
    server.next("list", answersText(200, "<html>log in</html>"));
    server.next("list", answersText(200, "{}"));

    await assert.rejects(rest.list(namespaces), {
      code: "KUBE_BAD_ANSWER",
      message: /19 characters that are not JSON/,
    });
    await assert.rejects(rest.list(namespaces), {
      code: "KUBE_BAD_ANSWER",
      message: /it is not a list/,
    });
  });

  it("is given up when there is no answer within 10 s", async (t) => {
    const { rest, server, clock } = await connected(t);
    server.next("write", staysSilent);

    const creating = rest.create(configMaps, settings);
    await server.arrival("write");
    clock.advanceNow(10_000);

    await assert.rejects(creating, {
      code: "KUBE_UNREACHABLE",
      message: /: no answer within 10 s$/,
    });
  });

  it("takes an answer that came in time and is read late, by a process that stood still", async (t) => {
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

  it("has its own time where it says so, and tells the server", async (t) => {
    const { rest, server, clock } = await connected(t);
    server.next("write", staysSilent);

    const creating = rest.create(configMaps, settings, { timeoutMs: 2500 });
    const { query } = await server.arrival("write");
    clock.advanceNow(2500);

    assert.equal(query.get("timeout"), "2500ms");
    await assert.rejects(creating, { message: /no answer within 2.5 s/ });
  });

  it("is given up at once when its signal aborts", async (t) => {
    const { rest, server } = await connected(t);
    server.next("get", staysSilent);
    const abort = new AbortController();

    const getting = rest.get(configMaps, ref, { signal: abort.signal });
    await server.arrival("get");
    abort.abort(new Error("too late"));

    await assert.rejects(getting, { code: "CANCELLED", message: /given up$/ });
    await assert.rejects(rest.get(configMaps, ref, { signal: abort.signal }), {
      code: "CANCELLED",
    });
    assert.equal(server.requests.length, 1);
  });

  it("fails when nobody listens", async (t) => {
    const { rest, server } = await connected(t);
    await server.close();

    await assert.rejects(rest.get(configMaps, ref), {
      code: "KUBE_UNREACHABLE",
      retryable: true,
      message: /ECONNREFUSED/,
    });
  });

  it("that only reads is made again when its connection is cut", async (t) => {
    const { rest, server } = await connected(t);
    server.put(settings);
    server.next("get", cutsConnection);

    assert.equal((await rest.get(configMaps, ref))?.metadata.name, "settings");
    server.next("write", cutsConnection);
    await assert.rejects(rest.create(configMaps, settings), { code: "KUBE_UNREACHABLE" });
    assert.deepEqual(
      server.requests.map(({ kind }) => kind),
      ["get", "get", "write"],
    );
  });

  it("waits for a server that asks to slow down, where doing it twice does no harm", async (t) => {
    const { rest, server, clock } = await connected(t);
    server.put(settings);
    server.next("get", answersStatus(429, "TooManyRequests", { "retry-after": "2" }));
    server.next("write", answersStatus(429, "TooManyRequests", { "retry-after": "2" }));

    const getting = rest.get(configMaps, ref);
    clock.advanceNow(await clock.timer((delayMs) => delayMs === 2000));
    assert.equal((await getting)?.metadata.name, "settings");

    await assert.rejects(rest.create(configMaps, settings), {
      code: "KUBE_TOO_MANY_REQUESTS",
      retryAfterMs: 2000,
    });
  });

  it("is answered while a hundred watches are open", async (t) => {
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
