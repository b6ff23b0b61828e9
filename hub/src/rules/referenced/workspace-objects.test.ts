import assert from "node:assert/strict";
import { formatObjectRef } from "@flotilla/shared/api";
import { connectKube } from "@flotilla/shared/kube/client";
import { secrets } from "@flotilla/shared/kube/objects";
import {
  type HttpApiServer,
  nextDelay,
  respondStatus,
  startHttpApiServer,
} from "@flotilla/shared/kube/testing";
import { silentLog } from "@flotilla/shared/log";
import { createFakeClock } from "@flotilla/shared/time/testing";
import { describe, type TestContext, test } from "vitest";
import type { WorkspaceObject } from "./workspace-object.ts";
import { WorkspaceObjects } from "./workspace-objects.ts";

const namespace = "fleet-default";
const source = { kind: "Secret", name: "source" } as const;
const other = { kind: "Secret", name: "other" } as const;

interface SecretOptions {
  readonly name?: string;
  readonly namespace?: string;
  readonly type?: string;
  readonly labels?: Readonly<Record<string, string>>;
}

function secret(
  password: string,
  {
    name = "source",
    namespace: workspace = namespace,
    type = "Opaque",
    labels,
  }: SecretOptions = {},
) {
  return {
    metadata: { name, namespace: workspace, ...(labels !== undefined && { labels }) },
    type,
    data: { password },
  };
}

async function setUp(t: TestContext, prepare: (server: HttpApiServer) => void = () => undefined) {
  const server = await startHttpApiServer();
  prepare(server);
  const clock = createFakeClock();
  const rest = connectKube({ server: server.url, credentials: { kind: "none" } }, { clock });
  const objects = new WorkspaceObjects({ rest, clock, log: silentLog() });
  const changes: string[] = [];
  let notified = (): void => undefined;
  objects.onChange((where, ref) => {
    changes.push(`${where} ${formatObjectRef(ref)}`);
    notified();
  });
  const stop = new AbortController();
  const running = objects.run(stop.signal);
  t.onTestFinished(async () => {
    stop.abort();
    await running;
    await rest.close();
    await server.close();
  });
  return {
    server,
    clock,
    objects,
    changes,
    async untilChanges(count: number): Promise<void> {
      while (changes.length < count)
        await new Promise<void>((resolve) => {
          notified = resolve;
        });
    },
    requests: () => server.requests.map(({ kind, path }) => `${kind} ${path}`),
  };
}

function passwordOf(known: WorkspaceObject): string | undefined {
  return known.kind === "present" ? known.object.data?.["password"] : undefined;
}

describe("objects of the hub and its agents", () => {
  const own: readonly (readonly [what: string, object: ReturnType<typeof secret>])[] = [
    [
      "the Secret of a registration token",
      secret("x", { type: "fleet.cattle.io/cluster-registration-values" }),
    ],
    ["the key of a webhook", secret("x", { type: "flotilla/webhook" })],
    ["an assignment of an agent", secret("x", { type: "flotilla.dev/assignment" })],
    ["the identity of an agent", secret("x", { name: "flotilla-identity" })],
    ["the bootstrap Secret of an agent", secret("x", { name: "flotilla-bootstrap" })],
    ["a Secret in the hub's namespace", secret("x", { namespace: "flotilla-system" })],
    ["the token of a ServiceAccount", secret("x", { type: "kubernetes.io/service-account-token" })],
    ["a token with which nodes join", secret("x", { type: "bootstrap.kubernetes.io/token" })],
    ["a Secret in the agent's namespace", secret("x", { namespace: "flotilla-agent" })],
  ];
  for (const [what, object] of own) {
    test(`are never sent: ${what}`, async (t) => {
      const { objects } = await setUp(t, (server) => server.put(secrets, object));
      const ref = { kind: "Secret", name: object.metadata.name } as const;
      objects.watch(object.metadata.namespace, ref);

      assert.deepEqual(await objects.known(object.metadata.namespace, ref), { kind: "absent" });
    });
  }
});

