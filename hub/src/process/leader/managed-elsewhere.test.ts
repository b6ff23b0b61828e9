/** A Cluster that another system manages, with all controllers of a leader. */
import assert from "node:assert/strict";
import { bundleDeployments, clusters } from "@flotilla/shared/api";
import { bundleDeploymentFinalizer, clusterManagementLabel } from "@flotilla/shared/api/names";
import { findCondition } from "@flotilla/shared/conditions";
import { AppError, commonErrors } from "@flotilla/shared/errors";
import { test } from "vitest";
import { aCluster, aDeployment, createTestLeader } from "../../testing/index.ts";

const resolver = { resolve: () => Promise.reject(new AppError(commonErrors.INTERNAL, "unused")) };
const quietMs = 5_000;
const managed = { labels: { [clusterManagementLabel]: "CLI" } };
const tombstone = aDeployment("paris", {
  metadata: {
    deletionTimestamp: "2026-01-01T00:00:00Z",
    finalizers: [bundleDeploymentFinalizer],
  },
});

test("says so in its status, and keeps its tombstones until it is the hub's again", async (t) => {
  const leader = createTestLeader(resolver);
  t.onTestFinished(() => leader.stop());
  const { rest } = leader;
  rest.put(clusters, aCluster("paris", { metadata: managed, status: {} }));
  rest.put(bundleDeployments, tombstone);
  await leader.pass(quietMs);

  const ready = findCondition(
    rest.peek(clusters, aCluster("paris").metadata)?.status?.conditions,
    "Ready",
  );
  assert.equal(ready?.reason, "ManagedElsewhere");
  assert.notEqual(rest.peek(bundleDeployments, tombstone.metadata), undefined);

  // No agent has ever connected, so none confirms.
  rest.put(clusters, aCluster("paris", { metadata: { labels: {} }, status: {} }));
  await leader.pass(quietMs);

  assert.equal(rest.peek(bundleDeployments, tombstone.metadata), undefined);
});
