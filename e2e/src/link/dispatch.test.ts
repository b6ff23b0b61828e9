import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { clusters } from "@flotilla/shared/api";
import { clusterUidLabel } from "@flotilla/shared/api/names";
import { maxContentBytes } from "@flotilla/shared/content";
import { createFakeClock } from "@flotilla/shared/time/testing";
import { beforeAll, describe, test } from "vitest";
import { startHubControlPlane, workspace } from "../harness/hub-control-plane.ts";
import { startInProcessAgent } from "../harness/in-process-agent.ts";
import { startInProcessHub } from "../harness/in-process-hub.ts";
import {
  clusterOf,
  createToken,
  startEnrolledAgent,
  waitUntilConnected,
} from "../harness/registration.ts";
import { deployedState, deploymentsOf, sha256 } from "./deployments.ts";
import { slowWatch } from "./slow-watch.ts";

const rest = await startHubControlPlane();
// Random bytes are not compressed: packed they take a few bytes more.
const largest = randomBytes(maxContentBytes + 64 * 1024);
const first = await startInProcessHub(rest, {
  content: (id) => (id === sha256("9") ? largest : Buffer.from(id)),
});
const token = await createToken(rest, first, "token");

describe("an agent that is connected", () => {
  test("is sent assignments of its cluster, their changes, and withdrawals", async () => {
    const agent = await startEnrolledAgent(rest, first, token, "one");
    const deployments = deploymentsOf(rest, "one");

    const created = await deployments.create("web", sha256("1"));
    await agent.until(() => agent.assigned.length === 1, "the deployment");
    await deployments.change("web", { deploymentID: sha256("2"), stagedDeploymentID: sha256("2") });
    await agent.until(() => agent.assigned.length === 2, "the change");
    await deployments.change("web", { paused: true });
    await agent.until(() => agent.assigned.length === 3, "the pause");
    await deployments.delete("web");
    await first.until(
      () => first.deployments.store.get(deployments.key("web")) === undefined,
      "the tombstone to be deleted",
    );

    const deployment = { name: "web", uid: created.metadata.uid };
    assert.deepEqual(
      agent.assigned.map(({ content, ...rest }) => ({ ...rest, content: content?.toString() })),
      [
        { deployment, deploymentId: sha256("1"), paused: false, content: sha256("1") },
        { deployment, deploymentId: sha256("2"), paused: false, content: sha256("2") },
        { deployment, deploymentId: sha256("2"), paused: true, content: undefined },
      ],
    );
    assert.deepEqual(agent.withdrawn, [deployment]);
    await agent.stop();
  });

  test("is sent a content of the maximum size", async () => {
    const agent = await startEnrolledAgent(rest, first, token, "large");

    await deploymentsOf(rest, "large").create("web", sha256("9"));
    await agent.until(() => agent.assigned.length === 1, "the deployment");

    assert.ok(largest.equals(agent.assigned[0]?.content ?? Buffer.of()));
    await agent.stop();
  });

  test("is sent nothing of another cluster, and cannot report on it", async () => {
    const two = await startEnrolledAgent(rest, first, token, "two");
    const three = await startEnrolledAgent(rest, first, token, "three");
    const created = await deploymentsOf(rest, "two").create("web", sha256("1"));
    await two.until(() => two.assigned.length === 1, "the deployment of the other");
    const before = first.reports.length;

    three.link.outbox.report(deployedState({ name: "web", uid: created.metadata.uid ?? "" }));
    await first.log.until(
      () => first.log.lines.some((line) => line.includes("rejected an agent's report")),
      "the report is rejected",
    );

    assert.equal(three.assigned.length, 0);
    assert.equal(first.reports.length, before);
    await Promise.all([two.stop(), three.stop()]);
  });

  test("has its reports stored with their position, and repeats them until they are acknowledged", async () => {
    const agent = await startEnrolledAgent(rest, first, token, "four");
    const created = await deploymentsOf(rest, "four").create("web", sha256("1"));
    await agent.until(() => agent.assigned.length === 1, "the deployment");
    const key = { name: "web", uid: created.metadata.uid ?? "" };

    agent.link.outbox.report(deployedState(key, "first"));
    agent.link.outbox.report(deployedState(key, "second"));
    const reports = () => first.reports.filter(({ cluster }) => cluster === "four");
    await first.until(() => reports().at(-1)?.state.message === "second", "the report");

    const epoch = clusterOf(first, "four")?.status?.agent?.epoch;
    assert.ok(reports().every(({ position }) => position.epoch === epoch && position.sequence > 0));
    await agent.stop();
  });

  test("has its orphans listed on its Cluster", async () => {
    const agent = await startEnrolledAgent(rest, first, token, "orphaned");
    const deployments = deploymentsOf(rest, "orphaned");
    const orphans = () => clusterOf(first, "orphaned")?.status?.orphans;
    await deployments.create("web", sha256("1"));
    await agent.until(() => agent.assigned.length === 1, "the deployment");

    await deployments.remove("web");
    await first.until(() => orphans()?.join() === "web", "the orphan");
    assert.deepEqual(agent.withdrawn, []);
    const again = await deployments.create("web", sha256("1"));
    await first.until(() => orphans()?.length === 0, "it is none any more");
    await agent.until(() => agent.assigned.length === 2, "the deployment again");

    assert.equal(agent.assigned[1]?.deployment.uid, again.metadata.uid);
    assert.deepEqual(agent.withdrawn, []);
    await agent.stop();
  });

  test("is sent nothing of an earlier Cluster of the same name", async () => {
    const agent = await startEnrolledAgent(rest, first, token, "second");
    const deployments = deploymentsOf(rest, "second");
    await deployments.create("old", sha256("1"), { [clusterUidLabel]: "earlier" });
    await deployments.delete("old");
    await deployments.create("new", sha256("1"));
    await agent.until(() => agent.assigned.length === 1, "the deployment");

    assert.equal(agent.assigned[0]?.deployment.name, "new");
    assert.deepEqual(agent.withdrawn, []);
    await agent.stop();
  });

  test("is recorded as disconnected when it stops, and as connected when it starts again", async () => {
    const agent = await startEnrolledAgent(rest, first, token, "five");
    assert.equal(clusterOf(first, "five")?.status?.agent?.epoch, 1);

    await agent.stop();
    await first.until(
      () => clusterOf(first, "five")?.status?.agent?.connected === false,
      "it is disconnected",
    );
    const again = startInProcessAgent(rest, agent.namespace);
    await waitUntilConnected(first, "five");

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

  test("gets its agents back at once, repeats no assignment, and receives all states", async () => {
    const hub = await startInProcessHub(rest);
    const token = await createToken(rest, hub, "restart");
    const agent = await startEnrolledAgent(rest, hub, token, "six");
    const deployments = deploymentsOf(rest, "six");
    const same = await deployments.create("same", sha256("1"));
    const changed = await deployments.create("changed", sha256("1"));
    await agent.until(() => agent.assigned.length === 2, "both deployments");
    for (const { metadata } of [same, changed]) {
      const key = { name: metadata.name, uid: metadata.uid ?? "" };
      agent.states.set(key.name, deployedState(key));
    }
    agent.observed.set("orphan", {
      name: "orphan",
      uid: "x",
      deploymentId: sha256("0"),
      paused: false,
      withdrawing: false,
    });

    await hub.stop();
    await deployments.change("changed", { deploymentID: sha256("2") });
    const next = await startInProcessHub(rest, { port: hub.port });
    await next.until(() => next.reports.length >= 2, "the states");
    await agent.until(() => agent.assigned.length === 3, "the change");

    assert.deepEqual(
      agent.assigned.slice(2).map(({ deployment }) => deployment.name),
      ["changed"],
    );
    assert.deepEqual(
      new Set(next.reports.map(({ state }) => state.name)),
      new Set(["changed", "same"]),
    );
    assert.deepEqual(agent.withdrawn, []);
    assert.ok(agent.observed.has("orphan"));
    await next.until(
      () => clusterOf(next, "six")?.status?.orphans?.includes("orphan") === true,
      "the orphan on the Cluster",
    );
    await agent.stop();
    await next.stop();
  });

  test("waits for agents that were connected before, then records them as disconnected", async () => {
    const hub = await startInProcessHub(rest);
    const token = await createToken(rest, hub, "gone");
    const agent = await startEnrolledAgent(rest, hub, token, "seven");
    await hub.stop();
    await agent.stop();

    const clock = createFakeClock(Date.now());
    const next = await startInProcessHub(rest, { clock });
    await clock.timer((delayMs) => delayMs > 59_000 && delayMs <= 60_000);
    assert.equal(clusterOf(next, "seven")?.status?.agent?.connected, true);
    await clock.advance(61_000);
    await next.until(
      () => clusterOf(next, "seven")?.status?.agent?.connected === false,
      "it is disconnected",
    );

    await next.stop();
  });
});

describe("a replica whose watch has not delivered the deletion of a Cluster", () => {
  test("sends no withdrawal for BundleDeployments that are deleted with their Cluster", async () => {
    const { slow, hold } = slowWatch(rest);
    const lagging = await startInProcessHub(rest, { clusterWatch: slow });
    const agent = await startEnrolledAgent(
      rest,
      lagging,
      await createToken(rest, lagging, "slow"),
      "left",
    );
    const deployments = deploymentsOf(rest, "left");
    await deployments.create("web", sha256("1"));
    await agent.until(() => agent.assigned.length === 1, "the deployment");
    const release = hold();

    await rest.delete(clusters, { namespace: workspace, name: "left" });
    // As when the namespace of its Cluster is deleted.
    await deployments.delete("web");
    await deployments.create("marker", sha256("2"));
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
