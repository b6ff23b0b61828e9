/** The client with a real API server: authentication, requests, and responses. */
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { testDir } from "@flotilla/local/testing";
import { parseExact } from "@flotilla/shared/json";
import {
  connectKube,
  isAlreadyExists,
  isConflict,
  isNotFound,
  type KubeConfig,
  type KubeRest,
  loadKubeconfig,
} from "@flotilla/shared/kube/client";
import {
  type CustomResourceDefinition,
  configMaps,
  customResourceDefinitions,
  type KubeObject,
  namespaces,
  type Resource,
  secrets,
  serviceAccounts,
} from "@flotilla/shared/kube/objects";
import { afterAll, describe, it } from "vitest";
import { leaseControlPlane } from "../harness/control-planes.ts";

const plane = await leaseControlPlane("hub");
const admin = await loadKubeconfig({ path: plane.kubeconfig });
const rest = connectKube(admin);
afterAll(() => rest.close());

let count = 0;

/** A namespace of its own for a test. */
async function freshNamespace(): Promise<string> {
  const name = `client-${++count}`;
  await rest.create(namespaces, { metadata: { name } });
  return name;
}

/** Resolves with the object once it is as desired, by a watch. */
async function once<T extends KubeObject>(
  resource: Resource<T>,
  namespace: string,
  name: string,
  isDesired: (object: T) => boolean,
): Promise<T> {
  const scope = resource.namespaced ? { namespace } : {};
  const { items, resourceVersion } = await rest.list(resource, {
    ...scope,
    fieldSelector: `metadata.name=${name}`,
  });
  const found = items.find(isDesired);
  if (found !== undefined) return found;
  for await (const event of rest.watch(resource, {
    ...scope,
    fieldSelector: `metadata.name=${name}`,
    resourceVersion,
    timeoutSeconds: 60,
  })) {
    if (event.type !== "BOOKMARK" && isDesired(event.object)) return event.object;
  }
  throw new Error(`${resource.kind} ${name} did not reach the desired state`);
}

async function withRest<R>(config: KubeConfig, use: (other: KubeRest) => Promise<R>): Promise<R> {
  const other = connectKube(config);
  try {
    return await use(other);
  } finally {
    await other.close();
  }
}

describe("the user", () => {
  it("is a client certificate", async () => {
    assert.match(await rest.raw("/version"), /gitVersion/);
  });

  it("is rejected without credentials, and the error names the user", async () => {
    const { clientCertificate: _, ...anonymous } = admin;

    await withRest(anonymous, async (other) => {
      await assert.rejects(other.list(secrets), {
        code: "KUBE_FORBIDDEN",
        message: /system:anonymous/,
      });
    });
    await withRest(
      { ...anonymous, credentials: { kind: "token", token: "wrong" } },
      async (other) => {
        await assert.rejects(other.list(secrets), { code: "KUBE_UNAUTHORIZED" });
      },
    );
  });

  it("is a service account, with a token in a file that is replaced while it is used", async (t) => {
    const namespace = await freshNamespace();
    await rest.create(serviceAccounts, { metadata: { name: "robot", namespace } });
    const annotations = { "kubernetes.io/service-account.name": "robot" };
    await rest.create(secrets, {
      metadata: { name: "robot", namespace, annotations },
      type: "kubernetes.io/service-account-token",
    });
    const secret = await once(
      secrets,
      namespace,
      "robot",
      ({ data }) => data?.["token"] !== undefined,
    );
    const path = join(await testDir(t), "token");
    await writeFile(path, "outdated");
    const { clientCertificate: _, ...anonymous } = admin;

    await withRest({ ...anonymous, credentials: { kind: "token-file", path } }, async (other) => {
      await assert.rejects(other.list(secrets), { code: "KUBE_UNAUTHORIZED" });
      await writeFile(path, Buffer.from(secret.data?.["token"] ?? "", "base64"));
      // It reads the file again when it is rejected, before the old token is considered stale.
      await assert.rejects(other.list(secrets), {
        code: "KUBE_FORBIDDEN",
        message: new RegExp(`service account ${namespace}/robot may not list secrets`),
      });
    });
  });

  it("is impersonated when the kubeconfig says so", async () => {
    const impersonate = { user: "jane", groups: ["system:masters"] };

    await withRest({ ...admin, impersonate }, async (other) => {
      assert.notEqual(await other.get(namespaces, { name: "default" }), undefined);
    });
    await withRest({ ...admin, impersonate: { user: "jane", groups: [] } }, async (other) => {
      await assert.rejects(other.list(secrets), {
        code: "KUBE_FORBIDDEN",
        message: /user "jane" may not list secrets of API group "" at the cluster scope$/,
      });
    });
  });
});

