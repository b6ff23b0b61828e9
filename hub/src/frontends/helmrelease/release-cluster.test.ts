import assert from "node:assert/strict";
import type { BundleDeployment } from "@flotilla/shared/api";
import type { ReleaseCluster } from "@flotilla/shared/flux";
import { describe, test } from "vitest";
import { aDeployment, digestA } from "../../testing/index.ts";
import { type ClusterPresence, releaseCluster } from "./release-cluster.ts";

const connected: ClusterPresence = { isOffline: false, since: "" };
const offline: ClusterPresence = { isOffline: true, since: "2026-01-01T00:00:00Z" };
const ref = { namespace: "apps", name: "paris" };

const ready: NonNullable<BundleDeployment["status"]> = {
  ...{ appliedDeploymentID: digestA, ready: true, nonModified: true },
  ...{ release: "apps/web:3", version: "1.2.9" },
};

function failed(message: string): NonNullable<BundleDeployment["status"]> {
  return {
    conditions: [
      { type: "Deployed", status: "False", reason: "Error", message, observedGeneration: 1 },
      { type: "Ready", status: "False", reason: "ErrApplied", message, observedGeneration: 1 },
    ],
  };
}

describe("a cluster in the status of a HelmRelease", () => {
  const rows: readonly (readonly [
    what: string,
    status: BundleDeployment["status"],
    presence: ClusterPresence,
    expected: Omit<ReleaseCluster, "name" | "namespace">,
  ])[] = [
    [
      "has the revision and the version of its release",
      ready,
      connected,
      { state: "Ready", revision: 3, version: "1.2.9" },
    ],
    ["has only a state before its first report", undefined, connected, { state: "WaitApplied" }],
    [
      "says why its release failed",
      failed("helm upgrade: timeout"),
      connected,
      { state: "ErrApplied", message: "helm upgrade: timeout" },
    ],
    [
      "has a message of bounded length",
      failed("x".repeat(10_000)),
      connected,
      { state: "ErrApplied", message: `${"x".repeat(255)}…` },
    ],
    [
      "stays Ready while it is offline",
      ready,
      offline,
      { state: "Ready", revision: 3, version: "1.2.9" },
    ],
  ];
  test.each(rows)("%s", (_, status, presence, expected) => {
    const deployment = aDeployment("paris", status === undefined ? {} : { status });
    assert.deepEqual(releaseCluster(deployment, ref, presence), { ...ref, ...expected });
  });

  test("is Offline, as it is counted, when its release had failed before it was offline", () => {
    const deployment = aDeployment("paris", { status: failed("helm upgrade: timeout") });
    const { state, message = "" } = releaseCluster(deployment, ref, offline);
    assert.equal(state, "Offline");
    assert.match(message, /2026-01-01T00:00:00Z/);
  });
});
