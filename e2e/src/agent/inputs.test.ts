/** Values from objects of the cluster, and downstream resources from objects of the hub, as an agent applies them. */

import assert from "node:assert/strict";
import type { ReferencedObject } from "@flotilla/proto";
import type { ObjectRef } from "@flotilla/shared/api";
import {
  type ConfigMap,
  configMaps,
  namespaces,
  type Secret,
  secrets,
} from "@flotilla/shared/kube/objects";
import {
  packClusterInfo,
  packReferencedObject,
  type ReferencedObjectData,
} from "@flotilla/shared/referenced";
import { beforeAll, test } from "vitest";
import { chartArchive, configChart } from "../harness/chart-archive.ts";
import { releaseHistory, waitForRevision } from "../harness/releases.ts";
import { waitForObject, waitUntilGone } from "../harness/wait.ts";
import { startAgentCluster } from "./agent-cluster.ts";
import { assignmentOf, type DeploymentSpec } from "./assignment.ts";
import { startRestartableAgent } from "./restartable-agent.ts";

const cluster = await startAgentCluster();
const agent = await startRestartableAgent(cluster.spec);
const chart = await configChart("greeter", "1.0.0");
cluster.charts.publish(chart);
const defaults = { kind: "ConfigMap", name: "defaults", key: "values.yaml" } as const;
const login = { kind: "Secret", name: "login" } as const;
const base64 = (text: string) => Buffer.from(text).toString("base64");

/** Sends cluster info as the hub does. */
async function setLabels(labels: Readonly<Record<string, string>>): Promise<void> {
  const info = { namespace: "fleet-default", name: "paris", annotations: {}, templateValues: {} };
  await agent.intake.setClusterInfo(await packClusterInfo({ ...info, labels }));
}

beforeAll(() => setLabels({}));

async function assign(name: string, spec: Partial<DeploymentSpec>): Promise<void> {
  await agent.intake.assign(await assignmentOf({ name, chart, url: cluster.charts.url, ...spec }));
}

async function setObject(ref: ObjectRef, object: ReferencedObjectData): Promise<void> {
  const { digest, bytes } = await packReferencedObject(object);
  await agent.intake.setReferencedObject({
    ...ref,
    packed: { digest, content: bytes },
  } satisfies ReferencedObject);
}

/** Resolves with the ConfigMap of the chart once it has this greeting. */
function waitForGreeting(release: string, greeting: string): Promise<ConfigMap | undefined> {
  const ref = { namespace: release, name: `${release}-config` };
  return waitForObject(cluster.client, configMaps, ref, `with greeting ${greeting}`, (found) => {
    return found.data?.["greeting"] === greeting;
  });
}

const copyRef = (namespace: string) => ({ namespace, name: login.name });

function waitForCopy(
  namespace: string,
  what = "copied",
  isDesired = (_: Secret) => true,
): Promise<Secret> {
  return waitForObject(cluster.client, secrets, copyRef(namespace), what, isDesired);
}

async function namespace(name: string): Promise<void> {
  await cluster.client.create(namespaces, { metadata: { name } });
}

test("values of a ConfigMap are waited for, applied as soon as they exist, and applied again when they change", async () => {
  await namespace("watched");
  await assign("watched", { values: { greeting: "own" }, valuesFrom: [defaults] });
  const missing = await agent.report(({ name, code }) => name === "watched" && code !== undefined);
  assert.equal(missing.code, "VALUES_SOURCE_MISSING");
  assert.match(
    missing.message,
    /^ConfigMap watched\/defaults not found, which valuesFrom references; the agent continues as soon as it exists/,
  );

  const ref = { namespace: "watched", name: defaults.name };
  await cluster.client.create(configMaps, { metadata: ref, data: { other: "" } });
  const keyless = await agent.report(({ message }) => message.startsWith("key values.yaml"));
  assert.match(keyless.message, /not found in ConfigMap watched\/defaults/);

  const change = (greeting: string) =>
    cluster.client.patch(configMaps, ref, {
      type: "merge",
      body: { data: { [defaults.key]: `greeting: ${greeting}\n` } },
    });
  await change("first");
  await waitForGreeting("watched", "first");
  await change("second");
  await waitForGreeting("watched", "second");
  await waitForRevision(cluster.client, "watched", 2, "deployed");
  assert.deepEqual(await releaseHistory(cluster.client, "watched"), ["1 superseded", "2 deployed"]);
});

