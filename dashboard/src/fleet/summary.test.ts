import assert from "node:assert/strict";
import type { App, FleetCluster } from "@flotilla/shared/dashboard";
import { describe, test } from "vitest";
import type { AnyState } from "../state/index.ts";
import { adviceFor } from "./advice.ts";
import { clusterKey, type FleetState, objectKey } from "./fleet-state.ts";
import { type Concern, concernsOf, countStates, headline } from "./summary.ts";

const app = (name: string, state: App["state"], more: Partial<App> = {}): App => ({
  ...{ kind: "HelmOp", namespace: "ns", name, state, suspended: false, chart: "web" },
  ...{ labels: {}, ready: 0, desired: 2, offline: 0, isChanging: false, ...more },
});
const cluster = (name: string, state: FleetCluster["state"], since?: string): FleetCluster => ({
  ...{ namespace: "ns", name, state, connected: true, labels: {}, ready: 1, desired: 1 },
  ...(since !== undefined && { since }),
});

function fleet(apps: readonly App[], clusters: readonly FleetCluster[]): FleetState {
  return {
    ...{ position: "", columns: [], columnOf: new Map(), rows: new Map(), events: [] },
    apps: new Map(apps.map((each) => [objectKey(each), each])),
    clusters: new Map(clusters.map((each) => [clusterKey(each), each])),
    ...{ sources: new Map(), releaseChanges: new Map() },
  };
}

describe("what needs attention", () => {
  test("is the worst first, then what began first", () => {
    const concerns = concernsOf(
      fleet(
        [
          app("stalled", "Stalled"),
          app("late", "ErrApplied", { since: "2026-01-02T00:00:00Z" }),
          app("early", "ErrApplied", { since: "2026-01-01T00:00:00Z" }),
          app("fine", "Ready"),
          app("busy", "WaitApplied"),
        ],
        [cluster("gone", "Offline"), cluster("failing", "ErrApplied")],
      ),
    );
    assert.deepEqual(
      concerns.map(({ name }) => name),
      ["early", "late", "stalled", "gone"],
    );
  });

  test("is not what somebody has suspended", () => {
    assert.deepEqual(concernsOf(fleet([app("a", "Modified", { suspended: true })], [])), []);
  });

  test("is counted in one sentence", () => {
    const rows: readonly (readonly [FleetState, string])[] = [
      [fleet([], []), "Nothing is here yet"],
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
    ];
    for (const [state, text] of rows) assert.equal(headline(state, concernsOf(state)), text);
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

describe("what to do", () => {
  const concern = (kind: Concern["kind"], state: AnyState, message = ""): Concern => ({
    ...{ kind, namespace: "ns", name: "web", state, message, reason: "", since: "", clusters: 1 },
  });

  test("is said for everything that needs attention", () => {
    for (const state of ["NotAccepted", "ErrApplied", "NotReady", "Modified", "Stalled"] as const)
      assert.ok((adviceFor(concern("HelmOp", state))?.text ?? "").length > 20, state);
    assert.match(adviceFor(concern("Cluster", "Offline"))?.command ?? "", /flotilla-agent/);
    assert.match(adviceFor(concern("HelmRepository", "Failed"))?.command ?? "", /kubectl edit/);
  });

  const cases: readonly (readonly [string, string, RegExp])[] = [
    ["the Secret where credentials are rejected", "GET https://r: 401 Unauthorized", /Secret/],
    ["the network where nothing answers", "GET http://r/index.yaml: connection refused", /network/],
    ["the constraint where no version fits", "no chart version found for web-9", /constraint/],
  ];
  for (const [name, message, advice] of cases)
    test(`is about ${name}`, () => {
      assert.match(adviceFor(concern("HelmOp", "NotAccepted", message))?.text ?? "", advice);
    });
});
