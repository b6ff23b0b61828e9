/** Cluster info and referenced objects of the workspace, which agents get besides deployments. */
import assert from "node:assert/strict";
import type { ReferencedObject } from "@flotilla/proto";
import { clusters } from "@flotilla/shared/api";
import { configMaps, secrets } from "@flotilla/shared/kube/objects";
import { unpackClusterInfo, unpackReferencedObject } from "@flotilla/shared/referenced";
import { describe, test } from "vitest";
import { startHubControlPlane, workspace } from "../harness/hub-control-plane.ts";
import { type InProcessAgent, startInProcessAgent } from "../harness/in-process-agent.ts";
import { startInProcessHub } from "../harness/in-process-hub.ts";
import {
  createToken,
  encoded,
  startEnrolledAgent,
  waitUntilConnected,
} from "../harness/registration.ts";
import { deploymentsOf, sha256 } from "./deployments.ts";

const rest = await startHubControlPlane();
const hub = await startInProcessHub(rest);
const token = await createToken(rest, hub, "token");

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

async function dataIn(object: ReferencedObject | undefined) {
  if (object?.packed === undefined) return undefined;
  const { digest: packedDigest, content } = object.packed;
  const { data } = await unpackReferencedObject(object, { digest: packedDigest, bytes: content });
  return data;
}

async function passwordIn(object: ReferencedObject | undefined): Promise<string | undefined> {
  const password = (await dataIn(object))?.["password"];
  return password === undefined ? undefined : Buffer.from(password, "base64").toString();
}

const namesOf = (agent: InProcessAgent) =>
  agent.receivedObjects.map(
    ({ name, packed }) => `${name} ${packed === undefined ? "gone" : "there"}`,
  );

