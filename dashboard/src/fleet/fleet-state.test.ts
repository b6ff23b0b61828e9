import assert from "node:assert/strict";
import type { App, Fleet, FleetCluster } from "@flotilla/shared/dashboard";
import { describe, test } from "vitest";
import { fleetState, releaseStateAt, versionAt, withChanges } from "./fleet-state.ts";

const app: App = {
  ...{ kind: "HelmOp", namespace: "ns", name: "web", state: "Ready", suspended: false },
  ...{ labels: {}, chart: "web", ready: 1, desired: 2, offline: 0, isChanging: false },
};
const cluster = (name: string): FleetCluster => ({
  ...{ namespace: "ns", name, state: "Ready", connected: true, labels: {}, ready: 1, desired: 1 },
});
const fleet: Fleet = {
  ...{ position: "e-1", now: "2026-01-01T00:00:00Z", sources: [], events: [] },
  clusters: [cluster("a"), cluster("b")],
  apps: [app],
  columns: ["ns/a", "ns/b"],
  rows: [
    {
      ...{ kind: "HelmOp", namespace: "ns", name: "web" },
      ...{ states: "r.", versions: ["1.0.0"], versionOf: "0." },
    },
  ],
};
const key = "HelmOp/ns/web";

describe("the fleet of the page", () => {
  test("has the states and versions of the rows", () => {
    const row = fleetState(fleet).rows.get(key);
    assert.equal(releaseStateAt(row, 0), "Ready");
    assert.equal(releaseStateAt(row, 1), undefined);
    assert.deepEqual([versionAt(row, 0), versionAt(row, 1)], ["1.0.0", ""]);
  });

  test("changes as the stream says, and what has not changed stays the same object", () => {
    const before = fleetState(fleet);
    const after = withChanges(
      before,
      [
        { type: "release", app, cluster: "ns/b", state: "WaitApplied", version: "" },
        { type: "release", app, cluster: "ns/a", state: "Ready", version: "1.1.0" },
        { type: "app", app: { ...app, state: "WaitApplied" } },
      ],
      "e-4",
    );

    const row = after.rows.get(key);
    assert.deepEqual([releaseStateAt(row, 0), versionAt(row, 0)], ["Ready", "1.1.0"]);
    assert.equal(releaseStateAt(row, 1), "WaitApplied");
    assert.equal(after.apps.get(key)?.state, "WaitApplied");
    assert.equal(after.position, "e-4");
    assert.equal(after.clusters, before.clusters);
    assert.equal(releaseStateAt(before.rows.get(key), 1), undefined);
  });

  test("counts a change of a release of which the state and version stay the same", () => {
    const before = fleetState(fleet);
    const same = { type: "release", app, state: "Ready", version: "1.0.0" } as const;
    const after = withChanges(before, [{ ...same, cluster: "ns/a" }], "e-2");

    const changes = (state: typeof before) =>
      ["ns/a", "ns/b"].map((each) => state.releaseChanges.get(each) ?? 0);
    assert.deepEqual(changes(before), [0, 0]);
    assert.deepEqual(changes(after), [1, 0]);
    assert.deepEqual(changes(withChanges(after, [{ ...same, cluster: "ns/a" }], "e-3")), [2, 0]);
  });

  test("gets new clusters and apps, and loses removed ones", () => {
    const after = withChanges(
      fleetState(fleet),
      [
        { type: "cluster", cluster: cluster("c") },
        { type: "release", app, cluster: "ns/c", state: "Pending", version: "" },
        { type: "removed", removed: { of: "cluster", namespace: "ns", name: "a" } },
        { type: "release", app, cluster: "ns/a", state: null, version: "" },
        { type: "removed", removed: { of: "app", kind: "HelmOp", namespace: "ns", name: "web" } },
      ],
      "e-6",
    );

    assert.deepEqual([...after.clusters.keys()], ["ns/b", "ns/c"]);
    assert.deepEqual(after.columns, ["ns/a", "ns/b", "ns/c"]);
    assert.equal(after.apps.size, 0);
    assert.equal(after.rows.size, 0);
  });

  test("has no release of an app that was deleted and created again", () => {
    const gone = { of: "app", kind: "HelmOp", namespace: "ns", name: "web" } as const;
    const after = withChanges(
      fleetState(fleet),
      [
        { type: "removed", removed: gone },
        { type: "release", app, cluster: "ns/a", state: null, version: "" },
        { type: "app", app },
        { type: "release", app, cluster: "ns/b", state: "Ready", version: "2.0.0" },
      ],
      "e-5",
    );

    const row = after.rows.get(key);
    assert.deepEqual([releaseStateAt(row, 0), releaseStateAt(row, 1)], [undefined, "Ready"]);
  });

  test("has an event once, the newest first", () => {
    const event = (id: string, count: number) => ({
      ...({ id, time: "2026-01-01T00:00:00Z", type: "Normal", reason: "R", message: "m" } as const),
      ...{ count, kind: "HelmOp", namespace: "ns", name: "web" },
    });
    const after = withChanges(
      fleetState(fleet),
      [
        { type: "event", event: event("1", 1) },
        { type: "event", event: event("2", 1) },
        { type: "event", event: event("1", 2) },
      ],
      "e-4",
    );
    assert.deepEqual(
      after.events.map(({ id, count }) => [id, count]),
      [
        ["1", 2],
        ["2", 1],
      ],
    );
  });
});