test("later sources override earlier ones, and a change without effect runs no Helm", async () => {
  await namespace("ordered");
  const source = (name: string, greeting: string) =>
    cluster.client.create(secrets, {
      metadata: { namespace: "ordered", name },
      data: { [defaults.key]: base64(`greeting: ${greeting}\nextra: {${name}: true}\n`) },
    });
  await source("early", "early");
  await source("late", "late");
  const from = (name: string) => ({ ...defaults, kind: "Secret", name }) as const;
  await assign("ordered", { valuesFrom: [from("early"), from("late")] });
  await waitForGreeting("ordered", "late");

  await cluster.client.patch(
    secrets,
    { namespace: "ordered", name: "late" },
    {
      type: "merge",
      body: { data: { [defaults.key]: base64("greeting: 'late'\nextra: {late: true}\n") } },
    },
  );
  await cluster.client.patch(
    secrets,
    { namespace: "ordered", name: "early" },
    {
      type: "merge",
      body: { data: { [defaults.key]: base64("greeting: other\nextra: {early: false}\n") } },
    },
  );
  await waitForRevision(cluster.client, "ordered", 2, "deployed");
  assert.deepEqual(await releaseHistory(cluster.client, "ordered"), ["1 superseded", "2 deployed"]);
});

test("a Secret of the hub is copied before the release, updated, restored, and deleted with it", async () => {
  await assign("copied", { downstreamResources: [login] });
  const awaited = await agent.report(({ name, message }) => name === "copied" && message !== "");
  assert.match(
    awaited.message,
    /^waiting for the hub to send the Secret fleet-default\/login, which is copied/,
  );

  await setObject(login, {
    type: "kubernetes.io/basic-auth",
    data: { username: base64("me"), password: base64("one") },
    labels: { team: "a" },
  });
  const copy = await waitForCopy("copied");
  assert.equal(copy.type, "kubernetes.io/basic-auth");
  assert.deepEqual(copy.metadata.labels, {
    team: "a",
    "fleet.cattle.io/bundledeployment": "copied",
  });
  await waitForRevision(cluster.client, "copied", 1, "deployed");

  await setObject(login, {
    type: "kubernetes.io/basic-auth",
    data: { username: base64("me"), password: base64("two") },
  });
  await waitForCopy("copied", "rotated", ({ data }) => data?.["password"] === base64("two"));
  await waitForRevision(cluster.client, "copied", 2, "deployed");

  await cluster.client.delete(secrets, { namespace: "copied", name: login.name });
  await waitForCopy("copied", "there again", ({ data }) => data?.["password"] === base64("two"));
  assert.deepEqual(await releaseHistory(cluster.client, "copied"), ["1 superseded", "2 deployed"]);

  await agent.intake.withdraw({ name: "copied", uid: "uid-copied" });
  await waitUntilGone(cluster.client, secrets, copyRef("copied"));
});

test("values may come from a copied object, also before it is copied", async () => {
  const settings = { kind: "ConfigMap", name: "settings" } as const;
  await setObject(settings, { data: { [defaults.key]: "greeting: copied\n" } });

  await assign("from-copy", {
    downstreamResources: [settings],
    valuesFrom: [{ ...settings, key: defaults.key, namespace: "fleet-default" }],
  });

  await waitForGreeting("from-copy", "copied");
});

test("an existing object of the same name is not changed, and reported", async () => {
  await namespace("taken");
  const data = { password: base64("theirs") };
  await cluster.client.create(secrets, {
    metadata: { namespace: "taken", name: login.name },
    data,
  });
  await assign("taken", { downstreamResources: [login] });

  const rejected = await agent.report(({ name, code }) => name === "taken" && code !== undefined);

  assert.equal(rejected.code, "DOWNSTREAM_RESOURCE_CONFLICT");
  assert.match(rejected.message, /to Secret taken\/login: the cluster has such an object already/);
  const kept = await cluster.client.reader.get(secrets, { namespace: "taken", name: login.name });
  assert.deepEqual(kept?.data, data);
  assert.deepEqual(await releaseHistory(cluster.client, "taken"), []);
});

