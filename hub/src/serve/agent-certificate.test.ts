import assert from "node:assert/strict";
import type { Cluster } from "@flotilla/shared/api/cluster.ts";
import {
  agentKeyAnnotation,
  clusterFinalizer,
  revokedAtAnnotation,
} from "@flotilla/shared/api/names.ts";
import type { ObjectMeta } from "@flotilla/shared/kube/objects/object.ts";
import { status } from "@grpc/grpc-js";
import { describe, test } from "vitest";
import { type Admission, refusalOf } from "./agent-certificate.ts";

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
const admission: Admission = {
  certificate: { identity, fingerprint, notAfter: 2_000 },
  hubId: "hub",
  cluster,
  now: 1_000,
};

describe("an agent that calls", () => {
  test("is let through with a good certificate of a Cluster that exists", () => {
    assert.equal(refusalOf(admission), undefined);
  });

  const changed = (metadata: Partial<ObjectMeta>, spec: Cluster["spec"] = {}): Cluster => ({
    metadata: { ...cluster.metadata, ...metadata },
    spec,
  });
  const deleting = changed({ deletionTimestamp: "x" });
  const anew = changed({ uid: "u-2" });
  const annotated = (annotations: Readonly<Record<string, string>>) => changed({ annotations });
  const revoked = (at: string) =>
    annotated({ [agentKeyAnnotation]: fingerprint, [revokedAtAnnotation]: at });
  const leaving = { deletionTimestamp: "x", finalizers: [clusterFinalizer] };
  const cases: readonly (readonly [string, Partial<Admission>, status, RegExp])[] = [
    [
      "without a certificate",
      { certificate: undefined },
      status.UNAUTHENTICATED,
      /no certificate was shown/,
    ],
    [
      "with a certificate that has ended",
      { now: 2_000 },
      status.UNAUTHENTICATED,
      /ended at 1970-01-01T00:00:02/,
    ],
    [
      "with a certificate of another hub",
      { hubId: "other" },
      status.UNAUTHENTICATED,
      /for hub hub, this is hub other/,
    ],
    [
      "of a Cluster that is gone",
      { cluster: undefined },
      status.PERMISSION_DENIED,
      /does not exist/,
    ],
    ["of a Cluster that was made anew", { cluster: anew }, status.PERMISSION_DENIED, /made anew/],
    [
      "of a Cluster that is being deleted",
      { cluster: deleting },
      status.PERMISSION_DENIED,
      /being deleted/,
    ],
    [
      "of a Cluster that leaves what it has installed, whatever holds it",
      { cluster: changed(leaving, { deletionPolicy: "Retain" }) },
      status.PERMISSION_DENIED,
      /being deleted/,
    ],
    [
      "of a Cluster that is to be emptied and that nothing holds",
      { cluster: changed({ deletionTimestamp: "x" }, { deletionPolicy: "Uninstall" }) },
      status.PERMISSION_DENIED,
      /being deleted/,
    ],
    [
      "with a key that another one has taken the place of",
      { cluster: annotated({ [agentKeyAnnotation]: "sha256:bb" }) },
      status.PERMISSION_DENIED,
      /^Cluster fleet-default\/one is enrolled with another key by now$/,
    ],
    [
      "with a key that was taken off the Cluster",
      { cluster: annotated({}) },
      status.PERMISSION_DENIED,
      /no key any more: its annotation flotilla.dev\/agent-key was removed/,
    ],
    [
      "of a Cluster that was revoked",
      { cluster: revoked("2026-01-01T00:00:00Z") },
      status.PERMISSION_DENIED,
      /^Cluster fleet-default\/one was revoked at 2026-01-01T00:00:00Z$/,
    ],
    [
      "of a Cluster that was revoked at no time",
      { cluster: revoked("yes") },
      status.PERMISSION_DENIED,
      /was revoked \(its annotation flotilla.dev\/revoked-at is "yes", which is no time/,
    ],
    [
      "of a Cluster that was revoked while it is emptied",
      {
        cluster: {
          metadata: { ...revoked("2026-01-01T00:00:00Z").metadata, ...leaving },
          spec: { deletionPolicy: "Uninstall" },
        },
      },
      status.PERMISSION_DENIED,
      /was revoked/,
    ],
  ];

  test("is let through while its Cluster is emptied before it goes", () => {
    const emptied = changed(leaving, { deletionPolicy: "Uninstall" });

    assert.equal(refusalOf({ ...admission, cluster: emptied }), undefined);
  });

  for (const [who, change, code, message] of cases) {
    test(`is refused ${who}`, () => {
      const refusal = refusalOf({ ...admission, ...change });

      assert.equal(refusal?.status, code);
      assert.match(refusal.message, message);
    });
  }
});
