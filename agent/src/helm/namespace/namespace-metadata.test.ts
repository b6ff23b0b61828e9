import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { type MetadataPatch, metadataPatch, type NamespaceMetadata } from "./namespace-metadata.ts";

const own = {
  "kubernetes.io/metadata.name": "app",
  "pod-security.kubernetes.io/enforce": "restricted",
};

const cases: readonly (readonly [
  what: string,
  current: NamespaceMetadata,
  desired: NamespaceMetadata,
  patch: MetadataPatch | undefined,
])[] = [
  [
    "do not change without desired ones",
    { labels: { a: "b" }, annotations: { c: "d" } },
    {},
    undefined,
  ],
  [
    "do not change if they match the desired ones",
    { labels: { ...own, a: "b" } },
    { labels: { a: "b" } },
    undefined,
  ],
  ["are added", {}, { labels: { a: "b" } }, { labels: { a: "b" } }],
  ["are replaced", { labels: { a: "b" } }, { labels: { a: "c" } }, { labels: { a: "c" } }],
  [
    "are removed if not desired, even if set by others",
    { labels: { ...own, a: "b", name: "app", "app.kubernetes.io/part-of": "x" } },
    { labels: { a: "b" } },
    { labels: { name: null, "app.kubernetes.io/part-of": null } },
  ],
  [
    "change without labels",
    { labels: { x: "y" } },
    { annotations: { a: "b" } },
    { annotations: { a: "b" } },
  ],
  [
    "change without annotations",
    { annotations: { x: "y" } },
    { labels: { a: "b" } },
    { labels: { a: "b" } },
  ],
  [
    "keep annotations of Kubernetes itself",
    {
      annotations: {
        "kubectl.kubernetes.io/last-applied-configuration": "{}",
        "kubernetes.io/a": "b",
        "scheduler.alpha.kubernetes.io/node-selector": "c",
        "notkubernetes.io/a": "gone",
      },
    },
    { annotations: { "kubernetes.io/a": "other" } },
    { annotations: { "notkubernetes.io/a": null, "kubernetes.io/a": "other" } },
  ],
  [
    "do not change the pod security labels",
    { labels: own },
    {
      labels: {
        "pod-security.kubernetes.io/enforce": "privileged",
        "pod-security.kubernetes.io/warn": "baseline",
        owner: "platform",
      },
    },
    { labels: { owner: "platform" } },
  ],
  [
    "do not change the name label",
    { labels: own },
    { labels: { "kubernetes.io/metadata.name": "other" } },
    undefined,
  ],
];

describe("the labels and annotations of a namespace", () => {
  for (const [what, current, desired, patch] of cases) {
    test(what, () => {
      assert.deepEqual(metadataPatch(current, desired), patch);
    });
  }
});
