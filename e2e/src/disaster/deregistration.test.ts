/** A Cluster that is deleted together with its releases, one that is revoked, and one that another system manages: both keep them. */
import assert from "node:assert/strict";
import { ensureBinaries } from "@flotilla/local/binaries";
import { waitUntil } from "@flotilla/local/process";
import {
  apiVersion,
  bundleDeployments,
  bundles,
  clusterRegistrationTokens,
  clusters,
} from "@flotilla/shared/api";
import {
  clusterManagementLabel,
  clusterNamespaceName,
  managedLabel,
  workspaceNamespace,
} from "@flotilla/shared/api/names";
import { findCondition } from "@flotilla/shared/conditions";
import { configMaps, events, type KubeObject, namespaces } from "@flotilla/shared/kube/objects";
import { afterAll, test } from "vitest";
import type { ClusterClient } from "../harness/cluster-client.ts";
import { commandsIn } from "../harness/flotilla-command.ts";
import { hangMs } from "../harness/hang.ts";
import { endOfLog, lineInLog } from "../harness/log-file.ts";
import { programFor } from "../harness/program.ts";
import { currentCondition, messageOf, waitForObject, waitUntilGone } from "../harness/wait.ts";
import { startDisasterFleet } from "./disaster-fleet.ts";

const disaster = await startDisasterFleet();
const flotilla = await commandsIn({ onTestFinished: afterAll });
const { fleet, cluster } = disaster;
const ref = { namespace: workspaceNamespace, name: cluster.name };
await Promise.all([disaster.install("web"), disaster.install("db")]);

async function setPolicy(deletionPolicy: "Retain" | "Uninstall"): Promise<void> {
  await fleet.hub.patch(clusters, ref, { type: "merge", body: { spec: { deletionPolicy } } });
}

/** Deletes the Cluster with the policy Uninstall while its agent is stopped; resolves with the message of its Ready. */
async function deleteWithoutAgent(): Promise<string> {
  await setPolicy("Uninstall");
  await disaster.clusterThat(
    "protected by a finalizer",
    ({ metadata }) => (metadata.finalizers ?? []).length === 1,
  );
  await cluster.stopAgent();
  await disaster.clusterThat("offline", ({ status }) => status?.agent?.connected === false);
  await fleet.hub.delete(clusters, ref);
  const isWaiting = /to uninstall .*agent is not connected/;
  const waiting = await disaster.clusterThat("waiting", (found) =>
    isWaiting.test(messageOf(found, "Ready")),
  );
  return messageOf(waiting, "Ready");
}

test("a cluster that is revoked on the command line is disconnected, keeps its releases, and registers again with a new token and a new key", async () => {
  const { metadata } = await disaster.clusterThat("there", () => true);
  const before = await disaster.installed("web");
  const from = await endOfLog(cluster.agentLog);
  const hub = `--kubeconfig=${fleet.hubPlane.kubeconfig}`;

  const unknown = await flotilla.run("cluster", "revoke", "nobody", hub);
  assert.equal(unknown.code, 1);
  assert.match(
    unknown.stderr,
    /^flotilla: revoke Cluster fleet-default\/nobody: not found on https:/,
  );
  const { code, stdout } = await flotilla.run("cluster", "revoke", cluster.name, hub);
  assert.equal(code, 0);
  assert.match(
    stdout,
    /^Cluster fleet-default\/cluster-1 revoked: .*\nTo register the cluster again, create/,
  );
  await lineInLog(cluster.agentLog, from, /"warn"/, /Cluster fleet-default\/cluster-1 was revoked/);
  await disaster.clusterThat("reporting the revocation", (found) =>
    /was revoked at/.test(messageOf(found, "Ready")),
  );

  await disaster.giveNewToken("after-revoking");
  const registered = await disaster.clusterThat(
    "connected again",
    ({ status }) => status?.agent?.connected === true,
  );
  assert.equal(registered.metadata.uid, metadata.uid);
  await disaster.change("web", { version: "1.1.0" });
  await disaster.ready("web", "1.1.0");
  assert.deepEqual(await disaster.installed("web"), { ...before, version: "1.1.0" });
});

test("a Cluster that another system manages is left as it is, its agent is rejected, and it follows again without the label", async () => {
  const label = (value: string | null) =>
    fleet.hub.patch(clusters, ref, {
      type: "merge",
      body: { metadata: { labels: { [clusterManagementLabel]: value } } },
    });
  const inCluster = (name: string) => ({
    namespace: clusterNamespaceName(workspaceNamespace, cluster.name),
    name,
  });
  const deployment = () => fleet.hub.get(bundleDeployments, inCluster("db"));
  const before = await deployment();
  const from = await endOfLog(cluster.agentLog);

  await label("CLI");
  await lineInLog(cluster.agentLog, from, /another system manages Cluster cluster-1/);
  await disaster.clusterThat(
    "left alone",
    (found) => findCondition(found.status?.conditions, "Ready")?.reason === "ManagedElsewhere",
  );
  await disaster.change("db", { version: "1.1.0" });
  await waitForObject(
    fleet.hub,
    bundles,
    { namespace: workspaceNamespace, name: "db" },
    "handled with the new version",
    (bundle) =>
      bundle.spec.helm?.version === "1.1.0" &&
      currentCondition(bundle, "Accepted")?.status === "True",
  );
  const left = await deployment();
  assert.deepEqual([left?.metadata.uid, left?.spec], [before?.metadata.uid, before?.spec]);
  assert.equal(left?.metadata.deletionTimestamp, undefined);
  assert.equal((await disaster.installed("db")).version, "1.0.0");

  await label(null);
  await waitForObject(
    fleet.hub,
    bundleDeployments,
    inCluster("db"),
    "deployed with the new version",
    ({ spec, status }) =>
      spec.deploymentID !== before?.spec.deploymentID &&
      status?.appliedDeploymentID === spec.deploymentID,
  );
  assert.equal((await disaster.installed("db")).version, "1.1.0");
});

