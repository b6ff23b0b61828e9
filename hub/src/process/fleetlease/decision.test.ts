import assert from "node:assert/strict";
import type { Lease } from "@flotilla/shared/kube/objects";
import { describe, test } from "vitest";
import { decide, type FleetDecision, type FleetLease, observe } from "./decision.ts";

function lease(renewTime: string, holderIdentity = "fleet-controller-1"): Lease {
  return {
    metadata: { name: "fleet-controller-leader-election-shard", namespace: "cattle-fleet-system" },
    spec: { holderIdentity, leaseDurationSeconds: 30, renewTime },
  };
}

const held = lease("2020-01-01T00:00:00.000000Z");
const renewed = lease("2020-01-01T00:00:10.000000Z");
const endless: Lease = {
  ...held,
  spec: { holderIdentity: "fleet-controller-1", renewTime: "2020-01-01T00:00:00.000000Z" },
};
const seen = (at: number): FleetLease => observe(undefined, held, at);

describe("whether the hub may run beside Fleet", () => {
  const cases: readonly (readonly [
    what: string,
    leases: readonly FleetLease[],
    options: { readonly takeOver: boolean; readonly now: number },
    decision: FleetDecision,
  ])[] = [
    [
      "it may where none of Fleet's Leases exists",
      [observe(undefined, undefined, 0)],
      { takeOver: false, now: 0 },
      { kind: "absent" },
    ],
    [
      "it may not for the duration of a Lease from the first look, whatever the time of its renewal",
      [seen(1_000)],
      { takeOver: true, now: 30_999 },
      { kind: "running", lease: held, untilMs: 1 },
    ],
    [
      "it may not where a Lease has expired and nobody said that it takes over",
      [seen(1_000)],
      { takeOver: false, now: 31_000 },
      { kind: "stopped", lease: held },
    ],
    [
      "it may not where only another one of its Leases exists, and has expired",
      [observe(undefined, undefined, 0), seen(1_000)],
      { takeOver: false, now: 31_000 },
      { kind: "stopped", lease: held },
    ],
    [
      "it may not for 15 s from the first look where a Lease names no duration",
      [observe(undefined, endless, 1_000)],
      { takeOver: true, now: 1_000 },
      { kind: "running", lease: endless, untilMs: 15_000 },
    ],
    [
      "it may where all Leases have expired and it is to take over",
      [seen(1_000), seen(500)],
      { takeOver: true, now: 31_000 },
      { kind: "takenOver" },
    ],
    [
      "it may not while one of several Leases is renewed",
      [seen(1_000), observe(seen(0), renewed, 20_000)],
      { takeOver: true, now: 31_000 },
      { kind: "running", lease: renewed, untilMs: 19_000 },
    ],
    [
      "a renewal that is seen again does not count twice",
      [
        observe(
          seen(1_000),
          { ...held, metadata: { ...held.metadata, labels: { a: "b" } } },
          9_000,
        ),
      ],
      { takeOver: true, now: 31_000 },
      { kind: "takenOver" },
    ],
    [
      "a new holder counts as a renewal",
      [observe(seen(1_000), lease("2020-01-01T00:00:00.000000Z", "fleet-controller-2"), 9_000)],
      { takeOver: true, now: 31_000 },
      {
        kind: "running",
        lease: lease("2020-01-01T00:00:00.000000Z", "fleet-controller-2"),
        untilMs: 8_000,
      },
    ],
    [
      "it may not before the duration of a deleted Lease ends, because its holder creates it again",
      [observe(seen(1_000), undefined, 5_000)],
      { takeOver: false, now: 30_000 },
      { kind: "running", lease: held, untilMs: 1_000 },
    ],
    [
      "it may after the deletion of an expired Lease",
      [observe(seen(1_000), undefined, 40_000)],
      { takeOver: false, now: 40_000 },
      { kind: "absent" },
    ],
    [
      "it may at once where a Lease was released and it is to take over",
      [observe(seen(1_000), lease("2020-01-01T00:00:11.000000Z", ""), 2_000)],
      { takeOver: true, now: 2_000 },
      { kind: "takenOver" },
    ],
    [
      "it may not where a Lease was released and nobody said that it takes over",
      [observe(undefined, lease("2020-01-01T00:00:11.000000Z", ""), 2_000)],
      { takeOver: false, now: 2_000 },
      { kind: "stopped", lease: lease("2020-01-01T00:00:11.000000Z", "") },
    ],
  ];
  for (const [what, leases, options, decision] of cases)
    test(what, () => assert.deepEqual(decide(leases, options), decision));
});
