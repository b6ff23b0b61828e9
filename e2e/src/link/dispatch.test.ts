import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { clusters } from "@flotilla/shared/api";
import { clusterUidLabel } from "@flotilla/shared/api/names";
import { maxContentBytes } from "@flotilla/shared/content";
import { createFakeClock } from "@flotilla/shared/time/testing";
import { beforeAll, describe, test } from "vitest";
import { startHubCluster, workspace } from "../harness/hub-control-plane.ts";
import { startAgent } from "../harness/in-process-agent.ts";
import { startHub } from "../harness/in-process-hub.ts";
import { clusterOf, connected, makeToken, startEnrolled } from "../harness/registration.ts";
import { deployedState, deploymentsOf, digest } from "./deployments.ts";
import { slowWatch } from "./slow-watch.ts";

const rest = await startHubCluster();
// What cannot be compressed takes as many bytes packed as unpacked, and a few more.
const largest = randomBytes(maxContentBytes + 64 * 1024);
const first = await startHub(rest, {
  content: (id) => (id === digest("9") ? largest : Buffer.from(id)),
});
const token = await makeToken(rest, first, "token");

describe("an agent that is connected", () => {
  test("is handed what its cluster is to run, changes of it, and withdrawals", async () => {
    const agent = await startEnrolled(rest, first, token, "one");
    const deployments = deploymentsOf(rest, "one");

    const created = await deployments.create("web", digest("1"));
    await agent.until(() => agent.assigned.length === 1, "the deployment");
    await deployments.change("web", { deploymentID: digest("2"), stagedDeploymentID: digest("2") });
    await agent.until(() => agent.assigned.length === 2, "the change");
    await deployments.change("web", { paused: true });
    await agent.until(() => agent.assigned.length === 3, "the pause");
    await deployments.delete("web");
    await first.until(
      () => first.deployments.store.get(deployments.key("web")) === undefined,
      "the tombstone to go",
    );

    const deployment = { name: "web", uid: created.metadata.uid };
    assert.deepEqual(
      agent.assigned.map(({ content, ...rest }) => ({ ...rest, content: content?.toString() })),
      [
        { deployment, deploymentId: digest("1"), paused: false, content: digest("1") },
        { deployment, deploymentId: digest("2"), paused: false, content: digest("2") },
        { deployment, deploymentId: digest("2"), paused: true, content: undefined },
      ],
    );
    assert.deepEqual(agent.withdrawn, [deployment]);
    await agent.stop();
  });

  test("is handed a content of the largest size there is", async () => {
    const agent = await startEnrolled(rest, first, token, "large");

    await deploymentsOf(rest, "large").create("web", digest("9"));
    await agent.until(() => agent.assigned.length === 1, "the deployment");

    assert.ok(largest.equals(agent.assigned[0]?.content ?? Buffer.of()));
    await agent.stop();
  });

  test("is handed nothing of another cluster, and cannot report on it", async () => {
    const two = await startEnrolled(rest, first, token, "two");
    const three = await startEnrolled(rest, first, token, "three");
    const created = await deploymentsOf(rest, "two").create("web", digest("1"));
    await two.until(() => two.assigned.length === 1, "the deployment of the other");
    const before = first.kept.length;

    three.link.outbox.report(deployedState({ name: "web", uid: created.metadata.uid ?? "" }));
    await first.log.until(
      () => first.log.lines.some((line) => line.includes("rejected an agent's report")),
      "it is refused",
    );

    assert.equal(three.assigned.length, 0);
    assert.equal(first.kept.length, before);
    await Promise.all([two.stop(), three.stop()]);
  });

  test("has its reports kept with their place, and says them until they are", async () => {
    const agent = await startEnrolled(rest, first, token, "four");
    const created = await deploymentsOf(rest, "four").create("web", digest("1"));
    await agent.until(() => agent.assigned.length === 1, "the deployment");
    const key = { name: "web", uid: created.metadata.uid ?? "" };

    agent.link.outbox.report(deployedState(key, "first"));
    agent.link.outbox.report(deployedState(key, "second"));
    const reports = () => first.kept.filter(({ cluster }) => cluster === "four");
    await first.until(() => reports().at(-1)?.state.message === "second", "the report");

    const epoch = clusterOf(first, "four")?.status?.agent?.epoch;
    assert.ok(reports().every(({ place }) => place.epoch === epoch && place.sequence > 0));
    await agent.stop();
  });

  test("has its orphans shown on its Cluster as they come and go", async () => {
    const agent = await startEnrolled(rest, first, token, "orphaned");
    const deployments = deploymentsOf(rest, "orphaned");
    const orphans = () => clusterOf(first, "orphaned")?.status?.orphans;
    await deployments.create("web", digest("1"));
    await agent.until(() => agent.assigned.length === 1, "the deployment");

    await deployments.lose("web");
    await first.until(() => orphans()?.join() === "web", "the orphan");
    assert.deepEqual(agent.withdrawn, []);
    const again = await deployments.create("web", digest("1"));
    await first.until(() => orphans()?.length === 0, "it is none any more");
    await agent.until(() => agent.assigned.length === 2, "the deployment again");

    assert.equal(agent.assigned[1]?.deployment.uid, again.metadata.uid);
    assert.deepEqual(agent.withdrawn, []);
    await agent.stop();
  });

  test("hears nothing of what is for an earlier Cluster of its name", async () => {
    const agent = await startEnrolled(rest, first, token, "second");
    const deployments = deploymentsOf(rest, "second");
    await deployments.create("old", digest("1"), { [clusterUidLabel]: "earlier" });
    await deployments.delete("old");
    await deployments.create("new", digest("1"));
    await agent.until(() => agent.assigned.length === 1, "the deployment");

    assert.equal(agent.assigned[0]?.deployment.name, "new");
    assert.deepEqual(agent.withdrawn, []);
    await agent.stop();
  });

  test("is recorded as gone when it stops, and as connected when it comes back", async () => {
    const agent = await startEnrolled(rest, first, token, "five");
    assert.equal(clusterOf(first, "five")?.status?.agent?.epoch, 1);

    await agent.stop();
    await first.until(
      () => clusterOf(first, "five")?.status?.agent?.connected === false,
      "it is gone",
    );
    const again = startAgent(rest, agent.namespace);
    await connected(first, "five");

    const { epoch, replica, version, namespace } = clusterOf(first, "five")?.status?.agent ?? {};
    assert.deepEqual(
      { epoch, replica, version, namespace },
      { epoch: 2, replica: "hub-0", version: "test", namespace: agent.namespace },
    );
    await again.stop();
  });
});

