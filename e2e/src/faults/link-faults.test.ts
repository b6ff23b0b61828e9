/**
 * A link that breaks in the ways that links do, between one agent and its hub: both notice, both say so, and when it is
 * mended all that was wanted meanwhile is done, once.
 */
import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { Cluster } from "@flotilla/shared/api/cluster.ts";
import { workspaceNamespace } from "@flotilla/shared/api/names.ts";
import { apiVersion, clusters, helmOps } from "@flotilla/shared/api/resources.ts";
import { findCondition } from "@flotilla/shared/conditions/condition.ts";
import { afterAll, afterEach, test } from "vitest";
import { startChartServer } from "../testing/chart-server.ts";
import { helmOpThat, isReady, objectThat } from "../testing/expect.ts";
import { startTestFleet } from "../testing/fleet.ts";
import { endOfLog, lineInLog } from "../testing/log-file.ts";
import { auditRelease } from "./audit-release.ts";
import { installedIn, revisionsIn, tracesIn } from "./cluster-truth.ts";
import { hookedChart } from "./hooked-chart.ts";

const fleet = await startTestFleet({ clusters: [{}], proxied: true });
const charts = await startChartServer();
afterAll(() => Promise.all([fleet.close(), charts.close()]));
const {
  link,
  clusters: [cluster],
} = fleet;
assert.ok(link !== undefined && cluster !== undefined);
charts.publish(await hookedChart("1.0.0"));

const name = "web";
const helm = { repo: charts.url, chart: "hooked", version: "1.0.0", maxHistory: 1_000 };
let serial = 0;
await fleet.hub.create(helmOps, {
  apiVersion,
  kind: "HelmOp",
  metadata: { namespace: workspaceNamespace, name },
  spec: {
    namespace: name,
    targets: [{ clusterSelector: {} }],
    helm: { ...helm, values: { serial } },
  },
});
await arrives();

/** Something else is wanted from now on. */
async function change(): Promise<void> {
  serial += 1;
  await fleet.hub.patch(
    helmOps,
    { namespace: workspaceNamespace, name },
    { type: "merge", body: { spec: { helm: { values: { serial } } } } },
  );
}

/** What is wanted is installed and told of, and so was everything before it, once at most. */
async function arrives(): Promise<void> {
  assert.ok(cluster !== undefined);
  await helmOpThat(fleet.hub, name, "ready", isReady("1.0.0", 1));
  assert.equal(await installedIn(cluster.rest, name), `1.0.0 ${serial}`);
  const [revisions, traces] = await Promise.all([
    revisionsIn(cluster.rest, name),
    tracesIn(cluster.rest, name),
  ]);
  const history = { revisions, traces, wanted: serial + 1, interruptions: 0 };
  assert.deepEqual(auditRelease(history), []);
}

function clusterThat(what: string, isWanted: (cluster: Cluster) => boolean) {
  return objectThat(
    fleet.hub,
    clusters,
    { namespace: workspaceNamespace, name: cluster?.name ?? "" },
    what,
    (found) => found !== undefined && isWanted(found),
  );
}

const isConnected = ({ status }: Cluster): boolean => status?.agent?.connected === true;

/** Resolves when the Cluster says that the agent is gone; within 30 s of the fault, or it fails. */
async function hubNotices(since: number): Promise<void> {
  await clusterThat("offline in all its words", (found) => {
    const ready = findCondition(found.status?.conditions, "Ready");
    return (
      !isConnected(found) &&
      found.status?.display?.state === "Offline" &&
      ready?.status === "Unknown" &&
      ready.reason === "Offline"
    );
  });
  const seconds = (performance.now() - since) / 1_000;
  assert.ok(seconds <= 30, `after ${seconds} s`);
}

/** What the agent answers on its health port. */
async function readiness(): Promise<string> {
  assert.ok(cluster !== undefined);
  const { health } = JSON.parse(await lineInLog(cluster.agentLog, 0, /agent is ready/)) as {
    readonly health: string;
  };
  const address = health.startsWith("http") ? health : `http://${health}`;
  return await (await fetch(`${address}/readyz`)).text();
}

async function agentSays(from: number, pattern: RegExp): Promise<string> {
  assert.ok(cluster !== undefined);
  return await lineInLog(
    cluster.agentLog,
    from,
    /"level":"warn".*not connected to the hub/,
    pattern,
  );
}

afterEach(() => link.heal());

// The first of all: after many failures an agent waits longer for its next try.
test("a hub that takes connections and never answers is left again by itself, in words", async (t) => {
  const sockets: Socket[] = [];
  const silent = createServer((socket) => void sockets.push(socket.on("error", () => undefined)));
  silent.listen(0, "127.0.0.1");
  await once(silent, "listening");
  t.onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    silent.close();
  });
  const from = await endOfLog(cluster.agentLog);
  link.setBackends([(silent.address() as AddressInfo).port]);
  link.cut();

  await hubNotices(performance.now());
  const said = await agentSays(from, /connect to the hub at /);
  assert.match(said, /"err":"connect to the hub at 127\.0\.0\.1:\d+: \S+ /);
  assert.match(await readiness(), /not connected to the hub: connect to the hub at/);
  await change();
  link.setBackends(fleet.replicas.map(({ ports }) => ports.grpc));

  await arrives();
});

for (const [what, sides] of [
  ["a cable that is pulled", ["agent", "hub"]],
  ["a link on which nothing of the agent arrives", ["agent"]],
  ["a link on which nothing of the hub arrives", ["hub"]],
] as const) {
  test(`${what} is noticed on both sides within half a minute, and all is made up for when it is back`, async () => {
    await clusterThat("connected", isConnected);
    const from = await endOfLog(cluster.agentLog);
    const since = performance.now();
    link.drop(sides);
    await change();

    await Promise.all([
      hubNotices(since),
      agentSays(from, /the connection to the hub at .* ended: /),
    ]);
    assert.match(await readiness(), /not connected to the hub: the connection to the hub at/);
    await change();
    link.heal();

    await arrives();
    await clusterThat("back", isConnected);
  });
}

test("a connection of which one half has ended is made anew", async () => {
  for (const side of ["agent", "hub"] as const) {
    const before = await clusterThat("connected", isConnected);
    const from = await endOfLog(cluster.agentLog);
    link.halve(side);
    await change();

    await agentSays(from, /./);
    await arrives();
    await clusterThat(
      "connected anew",
      (found) =>
        isConnected(found) &&
        (found.status?.agent?.epoch ?? 0) > (before?.status?.agent?.epoch ?? 0),
    );
  }
});

test("a link on which everything is late stays, and changes come late", async () => {
  const before = await clusterThat("connected", isConnected);
  link.delay(600);
  for (let times = 0; times < 2; times += 1) {
    await change();
    await arrives();
  }

  const now = await clusterThat("connected", isConnected);
  assert.equal(now?.status?.agent?.epoch, before?.status?.agent?.epoch);
});

test("a link that is cut again and again during a rollout costs time, and nothing else", async () => {
  for (let times = 0; times < 30; times += 1) {
    link.cut();
    if (times % 3 === 0) await change();
    // That is what this fault is.
    await sleep(300);
  }

  await arrives();
});