test("two deployments of one namespace share a copy, which is deleted with the last", async () => {
  await assign("one", { namespace: "shared", downstreamResources: [login] });
  await assign("two", { namespace: "shared", downstreamResources: [login] });
  await agent.report(({ name, phase }) => name === "one" && phase === "deployed");
  await agent.report(({ name, phase }) => name === "two" && phase === "deployed");
  const copy = await waitForCopy("shared");

  await agent.intake.withdraw({ name: "one", uid: "uid-one" });
  await agent.withdrawn("one");
  const kept = await cluster.client.reader.get(secrets, { namespace: "shared", name: login.name });
  assert.equal(kept?.metadata.uid, copy.metadata.uid);

  await agent.intake.withdraw({ name: "two", uid: "uid-two" });
  await waitUntilGone(cluster.client, secrets, copyRef("shared"));
});

test("a deployment waits for its dependencies before it reads values that they create", async () => {
  const spec = {
    namespace: "shop",
    valuesFrom: [{ ...defaults, name: "db-config", key: "made" }],
  };
  await namespace("shop");
  await assign("shop-front", { ...spec, dependsOn: [{ name: "db" }] });

  const waiting = await agent.report(
    ({ name, message }) => name === "shop-front" && message !== "",
  );
  assert.equal(waiting.phase, "pending");
  assert.match(waiting.message, /^waiting for db, which this cluster does not have/);

  await assign("db", { namespace: "shop" });
  const missing = await agent.report(
    ({ name, code }) => name === "shop-front" && code !== undefined,
  );
  assert.match(missing.message, /^key made not found in ConfigMap shop\/db-config/);
});

test("a moved deployment stays at its former place while its dependency is missing", async () => {
  await assign("mover", {});
  await agent.report(({ name, phase }) => name === "mover" && phase === "deployed");

  await assign("mover", { namespace: "mover-new", dependsOn: [{ name: "mover-db" }] });
  await agent.report(({ name, message }) => name === "mover" && message.startsWith("waiting for"));
  assert.deepEqual(await releaseHistory(cluster.client, "mover"), ["1 deployed"]);

  await assign("mover-db", {});
  await agent.report((state) => state.release?.namespace === "mover-new");
  assert.deepEqual(await releaseHistory(cluster.client, "mover"), []);
});

test("a template with a missing label fails with its name, alone, and is rendered at once when the label is set", async () => {
  await assign("regional", { values: { greeting: "hello ${ .ClusterLabels.region }" } });
  const failed = await agent.report(({ name, code }) => name === "regional" && code !== undefined);
  assert.equal(failed.code, "VALUES_TEMPLATE_FAILED");
  assert.match(
    failed.message,
    /^render the template values\.greeting for cluster fleet-default\/paris: there is no \.ClusterLabels\.region;/,
  );
  assert.equal(failed.retryAt, undefined);
  await assign("unaffected", { values: { greeting: "${ .ClusterName }" } });
  await waitForGreeting("unaffected", "paris");

  await setLabels({ region: "eu" });
  await waitForGreeting("regional", "hello eu");
  await setLabels({ region: "eu", tier: "gold" });
  await setLabels({ region: "us", tier: "gold" });
  await waitForGreeting("regional", "hello us");
  await waitForRevision(cluster.client, "regional", 2, "deployed");

  assert.deepEqual(await releaseHistory(cluster.client, "regional"), [
    "1 superseded",
    "2 deployed",
  ]);
  assert.deepEqual(await releaseHistory(cluster.client, "unaffected"), ["1 deployed"]);
});

