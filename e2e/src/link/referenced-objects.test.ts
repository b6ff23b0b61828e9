/** What agents get besides deployments: facts, and what their deployments name of the workspace. */
import assert from "node:assert/strict";
import type { ReferencedObject } from "@flotilla/proto";
import { clusters } from "@flotilla/shared/api";
import { configMaps, secrets } from "@flotilla/shared/kube/objects";
import { unpackClusterInfo, unpackReferencedObject } from "@flotilla/shared/referenced";
import { describe, test } from "vitest";
import { startHubCluster, workspace } from "../harness/hub-control-plane.ts";
import { startAgent, type TestAgent } from "../harness/in-process-agent.ts";
import { startHub } from "../harness/in-process-hub.ts";
import { connected, encoded, makeToken, startEnrolled } from "../harness/registration.ts";
import { deploymentsOf, digest } from "./deployments.ts";

const rest = await startHubCluster();
const hub = await startHub(rest);
const token = await makeToken(rest, hub, "token");

function createSecret(name: string, texts: Readonly<Record<string, string>>, more: object = {}) {
  return rest.create(secrets, {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name, namespace: workspace },
    data: encoded(texts),
    ...more,
  });
}

async function rotate(name: string, texts: Readonly<Record<string, string>>): Promise<void> {
  const ref = { namespace: workspace, name };
  await rest.patch(secrets, ref, { type: "merge", body: { data: encoded(texts) } });
}

async function passwordIn(supply: ReferencedObject | undefined): Promise<string | undefined> {
  if (supply?.packed === undefined) return undefined;
  const { digest: packedDigest, content } = supply.packed;
  const { data } = await unpackReferencedObject(supply, { digest: packedDigest, bytes: content });
  return Buffer.from(data?.["password"] ?? "", "base64").toString();
}

const namesOf = (agent: TestAgent) =>
  agent.supplies.map(({ name, packed }) => `${name} ${packed === undefined ? "gone" : "there"}`);

