/** Two agents of one cluster, of which one is active. They share a fleet and hand over from test to test. */
import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { clusters } from "@flotilla/shared/api";
import { agentNamespace } from "@flotilla/shared/api/names";
import { type Lease, leases } from "@flotilla/shared/kube/objects";
import { test } from "vitest";
import { flapsDuring } from "../harness/condition-flaps.ts";
import { startFleetForFile } from "../harness/file-fixtures.ts";
import { lineInLog, logLines } from "../harness/log-file.ts";
import { releaseHistory, waitForRevision } from "../harness/releases.ts";
import { waitForObject } from "../harness/wait.ts";
import { appChart } from "./test-charts.ts";

const { fleet, charts, cluster } = await startFleetForFile({ clusters: [{}] });
const { workspace } = fleet;
const { client } = cluster;
charts.publish(await appChart("1.0.0"), await appChart("1.1.0"));
const leaseRef = { namespace: agentNamespace, name: "flotilla-agent" };
const names = ["one", "two", "three", "four"];
for (const name of [...names, "last"])
  await workspace.createHelmOp(name, {
    helm: { repo: charts.url, chart: "app", version: "1.0.0" },
  });
for (const name of [...names, "last"]) await workspace.waitUntilReady(name, "1.0.0", 1);
const second = await cluster.startSecondAgent();

/** What `/readyz` of the agent that was started last in this log says. */
async function readyz(logFile: string): Promise<string> {
  const line = await lineInLog(logFile, 0, /agent has started/);
  const { health } = JSON.parse(line) as { readonly health: string };
  const response = await fetch(`${health.startsWith("http") ? "" : "http://"}${health}/readyz`);
  return `${response.status} ${(await response.text()).trim()}`;
}

const holderOf = async (): Promise<string | undefined> =>
  (await client.reader.get(leases, leaseRef))?.spec?.holderIdentity;

const epochOf = async (): Promise<number> =>
  (await fleet.hub.reader.get(clusters, workspace.ref(cluster.name)))?.status?.agent?.epoch ?? 0;

/** Resolves with the time, ms, once another agent than `holder` is active. */
async function untilTakenOver(holder: string | undefined): Promise<number> {
  const since = performance.now();
  await waitForObject<Lease>(
    client,
    leases,
    leaseRef,
    "acquired",
    ({ spec }) => spec?.holderIdentity !== "" && spec?.holderIdentity !== holder,
  );
  return performance.now() - since;
}

test("the second agent is a ready standby that has no connection to the hub", async () => {
  const holder = await holderOf();
  await lineInLog(second.logFile, 0, /another agent is active/);

  assert.equal(await readyz(second.logFile), `200 standby: ${holder} is active`);
  assert.equal(await readyz(cluster.agentLog), "200 ok");
  const log = (await logLines(second.logFile, 0)).join("\n");
  assert.doesNotMatch(log, /connected to the hub|"agent is active"/);
});

test("an agent that gets SIGTERM hands over at once, without a run of Helm or a condition that changes", async () => {
  const holder = await holderOf();
  const epoch = await epochOf();
  let tookMs = 0;

  const flaps = await flapsDuring(fleet.hub, async () => {
    const taken = untilTakenOver(holder);
    await cluster.stopAgent();
    tookMs = await taken;
    await workspace.waitForCluster(
      cluster.name,
      "connected by the next agent",
      ({ status }) => status?.agent?.connected === true && (status.agent.epoch ?? 0) > epoch,
    );
    // Once this one is ready, the hub has what the next agent reports of the others.
    await workspace.patchHelmOp("last", { helm: { version: "1.1.0" } });
    await workspace.waitUntilReady("last", "1.1.0", 1);
  });

  // While `last` is upgraded its Cluster is not ready, but it is never Offline.
  const unexpected = flaps.filter(
    (flap) => !/^\w+ last:|^Cluster .*-> .*Ready=(True|False)/.test(flap),
  );
  assert.deepEqual(unexpected, []);
  // Far less than the 30 s that the Lease would have been valid.
  assert.ok(tookMs < 5_000, `after ${tookMs} ms`);
  for (const name of names) assert.deepEqual(await releaseHistory(client, name), ["1 deployed"]);
});

test("an agent that is killed while Helm runs is replaced when its Lease ends, and its release is unlocked at once", async () => {
  await cluster.startAgent();
  const holder = await holderOf();
  // Nobody else would unlock its first install within the ten minutes of its timeout.
  await workspace.createHelmOp("killed", {
    helm: {
      ...{ repo: charts.url, chart: "app", version: "1.0.0", timeoutSeconds: 600, atomic: true },
      values: { node: "nowhere" },
    },
  });
  await waitForRevision(client, "killed", 1, "pending-install");
  const helm = await helmPid(`${cluster.name}-second-agent`);

  process.kill(second.process().identity.pid, "SIGKILL");
  // As the end of a container does.
  process.kill(-helm, "SIGKILL");
  await second.process().exited;
  // So that the test need not wait for the 30 s of the real one.
  const body = { spec: { leaseDurationSeconds: 2 } };
  await client.patch(leases, leaseRef, { type: "merge", body });
  await untilTakenOver(holder);
  await workspace.patchHelmOp("killed", { helm: { version: "1.1.0", values: { node: null } } });

  await workspace.waitUntilReady("killed", "1.1.0", 1);
  const history = await releaseHistory(client, "killed");
  assert.ok(!history.some((record) => record.includes("pending")), history.join());
  assert.equal(history.at(-1)?.split(" ")[1], "deployed");
});

/** The id of the only run of Helm of an agent, by its data directory. */
async function helmPid(dataDir: string): Promise<number> {
  const dir = join(fleet.dir, dataDir, "runs");
  const [file = ""] = (await readdir(dir)).filter((name) => name.endsWith(".json"));
  const record = JSON.parse(await readFile(join(dir, file), "utf8")) as {
    readonly process: { readonly pid: number };
  };
  return record.process.pid;
}
