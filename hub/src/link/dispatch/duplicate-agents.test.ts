import assert from "node:assert/strict";
import type { ClusterAgent } from "@flotilla/shared/api";
import { keyOf } from "@flotilla/shared/kube/objects";
import { createFakeClock } from "@flotilla/shared/time/testing";
import { describe, test } from "vitest";
import { aCluster } from "../../testing/index.ts";
import { createDuplicateAgents } from "./duplicate-agents.ts";

const key = keyOf(aCluster("paris"));

/**
 * Three replicas that see the connections of one cluster; returns which of them warned, and after how many connections.
 */
function watchedBy(count: number) {
  const clock = createFakeClock();
  const replicas = Array.from({ length: count }, () => createDuplicateAgents(clock));
  let agent: ClusterAgent = { connected: true, epoch: 1 };
  let holder = 0;
  let warnings = 0;

  function change(next: ClusterAgent): void {
    const [before, after] = [agent, next].map((each) =>
      aCluster("paris", { status: { agent: each } }),
    );
    agent = next;
    for (const replica of replicas)
      replica.clusterChanged({ key, ...(before && { before }), ...(after && { after }) });
  }

  return {
    /** An agent connects to a replica after a delay. */
    connect(to: number, afterMs: number, { wasAlive }: { readonly wasAlive: boolean }): void {
      clock.advanceNow(afterMs);
      if (wasAlive && replicas[holder]?.replaced(key) === true) warnings += 1;
      change({ connected: true, epoch: (agent.epoch ?? 0) + 1 });
      holder = to;
    },
    disconnect: () => change({ ...agent, connected: false }),
    warnings: () => warnings,
  };
}

describe("two agents with one identity", () => {
  /** With increasing backoff, then in pairs. */
  const pauses = [0.5, 0.5, 1, 1, 2, 2, 4, 4, 8, 8, 16, 0.5, 30, 0.5, 30, 0.5, 30];
  const cases = [
    ["on one replica", 1],
    ["on three replicas in rotation", 3],
    ["on three replicas, one of them without a disconnect", 2],
  ] as const;
  for (const [where, replicas] of cases) {
    test(`are detected ${where} within three minutes, and reported once in five`, () => {
      const cluster = watchedBy(replicas);
      for (const [index, seconds] of pauses.entries())
        cluster.connect(index % replicas, seconds * 1_000, { wasAlive: true });

      assert.ok(cluster.warnings() >= 1, `${cluster.warnings()}`);
      assert.ok(cluster.warnings() <= replicas, `${cluster.warnings()}`);
    });
  }
});

describe("connections of one agent", () => {
  test("that are cut every five seconds are not reported", () => {
    const cluster = watchedBy(3);
    for (let round = 0; round < 100; round += 1)
      cluster.connect(round % 3, 5_000, { wasAlive: false });
    assert.equal(cluster.warnings(), 0);
  });

  test("that fail once a minute are not reported", () => {
    const cluster = watchedBy(2);
    for (let round = 0; round < 100; round += 1)
      cluster.connect(round % 2, 60_000, { wasAlive: true });
    assert.equal(cluster.warnings(), 0);
  });

  test("that move to other replicas or are restarted are not reported", () => {
    const cluster = watchedBy(3);
    for (let round = 0; round < 20; round += 1) {
      cluster.disconnect();
      cluster.connect(round % 3, 1_000, { wasAlive: false });
    }
    assert.equal(cluster.warnings(), 0);
  });
});
