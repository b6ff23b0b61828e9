import assert from "node:assert/strict";
import type { App, FleetCluster } from "@flotilla/shared/dashboard";
import { describe, test } from "vitest";
import { fleetState } from "./fleet-state.ts";
import { inNamespace, namespacesOf } from "./in-namespace.ts";

const app = (namespace: string): App => ({
  ...{ kind: "HelmOp", namespace, name: "web", state: "Ready", suspended: false, labels: {} },
  ...{ chart: "web", ready: 1, desired: 1, offline: 0, isChanging: false },
});
const cluster = (namespace: string): FleetCluster => ({
  ...{
    namespace,
    name: "paris",
    state: "Ready",
    connected: true,
    labels: {},
    ready: 1,
    desired: 1,
  },
});
const namespaces = ["team-b", "team-a"];
const fleet = fleetState({
  ...{ position: "", now: "", sources: [] },
  apps: namespaces.map(app),
  clusters: namespaces.map(cluster),
  columns: ["team-a/paris", "team-b/paris"],
  rows: namespaces.map((namespace) => ({
    ...{ kind: "HelmOp", namespace, name: "web" },
    ...{ states: "rr", versions: [], versionOf: ".." },
  })),
  events: namespaces.map((namespace) => ({
    ...{ id: namespace, time: "", type: "Normal", reason: "", message: "", count: 1 },
    ...{ kind: "HelmOp", namespace, name: "web" },
  })),
});

describe("a namespace of the fleet", () => {
  test("has its apps, clusters, releases and events alone", () => {
    const { apps, clusters, rows, events } = inNamespace(fleet, "team-a");

    assert.deepEqual([...apps.keys()], ["HelmOp/team-a/web"]);
    assert.deepEqual([...clusters.keys()], ["team-a/paris"]);
    assert.deepEqual([...rows.keys()], ["HelmOp/team-a/web"]);
    assert.deepEqual(
      events.map(({ id }) => id),
      ["team-a"],
    );
  });

  test("is the whole fleet where none is chosen", () => {
    assert.equal(inNamespace(fleet, ""), fleet);
    assert.deepEqual(namespacesOf(fleet), ["team-a", "team-b"]);
  });
});