describe("an agent", () => {
  test("gets cluster info, then referenced objects, then deployments", async () => {
    await createSecret("first", { password: "one" });
    const agent = await startEnrolledAgent(rest, hub, token, "order");
    const deployments = deploymentsOf(rest, "order");
    await deployments.create("web", sha256("1"), {}, ["Secret/first"]);
    await agent.until(() => agent.order.length === 3, "the deployment and its Secret");
    await agent.stop();

    const again = startInProcessAgent(rest, agent.namespace);
    await again.until(() => again.order.length === 3, "all of it again");

    assert.equal(agent.order[0], "info");
    assert.deepEqual(again.order, ["info", "object Secret/first", "assign web"]);
    await again.stop();
  });

  test("gets each change of an object, and an agent that does not reference it gets none", async () => {
    await createSecret("rotated", { password: "one" });
    await createSecret("other", { password: "other" });
    const agent = await startEnrolledAgent(rest, hub, token, "needs");
    const other = await startEnrolledAgent(rest, hub, token, "without-objects");
    const deployments = deploymentsOf(rest, "needs");
    await deployments.create("web", sha256("1"), {}, ["Secret/rotated"]);
    await deploymentsOf(rest, "without-objects").create("web", sha256("1"));
    await agent.until(() => agent.receivedObjects.length === 1, "the Secret");

    await rotate("other", { password: "not for anybody" });
    await rotate("rotated", { password: "two" });
    await agent.until(() => agent.receivedObjects.length === 2, "the rotated one");
    await other.until(() => other.assigned.length === 1, "the other deployment");

    assert.deepEqual(namesOf(agent), ["rotated there", "rotated there"]);
    assert.deepEqual(await Promise.all(agent.receivedObjects.map(passwordIn)), ["one", "two"]);
    assert.equal(agent.assigned.length, 1);
    assert.deepEqual(other.receivedObjects, []);
    await Promise.all([agent.stop(), other.stop()]);
  });

  test("gets the keys that its deployments use, whatever else is in the Secret", async () => {
    const texts = { password: "one", salaries: "secret", other: "o" };
    await createSecret("payroll", texts);
    const agent = await startEnrolledAgent(rest, hub, token, "keys");
    const deployments = deploymentsOf(rest, "keys");
    await deployments.create("web", sha256("1"), {}, ["Secret/payroll#password"]);
    await agent.until(() => agent.receivedObjects.length === 1, "the password");

    await rotate("payroll", { ...texts, salaries: "higher" });
    await rotate("payroll", { ...texts, password: "two" });
    await agent.until(() => agent.receivedObjects.length === 2, "the rotated password");
    await deployments.create("more", sha256("1"), {}, ["Secret/payroll#other,nothing"]);
    await agent.until(() => agent.receivedObjects.length === 3, "what the second one uses");
    await deployments.delete("more");
    await agent.until(() => agent.receivedObjects.length === 4, "the password alone");

    assert.deepEqual(await Promise.all(agent.receivedObjects.map(dataIn)), [
      encoded({ password: "one" }),
      encoded({ password: "two" }),
      encoded({ password: "two", other: "o" }),
      encoded({ password: "two" }),
    ]);
    await agent.stop();
  });

  test("is sent missing, deleted and restored objects", async () => {
    const agent = await startEnrolledAgent(rest, hub, token, "missing");
    await deploymentsOf(rest, "missing").create("web", sha256("1"), {}, ["ConfigMap/late"]);
    await agent.until(() => agent.receivedObjects.length === 1, "that there is none");

    const late = {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { namespace: workspace, name: "late" },
    };
    await rest.create(configMaps, { ...late, data: { a: "b" } });
    await agent.until(() => agent.receivedObjects.length === 2, "the new one");
    await rest.delete(configMaps, late.metadata);
    await agent.until(() => agent.receivedObjects.length === 3, "that it is gone");

    assert.deepEqual(namesOf(agent), ["late gone", "late there", "late gone"]);
    assert.deepEqual(
      agent.order.filter((what) => what.startsWith("drop")),
      [],
    );
    await agent.stop();
  });

  test("gets an object that is referenced later", async () => {
    await createSecret("watched", { password: "one" });
    const agent = await startEnrolledAgent(rest, hub, token, "later");
    const deployments = deploymentsOf(rest, "later");
    await deployments.create("web", sha256("1"), {}, ["Secret/watched"]);
    await agent.until(() => agent.receivedObjects.length === 1, "the first");
    await createSecret("seen", { password: "seen" });
    await rotate("watched", { password: "two" });
    await agent.until(
      () => agent.receivedObjects.length === 2,
      "a change behind that of the other",
    );

    await deployments.change("web", { referencedObjects: ["Secret/watched", "Secret/seen"] });
    await agent.until(() => agent.receivedObjects.length === 3, "the one that was seen");

    assert.equal(await passwordIn(agent.receivedObjects[2]), "seen");
    await agent.stop();
  });

  test("gets only the objects that differ from its own", async () => {
    await createSecret("same", { password: "one" });
    await createSecret("changed", { password: "one" });
    const agent = await startEnrolledAgent(rest, hub, token, "differs");
    const deployments = deploymentsOf(rest, "differs");
    await deployments.create("web", sha256("1"), {}, ["Secret/same", "Secret/changed"]);
    await agent.until(() => agent.receivedObjects.length === 2, "both");
    await agent.stop();
    await rotate("changed", { password: "two" });

    const again = startInProcessAgent(rest, agent.namespace);
    for (const [key, holding] of agent.referencedObjects) again.referencedObjects.set(key, holding);
    again.referencedObjects.set("Secret/unnamed", {
      kind: "Secret",
      name: "unnamed",
      digest: "sha256:1",
    });
    await again.until(() => again.order.includes("withdraw Secret/unnamed"), "the withdrawal");

    assert.deepEqual(again.order, [
      "info",
      "object Secret/changed",
      "assign web",
      "withdraw Secret/unnamed",
    ]);
    await again.stop();
  });

  test("keeps an object until the last deployment that references it is deleted", async () => {
    await createSecret("shared", { password: "one" });
    const agent = await startEnrolledAgent(rest, hub, token, "shared");
    const deployments = deploymentsOf(rest, "shared");
    await deployments.create("a", sha256("1"), {}, ["Secret/shared"]);
    await deployments.create("b", sha256("1"), {}, ["Secret/shared"]);
    await agent.until(() => agent.assigned.length === 2, "both deployments");

    await deployments.delete("a");
    await hub.until(() => hub.deployments.store.get(deployments.key("a")) === undefined, "a gone");
    assert.deepEqual(agent.referencedObjects.size, 1);
    await deployments.delete("b");
    await agent.until(() => agent.referencedObjects.size === 0, "the withdrawal");

    assert.equal(agent.withdrawn.length, 2);
    assert.deepEqual(agent.order.slice(-1), ["withdraw Secret/shared"]);
    await agent.stop();
  });

  test("is sent cluster info once for each change", async () => {
    const agent = await startEnrolledAgent(rest, hub, token, "info");
    await agent.until(() => agent.clusterInfo.length === 1, "the cluster info");
    const ref = { namespace: workspace, name: "info" };
    const patch = (body: object) => rest.patch(clusters, ref, { type: "merge", body });

    await patch({ status: { agent: { version: "other" } } });
    await patch({ metadata: { labels: { region: "eu" } } });
    await agent.until(() => agent.clusterInfo.length === 2, "the label");
    await patch({ spec: { templateValues: { size: 3 } } });
    await agent.until(() => agent.clusterInfo.length === 3, "the template values");

    const latest = agent.clusterInfo[2];
    assert.ok(latest !== undefined);
    const { labels, templateValues, name, namespace } = await unpackClusterInfo(latest);
    assert.equal(labels["region"], "eu");
    assert.deepEqual({ templateValues, name, namespace }, { templateValues: { size: 3 }, ...ref });
    await agent.stop();
    await hub.until(
      () => hub.clusters.store.get(`${workspace}/info`)?.status?.agent?.connected === false,
      "it to be disconnected",
    );

    const again = startInProcessAgent(rest, agent.namespace);
    await waitUntilConnected(hub, "info");
    await again.until(() => again.clusterInfo.length === 1, "the cluster info again");
    await again.stop();
  });
});
