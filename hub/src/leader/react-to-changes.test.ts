import assert from "node:assert/strict";
import { test } from "vitest";
import { chartNotFetched } from "../summary/deployment-state.ts";
import { aCluster, aDeployment, workspace } from "../testing/objects.ts";
import { createReactingLeader } from "../testing/reacting-leader.ts";

const bundle = `${workspace}/web`;
const notFetched = aDeployment("paris", {
  status: {
    conditions: [{ type: "Deployed", status: "False", reason: chartNotFetched, message: "404" }],
  },
});

test("a pin that an agent cannot fetch is looked up once more, also by whoever comes to lead after it said so", () => {
  const leader = createReactingLeader();
  leader.caches.deployments.saw(notFetched);
  assert.equal(leader.doubts.take(bundle), false);

  leader.lead();

  assert.equal(leader.doubts.take(bundle), true);
});

test("a pin that all agents can fetch is looked up by nobody who comes to lead", () => {
  const leader = createReactingLeader();
  leader.caches.deployments.saw(aDeployment("paris"));

  leader.lead();

  assert.equal(leader.doubts.take(bundle), false);
});

test("thousands of deployments that were written have their Bundle looked at a few times, not thousands", () => {
  const leader = createReactingLeader();
  leader.lead();
  const clusters = Array.from({ length: 5_000 }, (_, index) => `cluster-${index}`);
  for (const cluster of clusters) {
    leader.caches.clusters.saw(aCluster(cluster));
    leader.caches.deployments.saw(aDeployment(cluster));
  }

  for (const cluster of clusters) {
    const metadata = { generation: 2, resourceVersion: "2" };
    leader.caches.deployments.saw(aDeployment(cluster, { metadata }));
  }

  const looks = leader.bundleLooks.filter((key) => key === bundle).length;
  assert.ok(looks >= 1 && looks <= 5, `${looks} looks`);
});
