import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { concernsOf } from "./concerns.ts";
import { decisionsOf } from "./decisions.ts";
import type { FleetState } from "./fleet-state.ts";
import { countStates, headline } from "./summary.ts";
import { app, cluster, fleet, nowMs } from "./testing/index.ts";

const halted = { phase: "Halted", message: "halted by spec.state", decides: true } as const;

describe("what needs attention", () => {
  test("is counted in one sentence", () => {
    const rows: readonly (readonly [FleetState, string])[] = [
      [fleet([], []), "Nothing is here yet, or nothing that you may list"],
      [
        fleet([app("a", "Ready")], [cluster("x", "Ready"), cluster("y", "Ready")]),
        "All is well: 1 app on 2 clusters, all ready",
      ],
      [
        fleet([app("a", "WaitApplied")], [cluster("x", "WaitApplied")]),
        "1 change in progress, on 1 app on 1 cluster; nothing failed",
      ],
      [
        fleet([app("a", "ErrApplied")], [cluster("x", "ErrApplied")]),
        "1 thing needs attention, of 1 app on 1 cluster",
      ],
      [
        fleet([app("a", "OutOfSync", { suspended: true }), app("b", "Ready")], []),
        "Nothing failed: 2 apps on 0 clusters; 1 change waits until somebody resumes what is suspended",
      ],
      [
        fleet([app("a", "Ready", { rollout: halted }), app("b", "Ready")], []),
        "1 rollout needs a decision, on 2 apps on 0 clusters",
      ],
    ];
    for (const [state, text] of rows)
      assert.equal(headline(state, concernsOf(state, nowMs), decisionsOf(state)), text);
  });

  test("is counted by state, the worst first", () => {
    const states = (["Ready", "Offline", "Ready", "ErrApplied"] as const).map((state) => ({
      state,
    }));
    assert.deepEqual(countStates(states), [
      { state: "ErrApplied", count: 1 },
      { state: "Offline", count: 1 },
      { state: "Ready", count: 2 },
    ]);
  });
});