describe("the server", () => {
  it("is not trusted without the right authority, or under another name", async () => {
    const { caData: _, ...trusting } = admin;

    await withRest(trusting, async (other) => {
      await assert.rejects(other.raw("/version"), {
        code: "KUBE_UNREACHABLE",
        message: /certificate/,
      });
    });
    await withRest({ ...admin, tlsServerName: "other.test" }, async (other) => {
      await assert.rejects(other.raw("/version"), {
        code: "KUBE_UNREACHABLE",
        message: /other\.test/,
      });
    });
    await withRest({ ...trusting, insecureSkipTlsVerify: true }, async (other) => {
      assert.match(await other.raw("/version"), /gitVersion/);
    });
    await withRest({ ...admin, tlsServerName: "kubernetes.default.svc" }, async (other) => {
      assert.match(await other.raw("/version"), /gitVersion/);
    });
  });
});

describe("a proxy", () => {
  it("is used when the kubeconfig names one", async (t) => {
    const asked: (string | undefined)[] = [];
    const proxy = createServer();
    proxy.on("connect", (request, socket: Socket) => {
      asked.push(request.url);
      const { hostname, port } = new URL(plane.server);
      const onward = connect(Number(port), hostname, () => {
        socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
        onward.pipe(socket).pipe(onward);
      });
      for (const one of [socket, onward]) one.on("error", () => onward.destroy());
      socket.on("close", () => onward.destroy());
    });
    await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
    t.onTestFinished(() => void proxy.close());
    const address = proxy.address();
    assert.ok(typeof address === "object" && address !== null);

    await withRest({ ...admin, proxyUrl: `http://127.0.0.1:${address.port}` }, async (other) => {
      assert.match(await other.raw("/version"), /gitVersion/);
    });

    assert.deepEqual(asked, [new URL(plane.server).host]);
  });
});

