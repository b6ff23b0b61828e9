import assert from "node:assert/strict";
import type { ClusterStatus } from "@flotilla/shared/api";
import {
  clusterManagementLabel,
  clusterNamespaceName,
  helmOpLabel,
  revokedAtAnnotation,
} from "@flotilla/shared/api/names";
import { findCondition } from "@flotilla/shared/conditions";
import { describe, test } from "vitest";
import type { Coverage } from "../../rules/schedule/schedules.ts";
import { aCluster, aDeployment, aggregated, digestA, now, workspace } from "../../testing/index.ts";
import {
  type ClusterInputs,
  clusterStatus,
  isUrgentCluster,
  managedElsewhereStatus,
} from "./status.ts";

const name = clusterNamespaceName(workspace, "paris");
const ready = aDeployment("paris", { status: { appliedDeploymentID: digestA, ready: true } });
const connected: ClusterStatus = { namespace: name, agent: { connected: true, epoch: 3 } };

function statusOf(status: ClusterStatus, inputs: Partial<ClusterInputs> = {}): ClusterStatus {
  return clusterStatus({
    cluster: aCluster("paris", { status }),
    namespace: { kind: "own", name },
    ...aggregated([ready]),
    coverage: { isScheduled: false, isActive: false, invalid: [] },
    now,
    ...inputs,
  });
}

function covered(coverage: Partial<Coverage>): Coverage {
  return { isScheduled: true, isActive: false, invalid: [], ...coverage };
}

