import assert from "node:assert/strict";
import type { App } from "@flotilla/shared/dashboard";
import { describe, test } from "vitest";
import { appsInCluster, chartsOf, clustersWithChart } from "./deployed.ts";

const app = (name: string, chart: string): App => ({
  ...{ kind: "HelmOp", namespace: "ns", name, state: "Ready", suspended: false, labels: {} },
  ...{ chart, ready: 0, desired: 0, offline: 0, isChanging: false },
});
/** `states`: a character for each cluster, "." for no release. */
const row = (states: string) => ({
  states: Uint8Array.from(states, (each) => (each === "." ? 0 : each.charCodeAt(0))),
  ...{ versionOf: new Uint16Array(states.length), versions: [] },
});
const fleet = {
  apps: new Map([
    ["HelmOp/ns/web", app("web", "nginx")],
    ["HelmOp/ns/api", app("api", "node")],
    ["HelmOp/ns/none", app("none", "")],
  ]),
  columns: ["ns/paris", "ns/lyon", "other/paris"],
  rows: new Map([
    ["HelmOp/ns/web", row("r.e")],
    ["HelmOp/ns/api", row(".r")],
  ]),
};

describe("the filters of the lists", () => {
  test("find the apps of a cluster by a part of its name or namespace", () => {
    assert.deepEqual([...appsInCluster(fleet, "lyon")], ["HelmOp/ns/api"]);
    assert.deepEqual([...appsInCluster(fleet, " Other/ ")], ["HelmOp/ns/web"]);
    assert.deepEqual([...appsInCluster(fleet, "nowhere")], []);
  });

  test("find the clusters that have a release of a chart", () => {
    assert.deepEqual([...clustersWithChart(fleet, "nginx")], ["ns/paris", "other/paris"]);
    assert.deepEqual([...clustersWithChart(fleet, "unknown")], []);
  });

  test("offer each chart once", () => {
    assert.deepEqual(chartsOf(fleet), ["nginx", "node"]);
  });
});
