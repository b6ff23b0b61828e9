import assert from "node:assert/strict";
import type { KubeObject } from "@flotilla/shared/kube/objects";
import { describe, test } from "vitest";
import { changedObject, foreignFields } from "./compare-objects.ts";

const object = { apiVersion: "apps/v1", kind: "Deployment", namespace: "shop", name: "web" };

const live = {
  ...{ apiVersion: "apps/v1", kind: "Deployment" },
  metadata: {
    ...{ name: "web", namespace: "shop", resourceVersion: "7", generation: 4 },
    labels: { app: "web" },
    managedFields: [
      {
        ...{ manager: "helm", operation: "Apply", time: "2026-11-01T00:00:00Z" },
        fieldsV1: {
          "f:metadata": { "f:labels": { "f:app": {} } },
          "f:spec": {
            "f:template": {
              "f:containers": { 'k:{"name":"main"}': { ".": {}, "f:name": {}, "f:image": {} } },
            },
          },
        },
      },
      {
        ...{ manager: "kubectl-scale", time: "2026-11-02T00:00:00Z" },
        fieldsV1: { "f:spec": { "f:replicas": {} } },
      },
      {
        ...{ manager: "kubectl-edit", operation: "Update", time: "2026-11-03T00:00:00Z" },
        fieldsV1: {
          "f:spec": {
            "f:paused": {},
            "f:template": {
              "f:containers": {
                'k:{"name":"main"}': { "f:args": {} },
                'k:{"name":"extra"}': { ".": {}, "f:name": {} },
              },
            },
          },
        },
      },
      {
        ...{ manager: "kube-controller-manager", subresource: "status" },
        fieldsV1: { "f:spec": { "f:added": {} }, "f:status": { "f:replicas": {} } },
      },
    ],
  },
  spec: {
    ...{ replicas: 5, paused: true, added: 1 },
    template: {
      containers: [{ name: "main", image: "web:2", args: ["secret"] }, { name: "extra" }],
    },
  },
  status: { replicas: 5 },
} as KubeObject;

function liveWith(fields: Readonly<Record<string, unknown>>): KubeObject {
  return { ...live, ...fields };
}

function pointersOf(reverted: KubeObject, ignored: readonly string[] = []) {
  return changedObject({ object, live, reverted, ignored })?.fields.map(({ pointer }) => pointer);
}

const spec: Readonly<Record<string, unknown>> = Reflect.get(live, "spec");

describe("an object", () => {
  const cases: readonly (readonly [
    what: string,
    reverted: KubeObject,
    pointers: readonly string[] | undefined,
  ])[] = [
    [
      "is as desired when only what the API server sets differs",
      liveWith({
        metadata: { ...live.metadata, resourceVersion: "8", generation: 5, managedFields: [] },
        status: { replicas: 2 },
      }),
      undefined,
    ],
    ["has a changed field", liveWith({ spec: { ...spec, replicas: 2 } }), ["/spec/replicas"]],
    ["lacks a field", liveWith({ spec: { ...spec, "a/b": 1 } }), ["/spec/a~1b"]],
    [
      "has a changed item of a list",
      liveWith({
        spec: {
          ...spec,
          template: {
            containers: [{ name: "main", image: "web:1", args: ["secret"] }, { name: "extra" }],
          },
        },
      }),
      ["/spec/template/containers/0/image"],
    ],
    [
      "lacks an item of a list",
      liveWith({ spec: { ...spec, template: { containers: [{}, {}, {}] } } }),
      ["/spec/template/containers"],
    ],
    [
      "has a changed label",
      liveWith({ metadata: { ...live.metadata, labels: { app: "other" } } }),
      ["/metadata/labels/app"],
    ],
  ];
  for (const [what, reverted, pointers] of cases)
    test(what, () => {
      assert.deepEqual(pointersOf(reverted), pointers);
    });

  test("is as desired when all that differs is ignored", () => {
    const reverted = liveWith({ spec: { ...spec, replicas: 2 } });

    assert.equal(pointersOf(reverted, ["/spec/replicas"]), undefined);
    assert.equal(pointersOf(reverted, ["/spec"]), undefined);
    assert.deepEqual(pointersOf(reverted, ["/spec/replica"]), ["/spec/replicas"]);
  });

  test("names who changed a field, and has a patch without texts", () => {
    const template = {
      containers: [{ name: "main", image: "web:1", args: ["secret"] }, { name: "extra" }],
    };
    const reverted = liveWith({ spec: { ...spec, replicas: 2, paused: undefined, template } });

    const drift = changedObject({ object, live, reverted, ignored: [] });

    assert.deepEqual(drift?.fields, [
      { pointer: "/spec/paused", manager: "kubectl-edit", time: "2026-11-03T00:00:00Z" },
      { pointer: "/spec/replicas", manager: "kubectl-scale", time: "2026-11-02T00:00:00Z" },
      { pointer: "/spec/template/containers/0/image" },
    ]);
    assert.deepEqual(JSON.parse(drift.patch ?? ""), [
      { op: "remove", path: "/spec/paused" },
      { op: "replace", path: "/spec/replicas", value: 2 },
      { op: "replace", path: "/spec/template/containers/0/image", value: "***" },
    ]);
  });
});

describe("fields of others are found", () => {
  const desired = {
    metadata: { name: "web" },
    spec: { replicas: 2, template: { containers: [{ name: "main", image: "web:1" }] } },
  };
  const edited = { manager: "kubectl-edit", time: "2026-11-03T00:00:00Z", object };

  test("that are not desired and not of the cluster's own controllers", () => {
    assert.deepEqual(foreignFields(object, { live, desired, ignored: [] }), [
      { pointer: "/spec/paused", ...edited },
      { pointer: "/spec/template/containers/0/args", ...edited },
      { pointer: "/spec/template/containers/1", ...edited },
    ]);
  });

  test("except those that are ignored", () => {
    const ignored = ["/spec/template"];

    assert.deepEqual(foreignFields(object, { live, desired, ignored }), [
      { pointer: "/spec/paused", ...edited },
    ]);
  });

  test("in the data of a ConfigMap", () => {
    const config = { apiVersion: "v1", kind: "ConfigMap", name: "config" };
    const managedFields = [
      { manager: "helm", fieldsV1: { "f:data": { ".": {}, "f:a": {} } } },
      {
        manager: "someone",
        fieldsV1: { "f:data": { "f:b": {} }, "f:metadata": { "f:labels": {} } },
      },
    ];
    const found = foreignFields(config, {
      live: { metadata: { name: "config", managedFields }, data: { a: "1", b: "2" } } as KubeObject,
      desired: { metadata: { name: "config" }, data: { a: "1" } } as KubeObject,
      ignored: [],
    });

    assert.deepEqual(found, [{ pointer: "/data/b", manager: "someone", object: config }]);
  });
});
