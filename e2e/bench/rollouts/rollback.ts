/** Half of the clusters are promoted and taken back. */
import type { RolloutStrategy } from "@flotilla/shared/api";
import { bundleRollouts } from "@flotilla/shared/api/rollout";
import type { Figure } from "../measure/figures.ts";
import { waitingGate } from "./gates.ts";
import {
  change,
  contentsNow,
  rolloutAs,
  type StagedFleet,
  untilNoWrites,
  untilReady,
} from "./staged-fleet.ts";

/** The second half waits for somebody who never decides. */
function halves(agents: number): RolloutStrategy {
  return {
    stages: [
      { name: "first", upTo: Math.ceil(agents / 2) },
      { name: "second", before: [{ name: "never", external: {} }] },
    ],
  };
}

export async function rollbackFigures(fleet: StagedFleet): Promise<readonly Figure[]> {
  const { bench, agents, observer } = fleet;
  const half = Math.ceil(agents / 2);
  const before = contentsNow(observer);
  if (before.size !== 1) throw new Error(`the clusters have ${before.size} contents`);
  await untilNoWrites(fleet);
  const from = observer.states.length;
  const rolloutsFrom = observer.rollouts.length;
  let begunAtMs = performance.now();
  await change(fleet, halves(agents));
  const content = await untilReady(fleet, half, { from, before });
  const promotionMs = performance.now() - begunAtMs;
  await waitingGate(fleet, "second", rolloutsFrom);
  // As the promotion was begun.
  await untilNoWrites(fleet);

  const promoted = new Set(
    [...observer.latest.values()].filter((state) => state.desired === content),
  );
  const backFrom = observer.states.length;
  const { metadata } = await rolloutAs(fleet, () => true);
  begunAtMs = performance.now();
  await bench.fleet.hub.patch(bundleRollouts, metadata, {
    type: "merge",
    body: { spec: { state: "RolledBack" } },
  });
  await untilReady(fleet, promoted.size, { from: backFrom, before: new Set([content]) });
  const rollbackMs = performance.now() - begunAtMs;
  await rolloutAs(fleet, ({ status }) => status?.phase === "RolledBack");
  return [
    {
      what: `rollback of ${half} of ${agents} clusters, until all are ready`,
      unit: "ms",
      value: rollbackMs,
      baseline: { what: `the promotion of these ${half}`, value: promotionMs },
      bar: 1.1 * promotionMs,
      detail: `${(rollbackMs / promotionMs).toFixed(2)} times the promotion`,
    },
  ];
}