describe("an agent", () => {
  test("gets facts, then what its deployments name, then the deployments", async () => {
    await createSecret("first", { password: "one" });
    const agent = await startEnrolled(rest, hub, token, "order");
    const deployments = deploymentsOf(rest, "order");
    await deployments.create("web", digest("1"), {}, ["Secret/first"]);
    await agent.until(() => agent.order.length === 3, "the deployment and its Secret");
    await agent.stop();

    const again = startAgent(rest, agent.namespace);
    await again.until(() => again.order.length === 3, "all of it anew");

    assert.equal(agent.order[0], "facts");
    assert.deepEqual(again.order, ["facts", "supply Secret/first", "assign web"]);
    await again.stop();
  });

  test("gets what changes, as it changes, and the agent that does not need it never does", async () => {
    await createSecret("rotated", { password: "one" });
    await createSecret("other", { password: "other" });
    const agent = await startEnrolled(rest, hub, token, "needs");
    const stranger = await startEnrolled(rest, hub, token, "needs-not");
    const deployments = deploymentsOf(rest, "needs");
    await deployments.create("web", digest("1"), {}, ["Secret/rotated"]);
    await deploymentsOf(rest, "needs-not").create("web", digest("1"));
    await agent.until(() => agent.supplies.length === 1, "the Secret");

    await rotate("other", { password: "not for anybody" });
    await rotate("rotated", { password: "two" });
    await agent.until(() => agent.supplies.length === 2, "the rotated one");
    await stranger.until(() => stranger.assigned.length === 1, "the stranger's deployment");

    assert.deepEqual(namesOf(agent), ["rotated there", "rotated there"]);
    assert.deepEqual(await Promise.all(agent.supplies.map(passwordIn)), ["one", "two"]);
    assert.equal(agent.assigned.length, 1);
    assert.deepEqual(stranger.supplies, []);
    await Promise.all([agent.stop(), stranger.stop()]);
  });

  test("is told of what is not there, of what goes and of what comes back", async () => {
    const agent = await startEnrolled(rest, hub, token, "missing");
    await deploymentsOf(rest, "missing").create("web", digest("1"), {}, ["ConfigMap/late"]);
    await agent.until(() => agent.supplies.length === 1, "that there is none");

    const late = {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { namespace: workspace, name: "late" },
    };
    await rest.create(configMaps, { ...late, data: { a: "b" } });
    await agent.until(() => agent.supplies.length === 2, "the new one");
    await rest.delete(configMaps, late.metadata);
    await agent.until(() => agent.supplies.length === 3, "that it is gone");

    assert.deepEqual(namesOf(agent), ["late gone", "late there", "late gone"]);
    assert.deepEqual(
      agent.order.filter((what) => what.startsWith("drop")),
      [],
    );
    await agent.stop();
  });

  test("gets one that is named only after it was seen", async () => {
    await createSecret("watched", { password: "one" });
    const agent = await startEnrolled(rest, hub, token, "later");
    const deployments = deploymentsOf(rest, "later");
    await deployments.create("web", digest("1"), {}, ["Secret/watched"]);
    await agent.until(() => agent.supplies.length === 1, "the first");
    await createSecret("seen", { password: "seen" });
    await rotate("watched", { password: "two" });
    await agent.until(() => agent.supplies.length === 2, "a change behind that of the other");

    await deployments.change("web", { referencedObjects: ["Secret/watched", "Secret/seen"] });
    await agent.until(() => agent.supplies.length === 3, "the one that was seen");

    assert.equal(await passwordIn(agent.supplies[2]), "seen");
    await agent.stop();
  });

  test("gets only what differs from what it holds", async () => {
    await createSecret("kept", { password: "one" });
    await createSecret("changed", { password: "one" });
    const agent = await startEnrolled(rest, hub, token, "differs");
    const deployments = deploymentsOf(rest, "differs");
    await deployments.create("web", digest("1"), {}, ["Secret/kept", "Secret/changed"]);
    await agent.until(() => agent.supplies.length === 2, "both");
    await agent.stop();
    await rotate("changed", { password: "two" });

    const again = startAgent(rest, agent.namespace);
    for (const [key, holding] of agent.supplied) again.supplied.set(key, holding);
    again.supplied.set("Secret/unnamed", { kind: "Secret", name: "unnamed", digest: "sha256:1" });
    await again.until(() => again.order.includes("drop Secret/unnamed"), "the withdrawal");

    assert.deepEqual(again.order, [
      "facts",
      "supply Secret/changed",
      "assign web",
      "drop Secret/unnamed",
    ]);
    await again.stop();
  });

  test("keeps it until the last deployment that names it is gone", async () => {
    await createSecret("shared", { password: "one" });
    const agent = await startEnrolled(rest, hub, token, "shared");
    const deployments = deploymentsOf(rest, "shared");
    await deployments.create("a", digest("1"), {}, ["Secret/shared"]);
    await deployments.create("b", digest("1"), {}, ["Secret/shared"]);
    await agent.until(() => agent.assigned.length === 2, "both deployments");

    await deployments.delete("a");
    await hub.until(() => hub.deployments.store.get(deployments.key("a")) === undefined, "a gone");
    assert.deepEqual(agent.supplied.size, 1);
    await deployments.delete("b");
    await agent.until(() => agent.supplied.size === 0, "the withdrawal");

    assert.equal(agent.withdrawn.length, 2);
    assert.deepEqual(agent.order.slice(-1), ["drop Secret/shared"]);
    await agent.stop();
  });

  test("is told what its cluster is, once for each change", async () => {
    const agent = await startEnrolled(rest, hub, token, "facts");
    await agent.until(() => agent.facts.length === 1, "the facts");
    const ref = { namespace: workspace, name: "facts" };
    const patch = (body: object) => rest.patch(clusters, ref, { type: "merge", body });

    await patch({ status: { agent: { version: "other" } } });
    await patch({ metadata: { labels: { region: "eu" } } });
    await agent.until(() => agent.facts.length === 2, "the label");
    await patch({ spec: { templateValues: { size: 3 } } });
    await agent.until(() => agent.facts.length === 3, "the template values");

    const latest = agent.facts[2];
    assert.ok(latest !== undefined);
    const { labels, templateValues, name, namespace } = await unpackClusterInfo(latest);
    assert.equal(labels["region"], "eu");
    assert.deepEqual({ templateValues, name, namespace }, { templateValues: { size: 3 }, ...ref });
    await agent.stop();
    await hub.until(
      () => hub.clusters.store.get(`${workspace}/facts`)?.status?.agent?.connected === false,
      "it to be gone",
    );

    const again = startAgent(rest, agent.namespace);
    await connected(hub, "facts");
    await again.until(() => again.facts.length === 1, "the facts anew");
    await again.stop();
  });
});