describe("a hub that is restarted", () => {
  // Two leaders would each write their own address into the tokens' Secrets.
  beforeAll(() => first.stop());

  test("has its agents back at once, repeats nothing that they hold, and hears all their states", async () => {
    const hub = await startHub(rest);
    const token = await makeToken(rest, hub, "restart");
    const agent = await startEnrolled(rest, hub, token, "six");
    const deployments = deploymentsOf(rest, "six");
    const kept = await deployments.create("kept", digest("1"));
    const changed = await deployments.create("changed", digest("1"));
    await agent.until(() => agent.assigned.length === 2, "both deployments");
    for (const { metadata } of [kept, changed]) {
      const key = { name: metadata.name, uid: metadata.uid ?? "" };
      agent.states.set(key.name, deployedState(key));
    }
    agent.held.set("orphan", {
      name: "orphan",
      uid: "x",
      deploymentId: digest("0"),
      paused: false,
      withdrawing: false,
    });

    await hub.stop();
    await deployments.change("changed", { deploymentID: digest("2") });
    const next = await startHub(rest, { port: hub.port });
    await next.until(() => next.kept.length >= 2, "the states");
    await agent.until(() => agent.assigned.length === 3, "the change");

    assert.deepEqual(
      agent.assigned.slice(2).map(({ deployment }) => deployment.name),
      ["changed"],
    );
    assert.deepEqual(
      new Set(next.kept.map(({ state }) => state.name)),
      new Set(["changed", "kept"]),
    );
    assert.deepEqual(agent.withdrawn, []);
    assert.ok(agent.held.has("orphan"));
    await next.until(
      () => clusterOf(next, "six")?.status?.orphans?.includes("orphan") === true,
      "the orphan on the Cluster",
    );
    await agent.stop();
    await next.stop();
  });

  test("gives agents that were connected before a while to come back, then records them as gone", async () => {
    const hub = await startHub(rest);
    const token = await makeToken(rest, hub, "gone");
    const agent = await startEnrolled(rest, hub, token, "seven");
    await hub.stop();
    await agent.stop();

    const clock = createFakeClock(Date.now());
    const next = await startHub(rest, { clock });
    await clock.timer((delayMs) => delayMs > 59_000 && delayMs <= 60_000);
    assert.equal(clusterOf(next, "seven")?.status?.agent?.connected, true);
    await clock.advance(61_000);
    await next.until(
      () => clusterOf(next, "seven")?.status?.agent?.connected === false,
      "it is gone",
    );

    await next.stop();
  });
});

describe("a replica that has not heard yet that a Cluster is gone", () => {
  test("sends no withdrawal for what goes with its Cluster", async () => {
    const { slow, hold } = slowWatch(rest);
    const lagging = await startHub(rest, { clusterWatch: slow });
    const agent = await startEnrolled(
      rest,
      lagging,
      await makeToken(rest, lagging, "slow"),
      "left",
    );
    const deployments = deploymentsOf(rest, "left");
    await deployments.create("web", digest("1"));
    await agent.until(() => agent.assigned.length === 1, "the deployment");
    const release = hold();

    await rest.delete(clusters, { namespace: workspace, name: "left" });
    // As it goes with the namespace of its Cluster.
    await deployments.delete("web");
    await deployments.create("marker", digest("2"));
    await agent.until(() => agent.assigned.length === 2, "what comes behind it");

    assert.deepEqual(agent.withdrawn, []);
    assert.ok(agent.link.isConnected);
    release();
    const isEnd = (line: string) => line.includes("Cluster fleet-default/left was deleted");
    await agent.log.until(() => agent.log.lines.some(isEnd), "the end");
    await agent.stop();
    await lagging.stop();
  });
});
