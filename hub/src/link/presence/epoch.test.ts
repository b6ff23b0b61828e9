import assert from "node:assert/strict";
import fc from "fast-check";
import { describe, test } from "vitest";
import { aCluster } from "../../testing/index.ts";
import { highestEpoch, isBelowFloor, nextEpoch } from "./epoch.ts";

const noFloor = () => 0;
const recorded = { connected: true, replica: "hub-0", epoch: 4 };

describe("the epoch of a new stream", () => {
  const rows: readonly (readonly [
    what: string,
    stream: Parameters<typeof nextEpoch>[0],
    floor: number,
    epoch: number,
  ])[] = [
    ["is 1 for the first", { recorded: undefined, reportedEpoch: 0, connectedEpoch: 0 }, 0, 1],
    ["follows the recorded one", { recorded, reportedEpoch: 0, connectedEpoch: 0 }, 0, 5],
    ["follows that of stored reports", { recorded, reportedEpoch: 7, connectedEpoch: 0 }, 0, 8],
    ["follows that of an open stream", { recorded, reportedEpoch: 0, connectedEpoch: 6 }, 0, 7],
    [
      "follows the floor of the replica that the Cluster shows",
      { recorded, reportedEpoch: 0, connectedEpoch: 0 },
      20,
      21,
    ],
  ];
  for (const [what, stream, floor, epoch] of rows) {
    test(what, () =>
      assert.equal(
        nextEpoch(stream, (replica) => (replica === "hub-0" ? floor : noFloor())),
        epoch,
      ),
    );
  }

  test("rises whatever replicas a cluster connects to, and however often they restart", () => {
    const step = fc.record({
      replica: fc.constantFrom("hub-0", "hub-1"),
      kind: fc.constantFrom("connect", "restart", "offline"),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        const floors = new Map<string, number>();
        const floorOf = (replica: string) => floors.get(replica) ?? 0;
        let agent: { connected: boolean; replica: string; epoch: number } | undefined;
        let last = 0;
        for (const { replica, kind } of steps) {
          const clusters = [aCluster("paris", { status: { ...(agent && { agent }) } })];
          if (kind === "restart") {
            const highest = highestEpoch(clusters, replica);
            if (highest > 0) floors.set(replica, Math.max(highest, floorOf(replica)) + 1);
          } else if (kind === "offline") {
            if (agent !== undefined) agent = { ...agent, connected: false };
          } else {
            const stream = {
              recorded: agent,
              reportedEpoch: 0,
              // A process that has given the floor to a stream before.
              connectedEpoch: last === floorOf(replica) ? last : 0,
            };
            const isKept = isBelowFloor(stream, replica, floorOf(replica));
            const epoch = isKept ? floorOf(replica) : nextEpoch(stream, floorOf);
            assert.ok(epoch > last, `${epoch} after ${last}`);
            if (!isKept) agent = { connected: true, replica, epoch };
            last = epoch;
          }
        }
      }),
    );
  });
});
