/** A fleet that is removed: the agent first, all of it with its releases, and the hub first with the CRDs after it. */
import assert from "node:assert/strict";
import { installCrds } from "@flotilla/cli/fleet";
import {
  bundleDeployments,
  bundles,
  clusterGroups,
  clusterRegistrationTokens,
  clusters,
  helmOps,
} from "@flotilla/shared/api";
import { allCrds } from "@flotilla/shared/api/crd";
import { clusterNamespaceName, workspaceNamespace } from "@flotilla/shared/api/names";
import { customResourceDefinitions, type KubeObject } from "@flotilla/shared/kube/objects";
import { afterAll, test } from "vitest";
import { startDisasterFleet } from "../disaster/disaster-fleet.ts";
import { commandsIn } from "../harness/flotilla-command.ts";
import { waitForObject, waitUntilGone } from "../harness/wait.ts";

const removed = await startDisasterFleet();
const flotilla = await commandsIn({ onTestFinished: afterAll });
const { fleet, cluster } = removed;
const inWorkspace = (name: string) => ({ namespace: workspaceNamespace, name });
const deploymentOf = (name: string) => ({
  namespace: clusterNamespaceName(workspaceNamespace, cluster.name),
  name,
});

const uninstall = (...flags: readonly string[]) =>
  flotilla.run("uninstall", `--kubeconfig=${fleet.hubPlane.kubeconfig}`, ...flags);

/** `KIND NAME` of every object that a fleet has on its hub. */
async function fleetObjects(): Promise<readonly string[]> {
  const kinds = [
    helmOps,
    bundles,
    bundleDeployments,
    clusters,
    clusterRegistrationTokens,
    clusterGroups,
  ];
  const lists = await Promise.all(
    kinds.map(async (kind) => (await fleet.hub.list<KubeObject>(kind, {})).items),
  );
  return lists.flatMap((items, index) =>
    items.map(({ metadata }) => `${kinds[index]?.kind} ${metadata.name}`),
  );
}

/** Enrols the cluster again, which was removed, and installs a release. */
async function joinAgain(token: string, release: string): Promise<void> {
  await removed.giveNewToken(token);
  await removed.clusterThat("connected", ({ status }) => status?.agent?.connected === true);
  await removed.install(release);
}

test("the agent first: what waits for it is named, and goes with its Cluster; its releases keep running", async () => {
  await removed.install("web");
  await cluster.stopAgent();
  await removed.clusterThat("offline", ({ status }) => status?.agent?.connected === false);
  await fleet.hub.delete(helmOps, inWorkspace("web"));
  await waitUntilGone(fleet.hub, helmOps, inWorkspace("web"));

  const waiting = await uninstall("--yes", "--timeout=1s");
  assert.equal(waiting.code, 1);
  assert.match(
    waiting.stderr,
    /nothing has changed for 1 s while waiting for agents to uninstall 1 BundleDeployment: fleet-default\/cluster-1 \(agent not connected since \S+\); start the agents of these clusters, or delete the Clusters/,
  );
  await fleet.hub.delete(clusters, inWorkspace(cluster.name));
  await waitUntilGone(fleet.hub, bundleDeployments, deploymentOf("web"));
  const { code, stderr } = await uninstall("--yes");

  assert.deepEqual([code, stderr], [0, ""]);
  assert.deepEqual(await fleetObjects(), []);
  assert.equal((await removed.installed("web")).version, "1.0.0");
  await cluster.startAgent();
});

test("all of it: releases are uninstalled before their Clusters go, after the command was confirmed", async () => {
  await joinAgain("second", "db");

  const shown = await uninstall();
  assert.equal(shown.code, 0);
  assert.match(
    shown.stdout,
    /^This deletes 1 HelmOp, 1 Bundle, 1 BundleDeployment, 1 Cluster, .* and uninstalls all releases\.\nNothing was changed\. To continue, add --yes\.\n$/,
  );
  assert.equal((await removed.installed("db")).version, "1.0.0");
  const { code, stdout, stderr } = await uninstall("--yes");

  assert.deepEqual([code, stderr], [0, ""]);
  assert.match(stdout, /The fleet is empty, and its releases are uninstalled\./);
  assert.deepEqual(await fleetObjects(), []);
  assert.deepEqual(await removed.installed("db"), {});
});

test("the hub first, then the CRDs: they are deleted without their finalizers, and the releases keep running", async () => {
  await joinAgain("third", "api");
  await fleet.hub.patch(clusters, inWorkspace(cluster.name), {
    type: "merge",
    body: { spec: { deletionPolicy: "Uninstall" } },
  });
  await removed.clusterThat(
    "protected by a finalizer",
    ({ metadata }) => (metadata.finalizers ?? []).length === 1,
  );
  await fleet.stopHub();

  const withoutHub = await uninstall("--yes");
  assert.equal(withoutHub.code, 1);
  assert.match(withoutHub.stderr, /no hub leads .*; nothing was changed; .*--keep-releases/);
  for (const { metadata } of allCrds()) await fleet.hub.delete(customResourceDefinitions, metadata);
  await waitForObject(
    fleet.hub,
    helmOps,
    inWorkspace("api"),
    "being deleted",
    ({ metadata }) => metadata.deletionTimestamp !== undefined,
  );
  const { code, stderr } = await uninstall("--yes", "--keep-releases");

  assert.deepEqual([code, stderr], [0, ""]);
  for (const { metadata } of allCrds())
    await waitUntilGone(fleet.hub, customResourceDefinitions, metadata);
  assert.equal((await removed.installed("api")).version, "1.0.0");
});

test("the CRDs while the hub runs and the agent is gone: nothing waits for it, and its releases keep running", async () => {
  await installCrds(fleet.hub);
  await fleet.startHub();
  await joinAgain("fourth", "job");
  await cluster.stopAgent();
  await removed.clusterThat("offline", ({ status }) => status?.agent?.connected === false);

  for (const { metadata } of allCrds()) await fleet.hub.delete(customResourceDefinitions, metadata);

  for (const { metadata } of allCrds())
    await waitUntilGone(fleet.hub, customResourceDefinitions, metadata);
  assert.equal((await removed.installed("job")).version, "1.0.0");
});