test("a deleted Cluster with the policy Uninstall waits for its agent, and says for what and how to delete it at once", async () => {
  assert.match(
    await deleteWithoutAgent(),
    /^waiting for the agent to uninstall db, web; the agent is not connected since \S+ and continues when it reconnects; to delete the Cluster now and keep its releases, set spec.deletionPolicy to Retain$/,
  );
  assert.equal((await disaster.installed("web")).version, "1.1.0");
});

test("it is deleted once its agent is back and has uninstalled everything", async () => {
  await cluster.startAgent();
  await waitUntilGone(fleet.hub, clusters, ref);

  assert.deepEqual([await disaster.installed("web"), await disaster.installed("db")], [{}, {}]);
  assert.deepEqual(await disaster.records("web"), []);
  await waitForObject(
    fleet.hub,
    clusterRegistrationTokens,
    { namespace: workspaceNamespace, name: "after-revoking" },
    "listing the removed client",
    (found) => found.status?.removedClients?.length === 1,
  );
});

test("a waiting Cluster is deleted at once when its policy becomes Retain, and its releases stay", async () => {
  await disaster.giveNewToken("once-more");
  // It is a new Cluster, whose status starts empty.
  const bothReady = "2/2";
  await disaster.clusterThat(
    "connected again",
    ({ status }) => status?.display?.readyBundles === bothReady,
  );
  const before = await disaster.installed("web");
  assert.equal(before.version, "1.1.0");
  await deleteWithoutAgent();

  await setPolicy("Retain");
  await waitUntilGone(fleet.hub, clusters, ref);
  const from = await endOfLog(cluster.agentLog);
  await cluster.startAgent();
  await lineInLog(cluster.agentLog, from, /cluster-1 does not exist on this hub/);

  assert.deepEqual(await disaster.installed("web"), before);
});

test("a namespace that existed before its Cluster stays, with what is in it, when the Cluster is deleted", async () => {
  const own = clusterNamespaceName(workspaceNamespace, "old");
  const kubectl = programFor(
    (await ensureBinaries(["kubectl"])).kubectl,
    fleet.hubPlane.kubeconfig,
  );
  await kubectl(["create", "namespace", own]);
  await kubectl(["create", "configmap", "theirs", `--namespace=${own}`]);
  const old = { namespace: workspaceNamespace, name: "old" };
  await fleet.hub.create(clusters, {
    ...{ apiVersion, kind: "Cluster", metadata: old },
    spec: {},
  });
  const isLabelled = ({ metadata }: KubeObject) => metadata.labels?.[managedLabel] === "true";
  await waitForObject(fleet.hub, namespaces, { name: own }, "the Cluster's", isLabelled);

  await fleet.hub.delete(clusters, old);

  await waitForObject(
    ...([fleet.hub, namespaces, { name: own }, "no longer the Cluster's"] as const),
    (found) => !isLabelled(found) && found.metadata.deletionTimestamp === undefined,
  );
  assert.ok(await fleet.hub.reader.get(configMaps, { namespace: own, name: "theirs" }));
});

test("a namespace that the hub created stays while something of others is in it", async () => {
  const made = clusterNamespaceName(workspaceNamespace, "made");
  const ref = { namespace: workspaceNamespace, name: "made" };
  const kubectl = programFor(
    (await ensureBinaries(["kubectl"])).kubectl,
    fleet.hubPlane.kubeconfig,
  );
  await fleet.hub.create(clusters, {
    ...{ apiVersion, kind: "Cluster", metadata: ref },
    spec: {},
  });
  await waitForObject(fleet.hub, namespaces, { name: made }, "made", () => true);
  await kubectl(["create", "configmap", "theirs", `--namespace=${made}`]);

  await fleet.hub.delete(clusters, ref);

  await waitForEvent(fleet.hub, made, /did not make, ConfigMap theirs, so it is not deleted/);
  const namespace = await fleet.hub.reader.get(namespaces, { name: made });
  assert.equal(namespace?.metadata.deletionTimestamp, undefined);
});

/** On a namespace. */
async function waitForEvent(client: ClusterClient, name: string, note: RegExp): Promise<void> {
  await waitUntil(
    async () => {
      const found = await client.reader.list(events);
      return found.some((each) => each.regarding?.name === name && note.test(each.note ?? ""));
    },
    { what: `an event on ${name}`, timeoutMs: hangMs },
  );
}
