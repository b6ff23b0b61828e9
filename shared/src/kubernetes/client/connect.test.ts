import assert from "node:assert/strict";
import { describe, it } from "vitest";
import { type ConfigMap, configMaps } from "../objects/index.ts";
import { connected } from "../testing/index.ts";
import { isAlreadyExists, isConflict, isNotFound } from "./status-error.ts";
import { isResponseTooLarge } from "./transport.ts";

const settings: ConfigMap = {
  metadata: { name: "settings", namespace: "default" },
  data: { a: "b" },
};
const ref = { namespace: "default", name: "settings" };

describe("an object", () => {
  it("is created, read, replaced and deleted", async (t) => {
    const { rest } = await connected(t);

    const created = await rest.create(configMaps, settings);
    const replaced = await rest.replace(configMaps, { ...created, data: { a: "c" } });
    const read = await rest.get(configMaps, ref);

    assert.deepEqual(read, replaced);
    assert.equal(read.kind, "ConfigMap");
    assert.deepEqual(read.data, { a: "c" });
    assert.equal(await rest.delete(configMaps, ref), true);
    assert.equal(await rest.delete(configMaps, ref), false);
    assert.equal(await rest.get(configMaps, ref), undefined);
  });

  it("that already exists, or has changed, is rejected with an error of its own kind", async (t) => {
    const { rest } = await connected(t);
    const created = await rest.create(configMaps, settings);
    await rest.replace(configMaps, created);

    await assert.rejects(rest.create(configMaps, settings), isAlreadyExists);
    await assert.rejects(rest.replace(configMaps, created), isConflict);
    await assert.rejects(
      rest.replace(configMaps, { metadata: { ...ref, name: "other", resourceVersion: "1" } }),
      isNotFound,
    );
  });

  it("is not replaced without a version, and not addressed without a name", async (t) => {
    const { rest, server } = await connected(t);

    await assert.rejects(rest.replace(configMaps, settings), {
      code: "KUBE_REQUEST",
      message: /has no resourceVersion/,
    });
    await assert.rejects(rest.delete(configMaps, { namespace: "default", name: "" }), {
      code: "KUBE_REQUEST",
    });
    await assert.rejects(rest.get(configMaps, { name: "a" }), {
      message: /address configmaps a: it has no namespace/,
    });
    assert.equal(server.requests.length, 0);
  });

  it("is not read when the response is larger than the caller takes", async (t) => {
    const { rest } = await connected(t);
    await rest.create(configMaps, { ...settings, data: { a: "b".repeat(10_000) } });

    await assert.rejects(rest.get(configMaps, ref, { maxBytes: 10_000 }), isResponseTooLarge);
    await assert.rejects(rest.list(configMaps, { maxBytes: 10_000 }), isResponseTooLarge);
    assert.equal((await rest.list(configMaps, { maxBytes: 20_000 })).items.length, 1);
  });

  it("keeps integers beyond 2^53", async (t) => {
    const { rest, server } = await connected(t);
    server.next("get", (response) => {
      response.end('{"metadata":{"name":"settings"},"data":{"big":9223372036854775807}}');
    });

    const read = await rest.get(configMaps, ref);

    assert.equal(JSON.stringify(read?.data), '{"big":9223372036854775807}');
  });

  it("is patched with the content type of the patch", async (t) => {
    const { rest, server } = await connected(t);
    await rest.create(configMaps, settings);

    await rest.patch(
      configMaps,
      ref,
      { type: "merge", body: {} },
      { subresource: "status", dryRun: true },
    );
    await rest.patch(configMaps, ref, { type: "json", body: [] });
    await rest.patch(
      configMaps,
      ref,
      { type: "apply", body: {}, force: true },
      { fieldManager: "me" },
    );

    assert.deepEqual(
      server.requests
        .slice(1)
        .map((request) => [
          request.headers["content-type"],
          request.path,
          request.query.toString(),
        ]),
      [
        [
          "application/merge-patch+json",
          "/api/v1/namespaces/default/configmaps/settings/status",
          "dryRun=All",
        ],
        ["application/json-patch+json", "/api/v1/namespaces/default/configmaps/settings", ""],
        [
          "application/apply-patch+yaml",
          "/api/v1/namespaces/default/configmaps/settings",
          "fieldManager=me&force=true",
        ],
      ],
    );
  });

  it("is deleted with preconditions", async (t) => {
    const { rest, server } = await connected(t);
    await rest.create(configMaps, settings);

    const deleting = rest.delete(configMaps, ref, {
      uid: "u",
      resourceVersion: "7",
      propagation: "Foreground",
    });

    await assert.rejects(deleting, isConflict);
    assert.deepEqual(JSON.parse(server.requests.at(-1)?.body ?? ""), {
      apiVersion: "v1",
      kind: "DeleteOptions",
      preconditions: { uid: "u", resourceVersion: "7" },
      propagationPolicy: "Foreground",
    });
  });
});

describe("a list", () => {
  it("passes its options to the server, and follows continue", async (t) => {
    const { rest, server } = await connected(t);
    for (const name of ["a", "b", "c"])
      server.put(configMaps, { metadata: { name, namespace: "default", labels: { a: "b" } } });

    const first = await rest.list(configMaps, {
      namespace: "default",
      limit: 2,
      labelSelector: "a in (b, c)",
      fieldSelector: "metadata.namespace=default",
    });
    const second = await rest.list(configMaps, {
      limit: 2,
      ...(first.next === undefined ? {} : { next: first.next }),
    });

    assert.deepEqual(
      [...first.items, ...second.items].map(({ metadata }) => metadata.name),
      ["a", "b", "c"],
    );
    assert.equal(first.resourceVersion, "103");
    assert.equal(second.next, undefined);
    assert.equal(server.requests[0]?.query.get("labelSelector"), "a in (b, c)");
    assert.equal(server.requests[0].query.get("fieldSelector"), "metadata.namespace=default");
    assert.equal(server.requests[1]?.path, "/api/v1/configmaps");
  });
});
