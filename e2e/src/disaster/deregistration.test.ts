/** A Cluster that is deleted and takes along what it has installed, and one that is revoked and leaves it. */
import assert from "node:assert/strict";
import { createBootstrapSecret, ensureRegistrationToken } from "@flotilla/cli/fleet";
import { type Cluster, clusterRegistrationTokens, clusters } from "@flotilla/shared/api";
import { workspaceNamespace } from "@flotilla/shared/api/names";
import { findCondition } from "@flotilla/shared/conditions";
import { afterAll, test } from "vitest";
import { commandsIn } from "../harness/flotilla-command.ts";
import { endOfLog, lineInLog } from "../harness/log-file.ts";
import { objectThat } from "../harness/wait.ts";
import { startWorkbench } from "./disaster-fleet.ts";

const bench = await startWorkbench();
const flotilla = await commandsIn({ onTestFinished: afterAll });
const { fleet, cluster } = bench;
const ref = { namespace: workspaceNamespace, name: cluster.name };
await Promise.all([bench.install("web"), bench.install("db")]);

async function giveNewToken(name: string): Promise<void> {
  const registration = await ensureRegistrationToken(fleet.hub, workspaceNamespace, name);
  await createBootstrapSecret(cluster.rest, registration, {
    clusterName: cluster.name,
    labels: {},
  });
}

async function setPolicy(deletionPolicy: "Retain" | "Uninstall"): Promise<void> {
  await fleet.hub.patch(clusters, ref, { type: "merge", body: { spec: { deletionPolicy } } });
}

async function gone(): Promise<void> {
  await objectThat(fleet.hub, clusters, ref, "gone", (found) => found === undefined);
}

/** Deletes the Cluster, which is to be emptied, while its agent is away; gives what its status says of that. */
async function deleteWhileAway(): Promise<string> {
  await setPolicy("Uninstall");
  await bench.clusterThat("held", ({ metadata }) => (metadata.finalizers ?? []).length === 1);
  await cluster.stopAgent();
  await bench.clusterThat("offline", ({ status }) => status?.agent?.connected === false);
  await fleet.hub.delete(clusters, ref);
  const isWaiting = /uninstalled .*agent is not connected/;
  return readyMessage(
    await bench.clusterThat("waiting", (found) => isWaiting.test(readyMessage(found))),
  );
}

function readyMessage({ status }: Cluster): string {
  return findCondition(status?.conditions, "Ready")?.message ?? "";
}

test("a cluster that is revoked on the command line is sent away, keeps what it has, and comes back with a new token and a new key", async () => {
  const { metadata } = await bench.clusterThat("there", () => true);
  const before = await bench.installed("web");
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
  await bench.clusterThat("saying so", (found) => /was revoked at/.test(readyMessage(found)));

  await giveNewToken("after-revoking");
  const back = await bench.clusterThat("back", ({ status }) => status?.agent?.connected === true);
  assert.equal(back.metadata.uid, metadata.uid);
  await bench.change("web", { version: "1.1.0" });
  await bench.ready("web", "1.1.0");
  assert.deepEqual(await bench.installed("web"), { ...before, version: "1.1.0" });
});

test("a Cluster that is to be emptied waits for its agent, and says on what and how to let go of it", async () => {
  assert.match(
    await deleteWhileAway(),
    /waits until its agent has uninstalled db, web; the agent is not connected since .*, and goes on when it is back; to let it go at once and leave what is installed, set spec.deletionPolicy to Retain$/,
  );
  assert.equal((await bench.installed("web")).version, "1.1.0");
});

test("it goes once its agent has come back and uninstalled everything", async () => {
  await cluster.startAgent();
  await gone();

  assert.deepEqual([await bench.installed("web"), await bench.installed("db")], [{}, {}]);
  assert.deepEqual(await bench.records("web"), []);
  await objectThat(
    fleet.hub,
    clusterRegistrationTokens,
    { namespace: workspaceNamespace, name: "after-revoking" },
    "remembering it",
    (found) => found?.status?.removedClients?.length === 1,
  );
});

test("one that waits goes at once when it is to leave everything after all, and everything is left", async () => {
  await giveNewToken("once-more");
  // A new Cluster, whose status says nothing yet of the one before.
  const runsBoth = "2/2";
  await bench.clusterThat("back", ({ status }) => status?.display?.readyBundles === runsBoth);
  const before = await bench.installed("web");
  assert.equal(before.version, "1.1.0");
  await deleteWhileAway();

  await setPolicy("Retain");
  await gone();
  const from = await endOfLog(cluster.agentLog);
  await cluster.startAgent();
  await lineInLog(cluster.agentLog, from, /cluster-1 does not exist on this hub/);

  assert.deepEqual(await bench.installed("web"), before);
});
