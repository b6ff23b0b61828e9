/** Metrics of staged rollouts, as a scrape reads them. */
import assert from "node:assert/strict";
import type { Bundle } from "@flotilla/shared/api";
import type { BundleRollout, BundleRolloutStatus, GateRecord } from "@flotilla/shared/api/rollout";
import { keyOf } from "@flotilla/shared/kube/objects";
import { test } from "vitest";
import { aBundle, seriesIn, workspace } from "../../testing/index.ts";
import { rolloutMetrics } from "./rollout-metrics.ts";
import { createSeriesRegistry } from "./series.ts";

const nowMs = Date.parse("2026-12-01T01:00:00Z");
const zero = { total: 0, done: 0, inFlight: 0, failed: 0, pending: 0, offline: 0 };
const counts = { ...zero, paused: 0, skipped: 0, offSchedule: 0, brokenBefore: 0 };

const waitingGate: GateRecord = {
  ...{
    name: "board",
    when: "Before",
    type: "Approval",
    result: "Waiting",
    gate: "web-2-prod-board",
  },
  ...{ digest: "sha256:d", startedAt: "2026-12-01T00:58:00Z" },
};

const waiting: BundleRolloutStatus = {
  ...{ phase: "Waiting", reason: "GateWaiting", stage: "prod", since: "2026-12-01T00:59:00Z" },
  stages: [
    { ...counts, name: "canary", phase: "Completed", total: 2, done: 2 },
    {
      ...counts,
      name: "prod",
      phase: "Gated",
      total: 3,
      pending: 2,
      offline: 1,
      gates: [waitingGate],
    },
  ],
};

function aRollout(number: number, status?: BundleRolloutStatus): BundleRollout {
  return {
    metadata: { name: `web-${number}`, namespace: workspace, uid: `uid-${number}` },
    spec: {
      ...{ bundle: { name: "web", uid: "uid-web" }, app: { kind: "HelmOp", name: "web" } },
      ...{ number, revision: "sha256:a", version: "1.2.4", targets: [], signature: "" },
    },
    ...(status !== undefined && { status }),
  };
}

function bundleWith(rollout: string): Bundle {
  const summary = { name: rollout, phase: "Waiting", done: 2, total: 5 } as const;
  return { ...aBundle({}, { uid: "uid-web" }), status: { rollout: summary } };
}

async function linesOf(bundles: readonly Bundle[], rollouts: readonly BundleRollout[]) {
  const registry = createSeriesRegistry();
  registry.register(
    rolloutMetrics({
      bundles: () => bundles,
      rolloutOf: (key) => rollouts.find((each) => keyOf(each) === key),
      now: () => nowMs,
    }),
  );
  return await seriesIn(registry, /./);
}

const app = 'namespace="fleet-default",kind="HelmOp",name="web"';

test("a rollout that waits for a gate has its phase, its clusters by stage and state, and both ages", async () => {
  const lines = await linesOf([bundleWith("web-2")], [aRollout(2, waiting)]);

  assert.equal(lines.length, 1 + 16 + 1 + 1);
  for (const line of [
    `flotilla_rollout_info{${app},rollout="web-2",version="1.2.4",phase="Waiting",reason="GateWaiting",stage="prod"} 1`,
    `flotilla_rollout_clusters{${app},stage="canary",state="done"} 2`,
    `flotilla_rollout_clusters{${app},stage="prod",state="pending"} 2`,
    `flotilla_rollout_clusters{${app},stage="prod",state="offline"} 1`,
    `flotilla_rollout_clusters{${app},stage="prod",state="in_flight"} 0`,
    `flotilla_rollout_waiting_seconds{${app},phase="Waiting",reason="GateWaiting",stage="prod"} 60`,
    `flotilla_gate_waiting_seconds{${app},stage="prod",gate="board",type="Approval",when="before"} 120`,
  ])
    assert.ok(lines.includes(line), line);
});

test("only the newest rollout of an app has series, and none that others have made", async () => {
  const rollouts = [
    aRollout(1, { phase: "Completed" }),
    aRollout(2, waiting),
    aRollout(9, waiting),
  ];
  const lines = await linesOf([bundleWith("web-2")], rollouts);

  assert.deepEqual(
    lines
      .filter((line) => line.startsWith("flotilla_rollout_info"))
      .map((line) => /rollout="([^"]+)"/.exec(line)?.[1]),
    ["web-2"],
  );
  const foreign = {
    ...aRollout(2, waiting),
    spec: { ...aRollout(2).spec, bundle: { name: "web", uid: "other" } },
  };
  assert.deepEqual(await linesOf([bundleWith("web-2")], [foreign]), []);
});

test("nothing waits once a rollout is completed, and a deleted one has no series", async () => {
  const completed = await linesOf(
    [bundleWith("web-2")],
    [aRollout(2, { ...waiting, phase: "Completed" })],
  );

  assert.ok(!completed.some((line) => line.includes("waiting_seconds")));
  assert.deepEqual(await linesOf([bundleWith("web-2")], []), []);
  assert.deepEqual(await linesOf([], [aRollout(2, waiting)]), []);
});

test("a clock that is behind makes no negative age", async () => {
  const later = { ...waiting, since: "2026-12-01T02:00:00Z" };
  const lines = await linesOf([bundleWith("web-2")], [aRollout(2, later)]);

  assert.ok(lines.some((line) => /^flotilla_rollout_waiting_seconds.* 0$/.test(line)));
});
