import assert from "node:assert/strict";
import type { Cluster } from "@flotilla/shared/api";
import {
  agentKeyAnnotation,
  clusterFinalizer,
  clusterManagementLabel,
  revokedAtAnnotation,
} from "@flotilla/shared/api/names";
import type { ObjectMeta } from "@flotilla/shared/kube/objects";
import { status } from "@grpc/grpc-js";
import { describe, test } from "vitest";
import { type CallerInput, validateCaller } from "./agent-certificate.ts";

const identity = { hubId: "hub", namespace: "fleet-default", name: "one", uid: "u-1" };
const fingerprint = "sha256:aa";
const cluster: Cluster = {
  metadata: {
    name: "one",
    namespace: "fleet-default",
    uid: "u-1",
    annotations: { [agentKeyAnnotation]: fingerprint },
  },
  spec: {},
};
const admission: CallerInput = {
  certificate: { identity, fingerprint, notAfter: 2_000 },
  hubId: "hub",
  cluster,
  now: 1_000,
};

describe("the certificate of a call", () => {
  test("is valid for a Cluster that exists", () => {
    assert.equal(validateCaller(admission), undefined);
  });

  const changed = (metadata: Partial<ObjectMeta>, spec: Cluster["spec"] = {}): Cluster => ({
    metadata: { ...cluster.metadata, ...metadata },
    spec,
  });
  const deleting = changed({ deletionTimestamp: "x" });
  const recreated = changed({ uid: "u-2" });
  const annotated = (annotations: Readonly<Record<string, string>>) => changed({ annotations });
  const revoked = (at: string) =>
    annotated({ [agentKeyAnnotation]: fingerprint, [revokedAtAnnotation]: at });
  const terminating = { deletionTimestamp: "x", finalizers: [clusterFinalizer] };
  const cases: readonly (readonly [string, Partial<CallerInput>, status, RegExp])[] = [
    [
      "without a certificate",
      { certificate: undefined },
      status.UNAUTHENTICATED,
      /no valid client certificate/,
    ],
    [
      "with an expired certificate",
      { now: 2_000 },
      status.UNAUTHENTICATED,
      /expired at 1970-01-01T00:00:02/,
    ],
    [
      "with a certificate of another hub",
      { hubId: "other" },
      status.UNAUTHENTICATED,
      /for hub hub, this is hub other/,
    ],
    [
      "of a Cluster that does not exist",
      { cluster: undefined },
      status.PERMISSION_DENIED,
      /does not exist/,
    ],
    [
      "of a Cluster that was created again",
      { cluster: recreated },
      status.PERMISSION_DENIED,
      /deleted and created again/,
    ],
    [
      "of a Cluster that is being deleted",
      { cluster: deleting },
      status.PERMISSION_DENIED,
      /being deleted/,
    ],
    [
      "of a Cluster with deletion policy Orphan, whatever its finalizers",
      { cluster: changed(terminating, { deletionPolicy: "Retain" }) },
      status.PERMISSION_DENIED,
      /being deleted/,
    ],
    [
      "of a Cluster with deletion policy Uninstall and no finalizer",
      { cluster: changed({ deletionTimestamp: "x" }, { deletionPolicy: "Uninstall" }) },
      status.PERMISSION_DENIED,
      /being deleted/,
    ],
    [
      "of a Cluster that another system manages",
      {
        cluster: changed({
          annotations: { [agentKeyAnnotation]: fingerprint },
          labels: { [clusterManagementLabel]: "CLI" },
        }),
      },
      status.PERMISSION_DENIED,
      /^another system manages Cluster one \(label fleet.cattle.io\/cluster-management: CLI\)/,
    ],
    [
      "with a key that was replaced",
      { cluster: annotated({ [agentKeyAnnotation]: "sha256:bb" }) },
      status.PERMISSION_DENIED,
      /^Cluster fleet-default\/one is now enrolled with another key$/,
    ],
    [
      "with a key that was removed from the Cluster",
      { cluster: annotated({}) },
      status.PERMISSION_DENIED,
      /no longer enrolled with a key: its annotation flotilla.dev\/agent-key was removed/,
    ],
    [
      "of a Cluster that was revoked",
      { cluster: revoked("2026-01-01T00:00:00Z") },
      status.PERMISSION_DENIED,
      /^Cluster fleet-default\/one was revoked at 2026-01-01T00:00:00Z$/,
    ],
    [
      "of a Cluster that was revoked with an invalid time",
      { cluster: revoked("yes") },
      status.PERMISSION_DENIED,
      /was revoked \(its annotation flotilla.dev\/revoked-at is "yes", which is not a time/,
    ],
    [
      "of a Cluster that was revoked while everything is uninstalled",
      {
        cluster: {
          metadata: { ...revoked("2026-01-01T00:00:00Z").metadata, ...terminating },
          spec: { deletionPolicy: "Uninstall" },
        },
      },
      status.PERMISSION_DENIED,
      /was revoked/,
    ],
  ];

  test("is valid while everything is uninstalled from its deleted Cluster", () => {
    const emptied = changed(terminating, { deletionPolicy: "Uninstall" });

    assert.equal(validateCaller({ ...admission, cluster: emptied }), undefined);
  });

  for (const [who, change, code, message] of cases) {
    test(`is rejected ${who}`, () => {
      const error = validateCaller({ ...admission, ...change });

      assert.equal(error?.status, code);
      assert.match(error.message, message);
    });
  }
});
