import assert from "node:assert/strict";
import { configMaps, namespaces } from "@flotilla/shared/kube/objects";
import { createMemoryApiServer } from "@flotilla/shared/kube/testing";
import { describe, test } from "vitest";
import { counts, deleteCreatedNamespace } from "./delete-namespace.ts";

const owner = { apiVersion: "v1", kind: "Service", name: "web", uid: "1" };

const cases: readonly (readonly [
  what: string,
  kind: string,
  metadata: Parameters<typeof counts>[1],
  counts: boolean,
])[] = [
  ["an object that somebody created", "ConfigMap", { name: "other" }, true],
  ["the account that every namespace has", "ServiceAccount", { name: "default" }, false],
  ["another account", "ServiceAccount", { name: "deployer" }, true],
  ["the certificates that every namespace has", "ConfigMap", { name: "kube-root-ca.crt" }, false],
  ["a Secret of that name", "Secret", { name: "kube-root-ca.crt" }, true],
  [
    "an object that is being deleted",
    "Pod",
    { name: "web", deletionTimestamp: "2026-01-01T00:00:00Z" },
    false,
  ],
  [
    "an object of a controller",
    "EndpointSlice",
    { name: "web", ownerReferences: [{ ...owner, controller: true }] },
    false,
  ],
  [
    "an object that only refers to an owner",
    "ConfigMap",
    { name: "web", ownerReferences: [owner] },
    true,
  ],
];

describe("what keeps a namespace", () => {
  for (const [what, kind, metadata, expected] of cases)
    test(`${expected ? "is" : "is not"} ${what}`, () => {
      assert.equal(counts(kind, metadata), expected);
    });
});

describe("a namespace that was created for a release", () => {
  function setUp() {
    const rest = createMemoryApiServer();
    const { uid = "" } = rest.put(namespaces, { metadata: { name: "web" } }).metadata;
    const resources = [
      { name: "configmaps", kind: "ConfigMap", namespaced: true, verbs: ["list"] },
    ];
    const groups = [{ preferredVersion: { groupVersion: "example.com/v1" } }];
    rest.rawResponses.set("/apis", JSON.stringify({ groups }));
    rest.rawResponses.set("/api/v1", JSON.stringify({ resources }));
    rest.rawResponses.set("/apis/example.com/v1", JSON.stringify({ resources: [] }));
    const client = {
      ...{ rest, subject: "the agent itself" },
      watch: { rest, subject: "the agent", isPerNamespace: false as const },
    };
    const { signal } = new AbortController();
    return { rest, remove: () => deleteCreatedNamespace(client, { name: "web", uid }, signal) };
  }

  test("is deleted when nothing else is in it", async () => {
    const { rest, remove } = setUp();
    rest.put(configMaps, { metadata: { namespace: "web", name: "kube-root-ca.crt" } });

    assert.equal(await remove(), undefined);

    assert.equal(rest.peek(namespaces, { name: "web" }), undefined);
  });

  test("stays for an object of somebody else", async () => {
    const { rest, remove } = setUp();
    rest.put(configMaps, { metadata: { namespace: "web", name: "theirs" } });

    assert.equal(await remove(), "ConfigMap theirs is in it");

    assert.ok(rest.peek(namespaces, { name: "web" }));
  });

  test("stays, without an error, when an API of the cluster is down", async () => {
    const { rest, remove } = setUp();
    rest.rawResponses.delete("/apis/example.com/v1");

    assert.match((await remove()) ?? "", /^it cannot be seen what is in it: /);

    assert.ok(rest.peek(namespaces, { name: "web" }));
  });
});
