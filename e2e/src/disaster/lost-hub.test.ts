/** A hub that is another one, that does not know the cluster any more, or that has lost everything. */
import assert from "node:assert/strict";
import { join } from "node:path";
import {
  createBootstrapSecret,
  ensureRegistrationToken,
  installCrds,
  startHub,
} from "@flotilla/cli/fleet";
import { clusters } from "@flotilla/shared/api";
import { authoritySecretName, hubNamespace, workspaceNamespace } from "@flotilla/shared/api/names";
import { connectKube, type KubeRest, loadKubeconfig } from "@flotilla/shared/kube/client";
import { type Secret, secrets } from "@flotilla/shared/kube/objects";
import { afterAll, test } from "vitest";
import { leaseControlPlane } from "../harness/control-planes.ts";
import { endOfLog, lineInLog, logLines } from "../harness/log-file.ts";
import { startWorkbench } from "./disaster-fleet.ts";

const [bench, otherPlane] = await Promise.all([
  startWorkbench({ ownPlanes: true }),
  leaseControlPlane("hub"),
]);
const { fleet, cluster } = bench;
const other = connectKube(await loadKubeconfig({ path: otherPlane.kubeconfig }));
afterAll(() => other.close());
await bench.install("web");

/** Another hub, at the address that the agent knows. */
function startOtherHub() {
  return startHub({
    kubeconfig: otherPlane.kubeconfig,
    ports: fleet.hubPorts,
    logFile: join(fleet.dir, "logs", "other-hub.log"),
    environment: { PATH: process.env["PATH"] ?? "", HOME: fleet.dir },
  });
}

async function authorityOf(hub: KubeRest): Promise<Secret> {
  const found = await hub.get(secrets, { namespace: hubNamespace, name: authoritySecretName });
  assert.ok(found !== undefined);
  return found;
}

async function giveNewToken(name: string): Promise<void> {
  const registration = await ensureRegistrationToken(fleet.hub, workspaceNamespace, name);
  await createBootstrapSecret(cluster.rest, registration, {
    clusterName: cluster.name,
    labels: {},
  });
}

/** A line of the agent's log that a person would be warned by. */
const warns = (pattern: RegExp) => new RegExp(`"level":"warn".*${pattern.source}`);

test("an agent whose Cluster was deleted says so, keeps what it has, and comes back with a new token alone", async () => {
  const { uid } = (await bench.clusterThat("there", () => true)).metadata;
  const from = await endOfLog(cluster.agentLog);

  await fleet.hub.delete(clusters, { namespace: workspaceNamespace, name: cluster.name });
  await lineInLog(cluster.agentLog, from, warns(/Cluster fleet-default\/cluster-1 was deleted/));
  await lineInLog(
    cluster.agentLog,
    from,
    warns(
      /cluster-1 does not exist on this hub.*ClusterRegistrationToken of that hub into the Secret flotilla-agent\/flotilla-bootstrap/,
    ),
  );
  await bench.uninstallByHand("web");
  await bench.record("web", 1, "deployed");
  const before = await bench.installed("web");
  await giveNewToken("again");
  await bench.clusterThat(
    "enrolled anew",
    ({ metadata, status }) => metadata.uid !== uid && status?.agent?.connected === true,
  );
  // A warning for each reason, however often the agent retried.
  const reasons = (await logLines(cluster.agentLog, from))
    .filter((line) => /"warn".*not connected/.test(line))
    .map((line) => /"err":"([^"]*)"/.exec(line)?.[1]);
  assert.deepEqual(reasons, [...new Set(reasons)]);

  // What was made for the Cluster of before goes with its namespace, some seconds later, and means nothing to the new one.
  await bench.change("web", { version: "1.1.0" });
  await bench.ready("web", "1.1.0");
  await bench.clusterThat("without orphans", ({ status }) => (status?.orphans ?? []).length === 0);
  assert.deepEqual(await bench.installed("web"), { ...before, version: "1.1.0" });
  assert.deepEqual(await bench.records("web"), ["1 superseded", "2 deployed"]);
});

test("another hub at the address is refused, with an authority of its own and with the same one, and nothing is touched", async () => {
  const { data = {} } = await authorityOf(fleet.hub);
  const before = await bench.installed("web");
  await fleet.stopHub();
  let from = await endOfLog(cluster.agentLog);

  const stranger = await startOtherHub();
  await lineInLog(
    cluster.agentLog,
    from,
    warns(
      /connect to the hub at 127\.0\.0\.1:\d+: the server's certificate is not signed by the authority .*another hub answers there/,
    ),
  );
  await stranger.stop();
  await other.replace(secrets, { ...(await authorityOf(other)), data });
  from = await endOfLog(cluster.agentLog);
  const twin = await startOtherHub();
  await lineInLog(
    cluster.agentLog,
    from,
    warns(/connect to the hub at 127\.0\.0\.1:\d+: .*certificate is for hub .*, this is hub /),
  );
  await twin.stop();

  await fleet.startHub();
  await bench.change("web", { values: { greeting: "back" } });
  await bench.record("web", 3, "deployed");
  await bench.ready("web", "1.1.0");
  assert.deepEqual(await bench.installed("web"), before);
});

test("an empty hub changes nothing in a cluster, whose agent goes on with what it was assigned, also when it starts anew", async () => {
  await fleet.stopHub();
  const from = await endOfLog(cluster.agentLog);
  await fleet.restartHubPlane({ etcdDir: join(fleet.dir, "empty") });
  await installCrds(fleet.hub);
  await fleet.startHub();

  await lineInLog(cluster.agentLog, from, warns(/or the hub has lost its authority/));
  await cluster.stopAgent();
  await bench.uninstallByHand("web");
  await cluster.startAgent();
  await bench.record("web", 1, "deployed");
  assert.equal((await bench.installed("web")).version, "1.1.0");
  assert.equal(cluster.agent().exit(), undefined);
});

test("a new token brings the agent to the empty hub, where what it has are orphans until they are applied again", async () => {
  await giveNewToken("after-the-loss");

  await bench.clusterThat("showing the orphan", ({ status }) => status?.orphans?.join() === "web");
  assert.deepEqual(await bench.records("web"), ["1 deployed"]);

  await bench.create("web", { version: "1.1.0", values: { greeting: "back" } });
  await bench.ready("web", "1.1.0");
  await bench.clusterThat("without orphans", ({ status }) => status?.orphans?.join() === "");
  assert.deepEqual(await bench.records("web"), ["1 deployed"]);
});
