import type { RolloutStrategy } from "@flotilla/shared/api";
import type { BundleRollout, Gate, GateRecord, StageStatus } from "@flotilla/shared/api/rollout";
import { aBundle, aCluster, aDeployment, aHelmOp, workspace } from "../../../testing/index.ts";
import { FleetDetails } from "../details.ts";
import { FleetView } from "../fleet-view.ts";
import { createShownCaches } from "./index.ts";
export const ref = { kind: "HelmOp", namespace: workspace, name: "web" } as const;
export const at = "2026-01-01T11:00:00Z";
export const nowMs = Date.parse("2026-01-01T12:00:00Z");
export const content = "sha256:new";
export const message = "waits for the approval board of stage rest";
export const all = { gates: true, schedules: true };

export const strategy: RolloutStrategy = {
  stages: [
    {
      name: "canary",
      clusterSelector: { matchLabels: { canary: "true" } },
      after: [{ name: "soak", soak: { for: "30m" } }],
    },
    {
      name: "rest",
      before: [{ name: "board", approval: {} }],
      after: [{ name: "smoke", external: {} }],
    },
  ],
};

export const soak: GateRecord = {
  ...{ name: "soak", when: "After", type: "Soak", result: "Passed", reason: "Met" },
  ...{ gate: "web-7-canary-soak", digest: "sha256:s", startedAt: at },
  decision: { result: "Passed", by: "", at, digest: "sha256:s" },
};
export const board: GateRecord = {
  ...{ name: "board", when: "Before", type: "Approval", result: "Waiting" },
  ...{ gate: "web-7-rest-board", uid: "uid-board", digest: "sha256:b", startedAt: at },
};
export const counts = {
  ...{ total: 1, done: 0, inFlight: 0, failed: 0, pending: 0, offline: 0 },
  ...{ paused: 0, skipped: 0, offSchedule: 0, brokenBefore: 0 },
};
export const canary: StageStatus = {
  ...{ name: "canary", phase: "Completed", ...counts, done: 1, startedAt: at, completedAt: at },
  gates: [soak],
};
export const rest: StageStatus = {
  ...{ name: "rest", phase: "Gated", ...counts, total: 3, pending: 1, offline: 1, offSchedule: 1 },
  gates: [board],
};

export function aRollout(
  number: number,
  status: Partial<NonNullable<BundleRollout["status"]>> = {},
): BundleRollout {
  return {
    metadata: { namespace: workspace, name: `web-${number}`, uid: `uid-${number}` },
    spec: {
      ...{ bundle: { name: "web", uid: "uid-bundle" }, app: { kind: "HelmOp", name: "web" } },
      ...{ number, revision: `sha256:${number}`, version: `1.0.${number}`, signature: "" },
      targets: [{ name: "all", deploymentID: content }],
    },
    status: {
      ...{ phase: "Waiting", reason: "GateWaiting", message, since: at, stage: "rest" },
      ...{ clusters: { ...counts, total: 4, done: 1 }, stages: [canary, rest] },
      ...status,
    },
  };
}

export const gate: Gate = {
  metadata: { namespace: workspace, name: "web-7-rest-board", uid: "uid-board" },
  spec: {
    ...{ type: "Approval", app: { kind: "HelmOp", name: "web" }, gate: "board", when: "Before" },
    ...{ rollout: { name: "web-7", uid: "uid-7" }, stage: "rest", revision: "sha256:7" },
    ...{ version: "1.0.7", digest: "sha256:b", config: { ticket: "x".repeat(300) } },
    clusters: { count: 3, first: [`${workspace}/ber`] },
  },
};

/** A canary that has the revision, and three clusters that wait at a gate: one is ready, one offline, one off schedule. */
export function setUp(rollouts: readonly BundleRollout[] = [aRollout(7)]) {
  const caches = createShownCaches();
  const view = new FleetView(caches);
  const details = new FleetDetails({ ...caches, version: "0.3.0" });
  caches.helmOps.saw(aHelmOp());
  caches.bundles.saw(aBundle({ targets: [{ clusterSelector: {} }], rolloutStrategy: strategy }));
  const names = { ams: "true", ber: "", cgn: "", dus: "" };
  for (const [name, isCanary] of Object.entries(names)) {
    const deployment = aDeployment(name, {
      spec: {
        deploymentID: isCanary === "true" ? content : "sha256:old",
        ...(isCanary === "true" && {
          promotion: { rollout: "web-7", at, from: "sha256:old", wasReady: true },
        }),
      },
    });
    const agent = { epoch: 1, connected: name !== "cgn" };
    const own = aCluster(name).status;
    caches.clusters.saw(
      aCluster(name, {
        metadata: { labels: { canary: isCanary } },
        status: {
          ...own,
          agent,
          ...(name === "dus" && { scheduled: true, activeSchedule: false }),
        },
      }),
    );
    caches.deployments.saw(deployment);
  }
  caches.gates.saw(gate);
  for (const rollout of rollouts) caches.rollouts.saw(rollout);
  return { ...caches, view, details };
}

/** With the cluster `par` of `team-a`, a namespace that a mapping adds. */
export function setUpMapped() {
  const fleet = setUp();
  fleet.workspaces.saw({ metadata: { name: "team-a" } });
  const metadata = { namespace: workspace, name: "all" };
  fleet.mappings.saw({ metadata, bundleSelector: {}, namespaceSelector: {} });
  fleet.clusters.saw(aCluster("par", { metadata: { namespace: "team-a", labels: {} } }));
  return fleet;
}
