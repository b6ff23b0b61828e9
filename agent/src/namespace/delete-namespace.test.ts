import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { counts } from "./delete-namespace.ts";

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
