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
  wanted: NamespaceMetadata,
  patch: MetadataPatch | undefined,
])[] = [
  [
    "nothing where nothing is wanted",
    { labels: { a: "b" }, annotations: { c: "d" } },
    {},
    undefined,
  ],
  ["nothing that is as wanted", { labels: { ...own, a: "b" } }, { labels: { a: "b" } }, undefined],
  ["what is new", {}, { labels: { a: "b" } }, { labels: { a: "b" } }],
  ["what is another", { labels: { a: "b" } }, { labels: { a: "c" } }, { labels: { a: "c" } }],
  [
    "what is not wanted any more, whoever set it",
    { labels: { ...own, a: "b", name: "app", "app.kubernetes.io/part-of": "x" } },
    { labels: { a: "b" } },
    { labels: { name: null, "app.kubernetes.io/part-of": null } },
  ],
  [
    "annotations alone, labels being left",
    { labels: { x: "y" } },
    { annotations: { a: "b" } },
    { annotations: { a: "b" } },
  ],
  [
    "labels alone, annotations being left",
    { annotations: { x: "y" } },
    { labels: { a: "b" } },
    { labels: { a: "b" } },
  ],
  [
    "no annotation of Kubernetes' own that is not wanted",
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
    "no label for pod security, whatever is wanted",
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
    "no name of a namespace",
    { labels: own },
    { labels: { "kubernetes.io/metadata.name": "other" } },
    undefined,
  ],
];

describe("of a namespace is changed", () => {
  for (const [what, current, wanted, patch] of cases) {
    test(what, () => {
      assert.deepEqual(metadataPatch(current, wanted), patch);
    });
  }
});
