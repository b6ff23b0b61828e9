import assert from "node:assert/strict";
import type { KubeObject, Resource } from "@flotilla/shared/kube/objects";
import { test } from "vitest";
import { driftSources } from "./compared-objects.ts";

const roles: Resource<KubeObject> = {
  ...{ group: "rbac.authorization.k8s.io", version: "v1", kind: "ClusterRole" },
  ...{ plural: "clusterroles", namespaced: false },
};
const configs: Resource<KubeObject> = {
  ...{ group: "", version: "v1", kind: "ConfigMap", plural: "configmaps", namespaced: true },
};
const role = {
  ...{ apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRole" },
  metadata: { name: "viewer", namespace: "elsewhere" },
};
const config = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "config" } };
const other = { ...config, data: { mode: "second" } };

const sources = driftSources({
  release: { namespace: "shop", name: "web" },
  options: {},
  wholeObjects: () => Promise.resolve([role, { ...config, data: { mode: "first" } }, other]),
  resources: () => [
    { owned: { ...role, ...role.metadata }, resource: roles, isRemovedByDesign: () => false },
    { owned: { ...config, ...config.metadata }, resource: configs, isRemovedByDesign: () => false },
  ],
});

test("an object of a kind without namespaces, for which the chart sets one, is found by its drift", async () => {
  const [key = ""] = sources.order();
  const found = await sources.find(key);

  assert.ok(found !== undefined);
  assert.equal(found.object.namespace, undefined);
  assert.equal(sources.keyOf(found.object), key);
});

test("of an object that a manifest has twice the last one is desired", async () => {
  const [, key = ""] = sources.order();

  const { data } = ((await sources.find(key))?.desired ?? {}) as { data?: unknown };

  assert.deepEqual(data, { mode: "second" });
});
