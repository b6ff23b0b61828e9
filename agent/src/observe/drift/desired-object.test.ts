import assert from "node:assert/strict";
import type { KubeObject } from "@flotilla/shared/kube/objects";
import { describe, test } from "vitest";
import { desiredObject, withLiveValues } from "./desired-object.ts";
import { ignoredPointers, ignoreRules } from "./ignore-rules.ts";

const release = { namespace: "shop", name: "web" };
const own = {
  labels: { "app.kubernetes.io/managed-by": "Helm" },
  annotations: {
    "meta.helm.sh/release-name": "web",
    "meta.helm.sh/release-namespace": "shop",
  },
};

test("the desired object has what Helm sets, and no status", () => {
  const document = {
    ...{ apiVersion: "v1", kind: "Service", status: {} },
    metadata: { name: "web", labels: { app: "web" } },
    spec: { type: "ClusterIP" },
  };

  assert.deepEqual(desiredObject(document, "shop", release), {
    ...{ apiVersion: "v1", kind: "Service" },
    metadata: { name: "web", namespace: "shop", ...own, labels: { app: "web", ...own.labels } },
    spec: { type: "ClusterIP" },
  });
});

test("a field without a value is not the chart's", () => {
  const document = {
    ...{ apiVersion: "apps/v1", kind: "Deployment" },
    metadata: { name: "web", labels: { app: null } },
    spec: { replicas: null, template: { spec: { containers: [{ name: "a", args: null }] } } },
  } as unknown as KubeObject;

  assert.deepEqual(desiredObject(document, "shop", release), {
    ...{ apiVersion: "apps/v1", kind: "Deployment" },
    metadata: { name: "web", namespace: "shop", ...own },
    spec: { template: { spec: { containers: [{ name: "a" }] } } },
  });
});

test("a field that the cluster stores as null stays null", () => {
  const document = {
    ...{ apiVersion: "example.com/v1", kind: "Widget", metadata: { name: "web" } },
    spec: { a: null, b: null, c: null, list: [{ d: null }, { e: null }] },
  };
  const live = {
    ...{ apiVersion: "example.com/v1", kind: "Widget", metadata: { name: "web" } },
    spec: { a: null, b: 1, list: [{ d: null }, { e: 2 }] },
  };

  assert.deepEqual(desiredObject(document, "shop", release, live), {
    ...{ apiVersion: "example.com/v1", kind: "Widget" },
    metadata: { name: "web", namespace: "shop", ...own },
    spec: { a: null, list: [{ d: null }, {}] },
  });
});

test("the texts of a Secret are desired as the API server stores them", () => {
  const document = {
    ...{ apiVersion: "v1", kind: "Secret", metadata: { name: "web" } },
    ...{ data: { a: "YQ==", b: "Yg==" }, stringData: { b: "B" } },
  };

  assert.deepEqual(desiredObject(document, "shop", release), {
    ...{ apiVersion: "v1", kind: "Secret" },
    metadata: { name: "web", namespace: "shop", ...own },
    data: { a: "YQ==", b: "Qg==" },
  });
});

describe("at ignored places the live values are applied", () => {
  const desired = { metadata: { name: "web" }, spec: { replicas: 2, image: "a", gone: 1 } };
  const live = { metadata: { name: "web" }, spec: { replicas: 5, image: "b", added: 1 } };
  const cases: readonly (readonly [pointers: readonly string[], spec: unknown])[] = [
    [[], desired.spec],
    [["/spec/replicas"], { ...desired.spec, replicas: 5 }],
    [["/spec/gone"], { replicas: 2, image: "a" }],
    [["/spec/added"], desired.spec],
    [["/spec"], live.spec],
  ];
  for (const [pointers, spec] of cases)
    test(pointers.join() || "none", () => {
      assert.deepEqual(withLiveValues(desired, live, pointers), { ...desired, spec });
    });
});

describe("ignored is", () => {
  const web: KubeObject = {
    ...{ apiVersion: "apps/v1", kind: "Deployment" },
    metadata: { name: "web", namespace: "shop", labels: { app: "web" } },
  };
  const rules = ignoreRules({
    ignore: [
      { paths: ["/spec/replicas"], target: { kind: "Deployment" } },
      { paths: ["/spec/paused"], target: { labelSelector: "app=other" } },
      { paths: ["/metadata/annotations"] },
      { paths: [""], target: { name: "(" } },
    ],
  });
  const skipped = { "helm.toolkit.fluxcd.io/driftDetection": "disabled" };

  test("what the rules that select the object say", () => {
    assert.deepEqual(ignoredPointers(rules, web, web), ["/spec/replicas", "/metadata/annotations"]);
  });

  test("for thousands of rules, rather everything than nothing where they take too long", () => {
    const target = { name: "(?:a?){500}", namespace: "(?:b?){500}" };
    const many = Array.from({ length: 10_000 }, (_, at) => ({ paths: [`/${at}`], target }));

    const ignored = ignoredPointers(ignoreRules({ ignore: many }), web, web);

    assert.ok(ignored.length > 9_900 && ignored.length < 10_000, `${ignored.length}`);
  });

  test("an object with Flux's label or annotation, in the manifest or in the cluster", () => {
    const labelled = { ...web, metadata: { ...web.metadata, labels: skipped } };
    const annotated = { ...web, metadata: { ...web.metadata, annotations: skipped } };

    assert.deepEqual(ignoredPointers([], labelled, web), [""]);
    assert.deepEqual(ignoredPointers([], web, annotated), [""]);
  });

  test("the authority of a webhook, as in Fleet", () => {
    const kind = "MutatingWebhookConfiguration";
    const apiVersion = "admissionregistration.k8s.io/v1";
    const hook = { ...web, apiVersion, kind, webhooks: [{}, {}] };

    assert.deepEqual(ignoredPointers([], hook, hook), [
      "/webhooks/0/clientConfig/caBundle",
      "/webhooks/1/clientConfig/caBundle",
    ]);
  });
});
