import assert from "node:assert/strict";
import type { Cluster } from "@flotilla/shared/api";
import { buildVersion } from "@flotilla/shared/buildinfo";
import { test } from "vitest";
import { versionLines } from "./status.ts";

function clusterWithAgent(name: string, version: string): Cluster {
  return {
    apiVersion: "fleet.cattle.io/v1alpha1",
    kind: "Cluster",
    metadata: { namespace: "fleet-default", name },
    spec: {},
    status: { agent: { connected: true, version } },
  };
}

test("lists an agent and a command line only if they are too old for the hub", () => {
  const [major = 0, minor = 0] = buildVersion.split(".").map(Number);
  const hub = `${major}.${minor + 2}.0`;
  const clusters = [
    clusterWithAgent("old", buildVersion),
    clusterWithAgent("older", `${major}.${minor + 1}.0`),
    clusterWithAgent("new", hub),
  ];

  assert.deepEqual(versionLines([hub], clusters), [
    `versions          hub ${hub}, command line ${buildVersion}`,
    `unsupported       the command line has version ${buildVersion}, the hub ${hub}: more than one minor version older is not supported; upgrade the command line`,
    `unsupported       Cluster fleet-default/old: the agent has version ${buildVersion}, the hub ${hub}: more than one minor version older is not supported; upgrade the agent`,
    `warning           Cluster fleet-default/older: the agent has version ${major}.${minor + 1}.0, the hub ${hub}: the next minor version of the hub does not support this agent; upgrade the agent`,
  ]);
});

test("does not compare versions if the hub is not running", () => {
  assert.deepEqual(versionLines([], [clusterWithAgent("one", "9.0.0")]), [
    `versions          hub not running, command line ${buildVersion}`,
  ]);
});