describe("the status of a Cluster", () => {
  test("names its namespace and counts its deployments", () => {
    const status = statusOf(connected);

    assert.equal(status.namespace, name);
    assert.equal(status.display?.readyBundles, "1/1");
    assert.equal(findCondition(status.conditions, "Processed")?.status, "True");
    assert.equal(findCondition(status.conditions, "Ready")?.status, "True");
  });

  test("says which fields of Fleet have no effect", () => {
    const cluster = aCluster("paris", { spec: { hostNetwork: true }, status: connected });

    const { conditions } = statusOf(connected, { cluster });

    assert.match(findCondition(conditions, "Processed")?.message ?? "", /^spec.hostNetwork has no/);
  });

  test("has no field of Schedules without one, and loses what one had written", () => {
    const status = statusOf({ ...connected, scheduled: true, activeSchedule: true });

    assert.equal("scheduled" in status || "activeSchedule" in status, false);
    assert.equal(isUrgentCluster({ ...status, scheduled: true }, status), true);
    assert.equal(isUrgentCluster({ ...status, scheduled: false }, status), false);
  });

  test("says whether one of its Schedules is active, at once", () => {
    const open = statusOf(connected, { coverage: covered({ isActive: true }) });
    const closed = statusOf(connected, { coverage: covered({ isActive: false }) });

    assert.deepEqual([open.scheduled, open.activeSchedule], [true, true]);
    assert.deepEqual([closed.scheduled, closed.activeSchedule], [true, false]);
    assert.equal(isUrgentCluster(open, closed), true);
  });

  test("says which of its Schedules cannot be used, and what follows", () => {
    const invalid = [{ name: "nights", problem: "the hour 25 is not between 0 and 23" }];
    const processed = (isActive: boolean) =>
      findCondition(
        statusOf(connected, { coverage: covered({ isActive, invalid }) }).conditions,
        "Processed",
      );

    assert.equal(processed(false)?.reason, "ScheduleInvalid");
    assert.equal(
      processed(false)?.message,
      "Schedule nights cannot be used, and until it is corrected the cluster is not changed, except while another Schedule is active: the hour 25 is not between 0 and 23",
    );
    assert.match(processed(true)?.message ?? "", /another Schedule is active, so the cluster may/);
  });

  test("keeps the fields that others write: the agent's presence and orphans", () => {
    const agent = { connected: true, epoch: 7, replica: "hub-0" };

    const status = statusOf({ agent, orphans: ["old"] });

    assert.deepEqual(status.agent, agent);
    assert.deepEqual(status.orphans, ["old"]);
  });

  test("says that another system manages it, and leaves the rest as it is", () => {
    const labels = { [clusterManagementLabel]: "CLI" };
    const status = { ...connected, conditions: [] };

    const { conditions, ...others } = managedElsewhereStatus(
      aCluster("paris", { metadata: { labels }, status }),
      now,
    );

    assert.deepEqual(others, connected);
    const [processed, condition] = ["Processed", "Ready"].map((type) =>
      findCondition(conditions, type),
    );
    assert.equal(processed?.status, "False");
    assert.equal(condition?.status, "Unknown");
    assert.equal(condition.reason, "ManagedElsewhere");
    assert.match(condition.message ?? "", /another system manages Cluster paris .*: CLI\)/);
  });

  const waiting = aggregated([aDeployment("paris")]);
  const cases: readonly (readonly [
    what: string,
    status: ClusterStatus,
    inputs: Partial<ClusterInputs>,
    state: string | undefined,
  ])[] = [
    ["whose agent never connected", {}, {}, "WaitCheckIn"],
    [
      "whose agent is offline, whatever it runs",
      { agent: { connected: false, epoch: 3 } },
      waiting,
      "Offline",
    ],
    ["whose agent is connected with a deployment that waits", connected, waiting, "WaitApplied"],
    ["where all is ready", connected, {}, undefined],
  ];
  for (const [what, status, inputs, state] of cases) {
    test(`of a cluster ${what} shows ${state ?? "nothing"}`, () => {
      assert.equal(statusOf(status, inputs).display?.state, state);
    });
  }

  test("counts the HelmOps among its deployments", () => {
    const labels = { ...ready.metadata.labels, [helmOpLabel]: "web" };
    const ofHelmOp = { ...ready, metadata: { ...ready.metadata, labels } };

    for (const [deployments, count] of [
      [[ready], 0],
      [[ofHelmOp], 1],
    ] as const) {
      const status = statusOf(connected, aggregated(deployments));
      assert.equal(status.readyHelmOps, count);
      assert.equal(status.desiredReadyHelmOps, count);
    }
  });

  const unknown: readonly (readonly [
    what: string,
    status: ClusterStatus,
    inputs: Partial<ClusterInputs>,
    reason: string,
    message: RegExp,
  ])[] = [
    ["whose agent never connected", {}, {}, "WaitCheckIn", /^no agent has connected yet$/],
    [
      "whose agent is offline",
      { agent: { connected: false, epoch: 3, lastSeen: "2026-01-01T00:00:00Z" } },
      {},
      "Offline",
      /^the agent is not connected since 2026-01-01T00:00:00Z; 1\/1 were ready then$/,
    ],
    [
      "whose agent is offline, with a deployment that waits",
      { agent: { connected: false, epoch: 3 } },
      waiting,
      "Offline",
      /^the agent is not connected; last known state: WaitApplied\(1\)/,
    ],
  ];
  for (const [what, before, inputs, reason, message] of unknown) {
    test(`of a cluster ${what} is not Ready`, () => {
      const condition = findCondition(statusOf(before, inputs).conditions, "Ready");

      assert.equal(condition?.status, "Unknown");
      assert.equal(condition.reason, reason);
      assert.match(condition.message ?? "", message);
    });
  }

  const remainingNames = ["api", "db", "web", "www"];
  const uninstalling: readonly (readonly [
    what: string,
    status: ClusterStatus,
    remaining: readonly string[],
    message: RegExp,
  ])[] = [
    [
      "names what it waits for and how to skip the uninstallation",
      connected,
      remainingNames,
      /^waiting for the agent to uninstall api, db, web and 1 more; to delete the Cluster now and keep its releases, set spec.deletionPolicy to Retain$/,
    ],
    [
      "reports that its agent is not connected",
      { agent: { connected: false, epoch: 3, lastSeen: "2026-01-01T00:00:00Z" } },
      ["web"],
      /uninstall web; the agent is not connected since 2026-01-01T00:00:00Z and continues when it reconnects; to delete/,
    ],
    ["reports when nothing is left to uninstall", connected, [], /^everything is uninstalled/],
  ];
  for (const [what, before, remaining, message] of uninstalling) {
    test(`of a cluster whose deletion uninstalls its releases ${what}`, () => {
      const status = statusOf(before, { remaining });
      const condition = findCondition(status.conditions, "Ready");

      assert.equal(condition?.reason, "Uninstalling");
      assert.match(condition.message ?? "", message);
    });
  }

  test("of a revoked cluster reports the revocation, and how to enrol it again", () => {
    const status: ClusterStatus = { agent: { connected: false, epoch: 3 } };
    const annotations = { [revokedAtAnnotation]: "2026-01-01T00:00:00Z" };
    const cluster = aCluster("paris", { metadata: { annotations }, status });

    const condition = findCondition(statusOf(status, { cluster }).conditions, "Ready");

    assert.match(
      condition?.message ?? "",
      /revoked at 2026-01-01T00:00:00Z; to enrol it again, create a new ClusterRegistrationToken/,
    );
  });

  test("of a cluster whose namespace is another one's has none, and names the other", () => {
    const owner = "fleet-default/london";

    const status = statusOf(connected, { namespace: { kind: "taken", name, owner } });
    const condition = findCondition(status.conditions, "Ready");

    assert.equal(status.namespace, undefined);
    assert.equal(condition?.reason, "NamespaceTaken");
    assert.match(
      condition.message ?? "",
      /belongs to Cluster fleet-default\/london; this Cluster gets no deployments/,
    );
  });

  test("is the same when only time has passed", () => {
    const status = statusOf(connected);

    assert.deepEqual(statusOf(status, { now: "2027-01-01T00:00:00Z" }), status);
  });

  test("is written at once when the namespace is created, since Bundles wait for that", () => {
    const status = statusOf(connected);

    assert.equal(isUrgentCluster({ ...status, namespace: undefined }, status), true);
    assert.equal(isUrgentCluster(status, status), false);
    assert.equal(isUrgentCluster(status, statusOf(status, waiting)), false);
  });
});
