/** The hub as a process, with the rights of its chart, in a cluster where Fleet's controllers run, stop and start again. */
import assert from "node:assert/strict";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { installCrds } from "@flotilla/cli/fleet";
import { ensureBinaries } from "@flotilla/local/binaries";
import { type RunningProcess, startReaper, waitUntil } from "@flotilla/local/process";
import { fleetNamespace, hubNamespace, workspaceNamespace } from "@flotilla/shared/api/names";
import { events, type Lease, leases, namespaces, secrets } from "@flotilla/shared/kube/objects";
import { formatMicroTime } from "@flotilla/shared/time";
import { afterAll, test } from "vitest";
import { assertRightsSuffice, withChartRights } from "../harness/chart-rights.ts";
import { connectCluster } from "../harness/cluster-client.ts";
import { leaseControlPlane } from "../harness/control-planes.ts";
import { hangMs } from "../harness/hang.ts";
import { chooseHubPorts, startHub } from "../harness/hub-program.ts";
import { lineInLog } from "../harness/log-file.ts";

const dir = await mkdtemp(join(tmpdir(), "flotilla-e2e-"));
const { helm } = await ensureBinaries(["helm"]);
const plane = await leaseControlPlane("hub");
const cluster = await connectCluster(plane.kubeconfig);
await installCrds(cluster);
const kubeconfig = await withChartRights("hub", { plane, client: cluster, helm, dir });
await cluster.create(namespaces, { metadata: { name: fleetNamespace } });
const ports = await chooseHubPorts();
const reaper = startReaper();
const logFile = join(dir, "hub.log");
const fleetLease = { namespace: fleetNamespace, name: "fleet-controller-leader-election-shard" };
const environment = { PATH: process.env["PATH"] ?? "", HOME: dir };
let hub: RunningProcess | undefined;
let fleet: NodeJS.Timeout | undefined;

afterAll(async () => {
  clearInterval(fleet);
  await hub?.stop();
  await assertRightsSuffice([logFile]);
  await cluster.delete(namespaces, { name: fleetNamespace });
  await cluster.delete(leases, fleetLease);
  await cluster.close();
  await plane.stop();
  await reaper.release();
  await rm(dir, { recursive: true, force: true });
});

/** Renews the Lease as a controller of Fleet does, with a shorter duration, until the interval is cleared. */
async function startFleet(): Promise<void> {
  const renew = async () => {
    const existing = await cluster.get(leases, fleetLease);
    const lease: Lease = {
      metadata: existing?.metadata ?? fleetLease,
      spec: {
        holderIdentity: "fleet-controller-1",
        leaseDurationSeconds: 3,
        renewTime: formatMicroTime(Date.now()),
      },
    };
    await (existing === undefined ? cluster.create(leases, lease) : cluster.replace(leases, lease));
  };
  await renew();
  fleet = setInterval(() => void renew().catch(() => undefined), 500);
}

async function start(...flags: readonly string[]): Promise<void> {
  const isTakingOver = flags.length > 0;
  hub = await startHub({
    ...{ kubeconfig, ports, logFile, environment, reaper, flags },
    untilReady: isTakingOver,
  });
}

const readiness = async () => (await fetch(`http://127.0.0.1:${ports.internal}/readyz`)).text();

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
    socket.once("close", () => socket.destroy());
    socket.once("connect", () => socket.destroy());
  });
}

/** What a hub writes as soon as it runs: its Leases, its authority, the workspaces. */
async function written(): Promise<readonly string[]> {
  const inHub = { namespace: hubNamespace };
  const [ownLeases, ownSecrets, workspace] = await Promise.all([
    cluster.reader.list(leases, inHub),
    cluster.list(secrets, inHub),
    cluster.get(namespaces, { name: workspaceNamespace }),
  ]);
  return [...ownLeases, ...ownSecrets.items, ...(workspace === undefined ? [] : [workspace])].map(
    ({ metadata }) => `${metadata.name} ${metadata.resourceVersion}`,
  );
}

test("while Fleet runs the hub serves nothing and writes nothing, and says so", async () => {
  await startFleet();
  const before = await written();
  await start();
  const warning = await lineInLog(logFile, 0, /Fleet's controllers run in this cluster/);

  assert.match(warning, /"level":"warn"/);
  assert.match(
    await readiness(),
    /^Fleet's controllers run in this cluster: Lease cattle-fleet-system\/fleet-controller-leader-election-shard is held by fleet-controller-1; the hub serves nothing/,
  );
  assert.deepEqual([await accepts(ports.grpc), await accepts(ports.http)], [false, false]);
  assert.deepEqual(await written(), before);
  const recorded = async () =>
    (await cluster.list(events, { namespace: fleetNamespace })).items.map(
      ({ reason, regarding }) => `${reason} ${regarding?.name}`,
    );
  await waitUntil(async () => (await recorded()).length > 0, {
    what: "the Event",
    timeoutMs: hangMs,
  });
  assert.deepEqual(await recorded(), [`FleetRunning ${fleetLease.name}`]);
});

test("when Fleet has stopped the hub still waits, and says what to do", async () => {
  clearInterval(fleet);
  await lineInLog(logFile, 0, /exists and is not renewed/);

  assert.match(await readiness(), /set --take-over-from-fleet \(chart value takeOverFromFleet\)/);
  assert.deepEqual([await accepts(ports.grpc), await accepts(ports.http)], [false, false]);
  await hub?.stop();
});

test("set to take over, it runs once the Lease has expired", async () => {
  await start("--take-over-from-fleet");

  assert.equal(await readiness(), "ok\n");
  assert.deepEqual([await accepts(ports.grpc), await accepts(ports.http)], [true, true]);
  // A hub is ready before it leads.
  await lineInLog(logFile, 0, /became leader/);
});

test("it ends when Fleet starts again, and does not even release its own Lease", async () => {
  await startFleet();
  const ended = await hub?.exited;

  assert.equal(ended?.code, 1);
  assert.match(
    await readFile(logFile, "utf8"),
    /flotilla-hub: Fleet's controllers run in this cluster: Lease cattle-fleet-system/,
  );
  assert.deepEqual([await accepts(ports.grpc), await accepts(ports.http)], [false, false]);
  const lease = await cluster.get(leases, { namespace: hubNamespace, name: "flotilla-hub" });
  assert.match(lease?.spec?.holderIdentity ?? "", /^hub-0/);
});
