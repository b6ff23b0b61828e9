import assert from "node:assert/strict";
import type { Cluster } from "@flotilla/shared/api";
import { describe, test } from "vitest";
import { aCluster } from "../../testing/index.ts";
import { clusterEvents } from "./status-events.ts";

describe("the events of a Cluster", () => {
  const cluster: Cluster = aCluster("oslo");
  const of = (reason: string) => ({
    conditions: [{ type: "Ready", status: "Unknown", reason, message: `about ${reason}` } as const],
    display: { readyBundles: "2/3" },
  });

  for (const [before, after, expected] of [
    ["Ready", "Offline", "Warning ClusterOffline about Offline"],
    ["NotReady", "Offline", "Warning ClusterOffline about Offline"],
    ["Offline", "Ready", "Normal ClusterOnline the agent is connected; 2/3 deployments are ready"],
    [
      "WaitCheckIn",
      "NotReady",
      "Normal ClusterOnline the agent is connected; 2/3 deployments are ready",
    ],
    ["Offline", "Offline", undefined],
    ["Ready", "NotReady", undefined],
    ["Offline", "ManagedElsewhere", undefined],
  ] as const)
    test(`from ${before} to ${after}: ${expected ?? "none"}`, () => {
      const [event] = clusterEvents(cluster, of(before), of(after));

      assert.equal(event && `${event.type} ${event.reason} ${event.note}`, expected);
      if (event !== undefined)
        assert.deepEqual(event.metadata, { "fleet.cattle.io/cluster": "fleet-default/oslo" });
    });

  test("are none for its first status", () => {
    assert.deepEqual(clusterEvents(cluster, undefined, of("Ready")), []);
  });
});
