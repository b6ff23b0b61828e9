/** [1.8] Two Bundles whose releases have the same name on one cluster: its own, and one that a BundleNamespaceMapping brings. */
import assert from "node:assert/strict";
import { packContent } from "@flotilla/shared/content";
import { test } from "vitest";
import { createTestCluster, startAgent, testContent } from "./testing/test-agent.ts";

/** As the hub names them: the foreign one with its namespace. */
const own = { name: "web", uid: "uid-web" };
const foreign = { name: "platform.web", uid: "uid-platform-web" };

async function bothAssigned() {
  const cluster = createTestCluster();
  const agent = await startAgent(cluster);
  const { deploymentId, bytes: content } = await packContent({
    ...testContent,
    pin: { kind: "tarball", url: "https://charts.example.com/app-1.0.0.tgz" },
  });
  for (const deployment of [own, foreign])
    await agent.assignments.assign({ deployment, deploymentId, content, paused: false });
  for (const { name } of [own, foreign]) await agent.reconcile(name);
  const reported = ({ name }: typeof own) => {
    const state = cluster.reports.findLast((each) => each.name === name);
    return [state?.phase, state?.code, state?.message];
  };
  return { cluster, agent, reported };
}

test("[1.8] the second is a conflict that names the first, which keeps the release", async () => {
  const { cluster, agent, reported } = await bothAssigned();

  assert.equal(cluster.helm.runs.length, 1);
  assert.deepEqual(reported(own).slice(0, 2), ["deployed", undefined]);
  assert.deepEqual(reported(foreign), [
    "failed",
    "RELEASE_CONFLICT",
    "release shop/app belongs to deployment web; give one of the two another releaseName or namespace; retrying at 2026-01-01T00:00:05Z",
  ]);
  agent.stop();
});

test("[1.8] the second gets the release once the first is withdrawn", async () => {
  const { cluster, agent, reported } = await bothAssigned();

  await agent.assignments.withdraw(own);
  await agent.takeEnqueued();
  await agent.reconcile(own.name);
  await agent.takeEnqueued();
  await cluster.clock.advance(3_600_000);
  await agent.reconcile(foreign.name);

  assert.deepEqual(reported(foreign).slice(0, 2), ["deployed", undefined]);
  agent.stop();
});