test("new cluster info retries no deployment that does not use it", async () => {
  const failing = await chartArchive({
    name: "failing",
    version: "1.0.0",
    templates: { "a.yaml": '{{ fail "no" }}\n' },
  });
  cluster.charts.publish(failing);
  await assign("failing", { chart: failing });
  await agent.report(({ name, code }) => name === "failing" && code === "HELM_FAILED");
  const runs = () => agent.helmRuns.filter((args) => args.includes("failing")).length;
  const before = runs();

  await setLabels({ region: "here", tier: "gold" });
  await waitForGreeting("regional", "hello here");
  await setLabels({ region: "there", tier: "gold" });
  await waitForGreeting("regional", "hello there");

  assert.equal(runs(), before);
  await agent.intake.withdraw({ name: "failing", uid: "uid-failing" });
  await agent.withdrawn("failing");
});

test("a paused deployment does not report a template that fails meanwhile, also after a restart of the agent", async () => {
  const spec = { values: { greeting: "hello ${ .ClusterLabels.tier }" } };
  await assign("halted", spec);
  await agent.report(({ name, phase }) => name === "halted" && phase === "deployed");
  await assign("halted", { ...spec, paused: true });
  await setLabels({ region: "there" });

  await agent.restart();
  const state = await agent.report(({ name, message }) => name === "halted" && message !== "");

  assert.equal(state.message, "paused");
  assert.deepEqual(await releaseHistory(cluster.client, "halted"), ["1 deployed"]);
});

test("a template with a random result runs Helm once, also after a restart of the agent", async () => {
  await assign("random", { values: { greeting: "${ randAlphaNum 12 }" } });
  await agent.report(({ name, phase }) => name === "random" && phase === "deployed");
  const ref = { namespace: "random", name: "random-config" };
  const before = await cluster.client.reader.get(configMaps, ref);

  await agent.restart();
  await agent.report(({ name, phase }) => name === "random" && phase === "deployed");
  const [restored] = agent.reports.filter(({ name }) => name === "random");
  await assign("random", { values: { greeting: "${ randAlphaNum 12 }" }, helm: { maxHistory: 7 } });
  await agent.report(
    ({ name, phase, deploymentId }) =>
      name === "random" && phase === "deployed" && deploymentId !== restored?.deploymentId,
  );

  assert.deepEqual(await releaseHistory(cluster.client, "random"), ["1 deployed"]);
  assert.deepEqual(agent.helmRuns, []);
  const kept = await cluster.client.reader.get(configMaps, ref);
  assert.equal(kept?.data?.["greeting"], before?.data?.["greeting"]);
});

test("a copy stays for a deployment that shares it and was not reconciled since the agent started", async () => {
  const shared = { namespace: "later", downstreamResources: [login] };
  await assign("early", shared);
  await agent.report(({ name, phase }) => name === "early" && phase === "deployed");
  await assign("paused", shared);
  await agent.report(({ name, phase }) => name === "paused" && phase === "deployed");
  const copy = await waitForCopy("later");
  await assign("paused", { ...shared, paused: true });

  await agent.restart();
  await agent.intake.withdraw({ name: "early", uid: "uid-early" });
  await agent.withdrawn("early");

  const kept = await waitForCopy("later");
  assert.equal(kept.metadata.uid, copy.metadata.uid);
  assert.equal(kept.metadata.labels?.["fleet.cattle.io/bundledeployment"], "paused");
});

test("a rejection by Helm is reported without the values of Secrets", async () => {
  const picky = await chartArchive({
    name: "picky",
    version: "1.0.0",
    values: "password: ''\n",
    templates: { "fail.yaml": '{{ fail (print "too short: " .Values.password) }}\n' },
  });
  cluster.charts.publish(picky);
  await namespace("picky");
  await cluster.client.create(secrets, {
    metadata: { namespace: "picky", name: "db" },
    data: { "values.yaml": base64("password: hunter2\n") },
  });

  await assign("picky", {
    chart: picky,
    valuesFrom: [{ kind: "Secret", name: "db", key: "values.yaml" }],
  });

  const { message } = await agent.report(
    ({ name, phase }) => name === "picky" && phase === "failed",
  );
  assert.match(
    message,
    /^helm upgrade --install of release picky\/picky with chart \S+: .*too short: \*\*\*/,
  );
});
