import assert from "node:assert/strict";
import { test } from "vitest";
import { desiredCrd, isEstablished } from "./desired-crd.ts";

const crd = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "widgets.example.com", labels: { app: "web" } },
  spec: {
    ...{ group: "example.com", names: { kind: "Widget", plural: "widgets" } },
    ...{ scope: "Namespaced", versions: [] },
  },
};

test("a new definition has the labels of the chart and of its deployment", () => {
  assert.deepEqual(desiredCrd(crd, undefined, "web"), {
    ...crd,
    metadata: {
      name: "widgets.example.com",
      labels: { app: "web", "flotilla.dev/deployment": "web" },
      annotations: {},
    },
  });
});

test("a replaced definition keeps the metadata of others, and its resourceVersion", () => {
  const { metadata } = desiredCrd(
    crd,
    {
      ...crd,
      metadata: {
        name: "widgets.example.com",
        resourceVersion: "7",
        labels: { app: "old", team: "a" },
        annotations: { "cert-manager.io/inject-ca-from": "x" },
      },
    },
    "web",
  );

  assert.equal(metadata.resourceVersion, "7");
  assert.deepEqual(metadata.labels, { app: "web", team: "a", "flotilla.dev/deployment": "web" });
  assert.deepEqual(metadata.annotations, { "cert-manager.io/inject-ca-from": "x" });
});

test("a replaced definition keeps the authority of its webhook unless the chart has one", () => {
  const conversion = (caBundle?: string) => ({
    strategy: "Webhook",
    webhook: {
      conversionReviewVersions: ["v1"],
      clientConfig: { url: "https://a", ...(caBundle !== undefined && { caBundle }) },
    },
  });
  const withConversion = (caBundle?: string) => ({
    ...crd,
    spec: { ...crd.spec, conversion: conversion(caBundle) },
  });
  const conversionOf = (caBundle?: string) =>
    desiredCrd(withConversion(caBundle), withConversion("injected"), "web").spec.conversion;

  assert.deepEqual(conversionOf(), conversion("injected"));
  assert.deepEqual(conversionOf("own"), conversion("own"));
});

test("a definition is established when its condition says so", () => {
  const established = (status: string) =>
    isEstablished({
      ...crd,
      status: {
        acceptedNames: crd.spec.names,
        conditions: [{ type: "Established", status }],
        storedVersions: [],
      },
    });

  assert.deepEqual([established("True"), established("False")], [true, false]);
  assert.equal(isEstablished(crd), false);
});