describe("referenced objects", () => {
  test("are known after they were read, whether they exist or not", async (t) => {
    const { objects } = await setUp(t, (server) => server.put(secrets, secret("b25l")));
    objects.watch(namespace, source);
    objects.watch(namespace, other);
    assert.deepEqual(objects.get(namespace, source), { kind: "unknown" });

    const [found, absent] = await Promise.all([
      objects.known(namespace, source),
      objects.known(namespace, other),
    ]);

    assert.equal(passwordOf(found), "b25l");
    assert.deepEqual(absent, { kind: "absent" });
  });

  test("notify about changes other than the resourceVersion", async (t) => {
    const { server, objects, changes, untilChanges } = await setUp(t);
    objects.watch(namespace, source);
    await untilChanges(1);

    server.put(secrets, secret("b25l"));
    await untilChanges(2);
    server.put(secrets, secret("b25l"));
    server.put(secrets, secret("b25l", { name: "other" }));
    server.put(secrets, secret("dHdv"));
    await untilChanges(3);
    server.remove(secrets, { namespace, name: "source" });
    await untilChanges(4);

    assert.deepEqual(new Set(changes), new Set(["fleet-default Secret/source"]));
    assert.deepEqual(objects.get(namespace, source), { kind: "absent" });
  });

  test("are sent with their type, labels and annotations, but without kubectl's", async (t) => {
    const { objects } = await setUp(t, (server) => {
      const { metadata, ...rest } = secret("b25l", {
        type: "kubernetes.io/tls",
        labels: { a: "b" },
      });
      const annotations = { c: "d", "kubectl.kubernetes.io/last-applied-configuration": "{}" };
      server.put(secrets, { ...rest, metadata: { ...metadata, annotations } });
    });
    objects.watch(namespace, source);

    const known = await objects.known(namespace, source);

    assert.deepEqual(known.kind === "present" && known.object, {
      type: "kubernetes.io/tls",
      data: { password: "b25l" },
      labels: { a: "b" },
      annotations: { c: "d" },
    });
  });

  test("cause one more request when they are referenced after they were listed", async (t) => {
    const { objects, requests } = await setUp(t, (server) => {
      server.put(secrets, secret("b25l"));
      server.put(secrets, secret("dHdv", { name: "other" }));
    });
    objects.watch(namespace, source);
    await objects.known(namespace, source);
    assert.deepEqual(
      requests().filter((request) => request.startsWith("get")),
      [],
    );

    objects.watch(namespace, other);
    const known = await objects.known(namespace, other);

    assert.equal(passwordOf(known), "dHdv");
    assert.deepEqual(
      requests().filter((request) => request.startsWith("get")),
      ["get /api/v1/namespaces/fleet-default/secrets/other"],
    );
  });

  test("are read again after a failure, with backoff, and waiting callers get the error", async (t) => {
    const { server, clock, objects, untilChanges } = await setUp(t, (prepared) => {
      prepared.put(secrets, secret("b25l"));
      prepared.put(secrets, secret("dHdv", { name: "other" }));
      prepared.next("get", respondStatus(403, "Forbidden"));
    });
    objects.watch(namespace, source);
    await objects.known(namespace, source);
    objects.watch(namespace, other);

    await assert.rejects(objects.known(namespace, other), /injected fault Forbidden/);
    await assert.rejects(objects.known(namespace, other), /injected fault Forbidden/);
    await clock.advance(await nextDelay(clock));
    await untilChanges(2);

    assert.equal(passwordOf(objects.get(namespace, other)), "dHdv");
    assert.equal(server.requests.filter(({ kind }) => kind === "get").length, 2);
  });

  test("do not count as absent while they cannot be listed", async (t) => {
    const { objects, clock, untilChanges } = await setUp(t, (server) => {
      server.put(secrets, secret("b25l"));
      server.next("list", respondStatus(403, "Forbidden"));
    });
    objects.watch(namespace, source);

    await assert.rejects(objects.known(namespace, source), /injected fault Forbidden/);
    assert.deepEqual(objects.get(namespace, source), { kind: "unknown" });
    await assert.rejects(objects.known(namespace, source), /injected fault Forbidden/);

    await clock.advance(await nextDelay(clock));
    await untilChanges(1);
    assert.equal(passwordOf(objects.get(namespace, source)), "b25l");
  });

  test("are watched only in namespaces with references, without large Secrets of Helm and Fleet", async (t) => {
    const { server, objects } = await setUp(t);
    assert.deepEqual(server.requests, []);

    objects.watch(namespace, source);
    objects.watch(namespace, source);
    const { path, query } = await server.arrival("list");
    const watch = await server.arrival("watch");
    objects.unwatch(namespace, source);
    await objects.known(namespace, source);

    assert.equal(path, "/api/v1/namespaces/fleet-default/secrets");
    assert.match(query.get("fieldSelector") ?? "", /^type!=helm\.sh\/release\.v1,/);
    assert.equal(watch.query.get("fieldSelector"), query.get("fieldSelector"));
    objects.unwatch(namespace, source);
    assert.deepEqual(objects.get(namespace, source), { kind: "unknown" });
    objects.watch(namespace, { kind: "ConfigMap", name: "source" });
    const next = await server.arrival("list");
    assert.equal(next.path, "/api/v1/namespaces/fleet-default/configmaps");
    assert.equal(next.query.get("fieldSelector"), null);
  });
});
