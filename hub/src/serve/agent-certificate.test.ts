import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { Cluster } from "@flotilla/shared/api/cluster.ts";
import { status } from "@grpc/grpc-js";
import { type Admission, refusalOf } from "./agent-certificate.ts";

const identity = { hubId: "hub", namespace: "fleet-default", name: "one", uid: "u-1" };
const cluster: Cluster = {
  metadata: { name: "one", namespace: "fleet-default", uid: "u-1" },
  spec: {},
};
const admission: Admission = {
  certificate: { identity, notAfter: 2_000 },
  hubId: "hub",
  cluster,
  now: 1_000,
};

suite("an agent that calls", () => {
  test("is let through with a good certificate of a Cluster that exists", () => {
    assert.equal(refusalOf(admission), undefined);
  });

  const deleting = { ...cluster, metadata: { ...cluster.metadata, deletionTimestamp: "x" } };
  const anew = { ...cluster, metadata: { ...cluster.metadata, uid: "u-2" } };
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
  ];
  for (const [who, change, code, message] of cases) {
    test(`is refused ${who}`, () => {
      const refusal = refusalOf({ ...admission, ...change });

      assert.equal(refusal?.status, code);
      assert.match(refusal.message, message);
    });
  }
});