describe("objects", () => {
  it("are created, replaced, patched and deleted", async () => {
    const namespace = await freshNamespace();
    const ref = { namespace, name: "settings" };

    const created = await rest.create(configMaps, { metadata: ref, data: { a: "1" } });
    const replaced = await rest.replace(configMaps, { ...created, data: { a: "2" } });
    const merged = await rest.patch(configMaps, ref, { type: "merge", body: { data: { b: "1" } } });
    const patched = await rest.patch(configMaps, ref, {
      type: "json",
      body: [{ op: "replace", path: "/data/b", value: "2" }],
    });
    const body = { apiVersion: "v1", kind: "ConfigMap", metadata: ref, data: { c: "1" } };
    const applied = await rest.patch(
      configMaps,
      ref,
      { type: "apply", body },
      { fieldManager: "test" },
    );

    assert.deepEqual(
      [created, replaced, merged, patched, applied].map(({ data }) => data),
      [{ a: "1" }, { a: "2" }, { a: "2", b: "1" }, { a: "2", b: "2" }, { a: "2", b: "2", c: "1" }],
    );
    await assert.rejects(rest.create(configMaps, { metadata: ref }), isAlreadyExists);
    await assert.rejects(rest.replace(configMaps, created), isConflict);
    await assert.rejects(rest.delete(configMaps, ref, { uid: "another" }), isConflict);
    await assert.rejects(
      rest.create(configMaps, { metadata: { ...ref, namespace: "nowhere" } }),
      isNotFound,
    );
    assert.equal(await rest.delete(configMaps, ref, { uid: created.metadata.uid ?? "" }), true);
    assert.equal(await rest.get(configMaps, ref), undefined);
    assert.equal(await rest.delete(configMaps, ref), false);
  });

  it("are validated by a dry run", async () => {
    const namespace = await freshNamespace();

    const tried = await rest.create(
      configMaps,
      { metadata: { namespace, name: "tried" } },
      { dryRun: true },
    );

    assert.notEqual(tried.metadata.uid, undefined);
    assert.equal(await rest.get(configMaps, { namespace, name: "tried" }), undefined);
  });

  it("that are invalid are rejected without a retry, with what to change", async () => {
    await assert.rejects(rest.create(namespaces, { metadata: { name: "Not_Valid" } }), {
      code: "KUBE_INVALID",
      retryable: false,
      message: /metadata\.name/,
    });
  });

  it("of a kind that is not served are an error", async () => {
    const ref = { namespace: "default", name: "a" };

    for (const unknown of [
      { ...configMaps, group: "nope.test", plural: "things" },
      { ...configMaps, plural: "things" },
      { ...configMaps, group: "apps", version: "v9", plural: "deployments" },
    ]) {
      await assert.rejects(rest.get(unknown, ref), { code: "KUBE_NOT_FOUND" });
      await assert.rejects(rest.delete(unknown, ref), { code: "KUBE_NOT_FOUND" });
    }
  });

  it("are listed in pages of one resource version", async () => {
    const namespace = await freshNamespace();
    const names = Array.from({ length: 25 }, (_, index) => `n${String(index).padStart(2, "0")}`);
    await Promise.all(
      names.map((name) => rest.create(configMaps, { metadata: { namespace, name }, data: {} })),
    );

    const listed: string[] = [];
    let next: string | undefined;
    do {
      const page = await rest.list(configMaps, {
        namespace,
        limit: 10,
        ...(next === undefined ? {} : { next }),
      });
      listed.push(...page.items.map(({ metadata }) => metadata.name));
      next = page.next;
      await rest.delete(configMaps, { namespace, name: "n24" });
    } while (next !== undefined);

    assert.deepEqual(
      listed.filter((name) => name !== "kube-root-ca.crt"),
      names,
    );
  });

  it("keep numbers that JavaScript cannot represent", async () => {
    const things: Resource<KubeObject & { readonly spec?: unknown }> = {
      group: "numbers.test",
      version: "v1",
      kind: "Thing",
      plural: "things",
      namespaced: true,
    };
    await rest.create(customResourceDefinitions, thingDefinition());
    const isServed = ({ status }: CustomResourceDefinition): boolean =>
      status?.conditions?.some(({ type, status: is }) => type === "Established" && is === "True") ??
      false;
    await once(customResourceDefinitions, "", "things.numbers.test", isServed);
    const body = '[{"op":"add","path":"/spec","value":{"big":9007199254740993,"small":1}}]';
    const namespace = await freshNamespace();
    await rest.create(things, { metadata: { namespace, name: "a" } });
    const patched = await rest.patch(
      things,
      { namespace, name: "a" },
      { type: "json", body: parseBody(body) },
    );

    const read = await rest.get(things, { namespace, name: "a" });
    const [listed] = (await rest.list(things, { namespace })).items;
    const copied = await rest.create(things, {
      metadata: { namespace, name: "b" },
      spec: read?.spec,
    });

    for (const one of [patched, read, listed, copied]) {
      assert.equal(JSON.stringify(one?.spec), '{"big":9007199254740993,"small":1}');
    }
  });

  it("are created a thousand at a time", async (t) => {
    const namespace = await freshNamespace();
    const total = 1000;
    const data = { text: "x".repeat(200) };
    let next = 0;
    const startedAt = performance.now();
    const create = async (): Promise<void> => {
      while (next < total)
        await rest.create(configMaps, { metadata: { namespace, name: `n${next++}` }, data });
    };
    await Promise.all(Array.from({ length: 64 }, create));
    await t.annotate(`${total} creates took ${Math.round(performance.now() - startedAt)} ms`);

    const { items } = await rest.list(configMaps, { namespace, labelSelector: "" });
    assert.equal(items.filter(({ metadata }) => metadata.name.startsWith("n")).length, total);
  });
});

/** A number that JavaScript cannot represent, from a parsed response. */
function parseBody(text: string): readonly unknown[] {
  return parseExact(text) as readonly unknown[];
}

function thingDefinition(): CustomResourceDefinition {
  return {
    metadata: { name: "things.numbers.test" },
    spec: {
      group: "numbers.test",
      scope: "Namespaced",
      names: { kind: "Thing", plural: "things" },
      versions: [
        {
          name: "v1",
          served: true,
          storage: true,
          schema: {
            openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
          },
        },
      ],
    },
  };
}
