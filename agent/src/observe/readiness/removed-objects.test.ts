import assert from "node:assert/strict";
import type { KubeObject } from "@flotilla/shared/kube/objects";
import { describe, test } from "vitest";
import type { OwnedObject } from "../../helm/record/manifest.ts";
import { endAfter, isRemovedByDesign, type LastSeen } from "./removed-objects.ts";

const nowMs = Date.parse("2026-11-27T12:00:00Z");
const config: OwnedObject = { apiVersion: "v1", kind: "ConfigMap", name: "web" };
const pod: OwnedObject = { apiVersion: "v1", kind: "Pod", name: "web" };
const job: OwnedObject = { apiVersion: "batch/v1", kind: "Job", name: "web" };
const ownedJob: OwnedObject = { ...job, isDeletedWhenEnded: true };
const token = (expiresAt: string): OwnedObject => ({
  ...{ apiVersion: "v1", kind: "Secret", name: "bootstrap-token-abcdef", expiresAt },
});

describe("an object that does not exist", () => {
  const rows: readonly (readonly [string, OwnedObject, LastSeen, isRemoved: boolean])[] = [
    ["a Job with a ttl that has ended", ownedJob, "ended", true],
    ["a Job with a ttl that has not ended", ownedJob, "not ended", false],
    ["a Job with a ttl of which nothing is known", ownedJob, "unknown", true],
    ["a Job with a ttl whose deletion follows", ownedJob, "present", true],
    ["a Job without a ttl that has ended", job, "ended", false],
    ["a pod that has ended", pod, "ended", true],
    ["a pod that has not ended", pod, "not ended", false],
    ["a pod of which nothing is known", pod, "unknown", false],
    ["a pod whose deletion follows", pod, "present", true],
    ["a Pod of another group", { ...pod, apiVersion: "example.com/v1" }, "present", false],
    ["a ConfigMap", config, "present", false],
    ["a token that has expired", token("2026-11-27T11:59:59Z"), "present", true],
    ["a token that expires now", token("2026-11-27T12:00:30Z"), "unknown", true],
    ["a token that expires later", token("2026-11-27T12:02:00Z"), "ended", false],
    ["a token with an unreadable time", token("tomorrow"), "unknown", true],
  ];
  for (const [what, owned, lastSeen, isRemoved] of rows)
    test(`${isRemoved ? "was removed by design" : "is missing"}: ${what}`, () => {
      assert.equal(isRemovedByDesign(owned, lastSeen, nowMs), isRemoved);
    });
});

const batchJob = { group: "batch", kind: "Job" };
const corePod = { group: "", kind: "Pod" };
const csr = { group: "certificates.k8s.io", kind: "CertificateSigningRequest" };

function object(status: object, deletionTimestamp?: string): KubeObject {
  const metadata = { name: "web", ...(deletionTimestamp !== undefined && { deletionTimestamp }) };
  const found = { metadata, status };
  return found;
}
const withCondition = (type: string, status = "True") => ({ conditions: [{ type, status }] });
const terminating = (status: object) => object(status, "2026-11-27T12:00:00Z");

describe("when an object is deleted", () => {
  const evicted = { phase: "Failed", ...withCondition("DisruptionTarget") };
  const rows = [
    ["a Job that is complete", batchJob, withCondition("Complete"), "ended"],
    ["a Job that has failed", batchJob, withCondition("Failed"), "ended"],
    ["a Job that runs", batchJob, { active: 1 }, "not ended"],
    ["a pod that has succeeded", corePod, { phase: "Succeeded" }, "ended"],
    ["a pod that has failed", corePod, { phase: "Failed" }, "ended"],
    ["a pod that was evicted", corePod, evicted, "not ended"],
    ["a pod that runs", corePod, { phase: "Running" }, "not ended"],
    ["a request that was approved", csr, withCondition("Approved"), "ended"],
    ["a request that was denied", csr, withCondition("Denied"), "ended"],
    ["a request whose signer has failed", csr, withCondition("Failed"), "ended"],
    ["a request that nobody has answered", csr, {}, "not ended"],
    ["a Service", { group: "", kind: "Service" }, withCondition("Complete"), undefined],
  ] as const;
  for (const [what, resource, status, end] of rows)
    test(`${what}: ${end ?? "it has no end"}`, () => {
      assert.equal(endAfter(resource, { before: object(status) }, undefined), end);
    });

  test("it counts how it was before its deletion began", () => {
    const before = object({ phase: "Running" });
    const stopped = terminating({ phase: "Succeeded" });
    const begun = endAfter(corePod, { before, after: stopped }, undefined);

    assert.equal(begun, "not ended");
    assert.equal(endAfter(corePod, { before: stopped, after: stopped }, begun), "not ended");
    assert.equal(endAfter(corePod, { before: stopped }, begun), "not ended");
  });

  test("while nothing watched, nothing is known of its end", () => {
    const change = { before: object({}), isFinalStateUnknown: true as const };
    assert.equal(endAfter(batchJob, change, undefined), undefined);
    assert.equal(endAfter(batchJob, { before: terminating({}) }, undefined), undefined);
  });

  test("and created again, nothing is known of its end", () => {
    assert.equal(endAfter(batchJob, { after: object({}) }, "ended"), undefined);
  });
});
