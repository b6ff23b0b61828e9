/** Another hub at the same address, a hub without the Cluster, and a hub that has lost its data. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { installCrds } from "@flotilla/cli/fleet";
import { clusters } from "@flotilla/shared/api";
import { authoritySecretName, hubNamespace, workspaceNamespace } from "@flotilla/shared/api/names";
import { type Secret, secrets } from "@flotilla/shared/kube/objects";
import { afterAll, test } from "vitest";
import { type ClusterClient, connectCluster } from "../harness/cluster-client.ts";
import { leaseControlPlane } from "../harness/control-planes.ts";
import { startHub } from "../harness/hub-program.ts";
import { endOfLog, lineInLog, logLines } from "../harness/log-file.ts";
import { startDisasterFleet } from "./disaster-fleet.ts";

const [disaster, otherPlane] = await Promise.all([
  startDisasterFleet({ ownPlanes: true }),
  leaseControlPlane("hub"),
]);
const { fleet, cluster } = disaster;
const other = await connectCluster(otherPlane.kubeconfig);
afterAll(() => other.close());
await disaster.install("web");

/** Another hub, at the address that the agent knows. */
function startOtherHub() {
  return startHub({
    kubeconfig: otherPlane.kubeconfig,
    ports: fleet.hubPorts,
    logFile: join(fleet.dir, "logs", "other-hub.log"),
    environment: { PATH: process.env["PATH"] ?? "", HOME: fleet.dir },
  });
}

async function authorityOf(hub: ClusterClient): Promise<Secret> {
  const found = await hub.reader.get(secrets, {
    namespace: hubNamespace,
    name: authoritySecretName,
  });
  assert.ok(found !== undefined);
  return found;
}

/** A warning in the agent's log. */
const warns = (pattern: RegExp) => new RegExp(`"level":"warn".*${pattern.source}`);

test("an agent whose Cluster was deleted logs it, keeps its releases, and registers again only with a new token", async () => {
  const { uid } = (await disaster.clusterThat("there", () => true)).metadata;
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
  await disaster.uninstallByHand("web");
  await disaster.record("web", 1, "deployed");
  const before = await disaster.installed("web");
  await disaster.giveNewToken("again");
  await disaster.clusterThat(
    "registered again",
    ({ metadata, status }) => metadata.uid !== uid && status?.agent?.connected === true,
  );
  // A warning for each reason, however often the agent retried.
  const reasons = (await logLines(cluster.agentLog, from))
    .filter((line) => /"warn".*not connected/.test(line))
    .map((line) => /"err":"([^"]*)"/.exec(line)?.[1]);
  assert.deepEqual(reasons, [...new Set(reasons)]);

  // The BundleDeployments of the deleted Cluster go with its namespace, some seconds later; the new one is not affected.
  await disaster.change("web", { version: "1.1.0" });
  await disaster.ready("web", "1.1.0");
  await disaster.clusterThat(
    "without orphans",
    ({ status }) => (status?.orphans ?? []).length === 0,
  );
  assert.deepEqual(await disaster.installed("web"), { ...before, version: "1.1.0" });
  assert.deepEqual(await disaster.records("web"), ["1 superseded", "2 deployed"]);
});

test("an agent rejects another hub at the address, with an authority of its own and with the same one, and changes nothing", async () => {
  const { data = {} } = await authorityOf(fleet.hub);
  const before = await disaster.installed("web");
  await fleet.stopHub();
  let from = await endOfLog(cluster.agentLog);

  const otherHub = await startOtherHub();
  await lineInLog(
    cluster.agentLog,
    from,
    warns(
      /connect to the hub at 127\.0\.0\.1:\d+: the server's certificate is not signed by the authority .*another hub answers there/,
    ),
  );
  await otherHub.stop();
  await other.replace(secrets, { ...(await authorityOf(other)), data });
  from = await endOfLog(cluster.agentLog);
  const copy = await startOtherHub();
  await lineInLog(
    cluster.agentLog,
    from,
    warns(/connect to the hub at 127\.0\.0\.1:\d+: .*certificate is for hub .*, this is hub /),
  );
  await copy.stop();

  await fleet.startHub();
  await disaster.change("web", { values: { greeting: "back" } });
  await disaster.record("web", 3, "deployed");
  await disaster.ready("web", "1.1.0");
  assert.deepEqual(await disaster.installed("web"), before);
});

test("an empty hub changes nothing in a cluster, whose agent continues with its assignments, also after a restart", async () => {
  await fleet.stopHub();
  const from = await endOfLog(cluster.agentLog);
  await fleet.restartHubPlane({ etcdDir: join(fleet.dir, "empty") });
  await installCrds(fleet.hub);
  await fleet.startHub();

  await lineInLog(cluster.agentLog, from, warns(/or the hub has lost its authority/));
  await cluster.stopAgent();
  await disaster.uninstallByHand("web");
  await cluster.startAgent();
  await disaster.record("web", 1, "deployed");
  assert.equal((await disaster.installed("web")).version, "1.1.0");
  assert.equal(cluster.agent().exit(), undefined);
});

test("with a new token the agent registers with the empty hub, where its deployments are orphans until they are applied again", async () => {
  await disaster.giveNewToken("after-the-loss");

  await disaster.clusterThat(
    "showing the orphan",
    ({ status }) => status?.orphans?.join() === "web",
  );
  assert.deepEqual(await disaster.records("web"), ["1 deployed"]);

  await disaster.create("web", { version: "1.1.0", values: { greeting: "back" } });
  await disaster.ready("web", "1.1.0");
  await disaster.clusterThat("without orphans", ({ status }) => status?.orphans?.join() === "");
  assert.deepEqual(await disaster.records("web"), ["1 deployed"]);
});
