/**
 * Processes are killed and connections broken, each kind of fault once and then in random order, while HelmOps change:
 * afterwards every change is installed, once. `FLOTILLA_FAULTS_SEED` repeats the order of a run,
 * `FLOTILLA_FAULTS_MINUTES` makes it longer, and `FLOTILLA_FAULTS_REPLICAS` says how many replicas the hub has.
 */
import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { clusterNamespaceName, workspaceNamespace } from "@flotilla/shared/api/names";
import { secrets } from "@flotilla/shared/kube/objects";
import { afterAll, test } from "vitest";
import { auditRelease } from "../src/faults/audit-release.ts";
import {
  helmProcesses,
  installedIn,
  linesWith,
  revisionsIn,
  tracesIn,
} from "../src/faults/cluster-state.ts";
import { createEventLog } from "../src/faults/event-log.ts";
import { createFaults } from "../src/faults/faults.ts";
import { hookedChart } from "../src/faults/hooked-chart.ts";
import { converged } from "../src/faults/hub-state.ts";
import { createRandom } from "../src/faults/random.ts";
import { startRollouts, transient } from "../src/faults/rollouts.ts";
import { startChartServer } from "../src/harness/chart-server.ts";
import { startTestFleet } from "../src/harness/fleet.ts";

const seed = Number(process.env["FLOTILLA_FAULTS_SEED"] ?? Math.floor(Math.random() * 2 ** 31));
const minutes = Number(process.env["FLOTILLA_FAULTS_MINUTES"] ?? 3.2);
const replicas = Number(process.env["FLOTILLA_FAULTS_REPLICAS"] ?? 3);
const roundMs = 48_000;
const rounds = Math.ceil((minutes * 60_000) / roundMs);
/** The longest backoff of an agent is 30 s, and a leader may be elected before it. */
const convergeMs = 75_000;
/** How much longer the last round may take until each kind of fault was injected. */
const untilEachMs = 90_000;
/** A round, the faults that are still active at its end, and the time to converge. */
const timeout = roundMs + untilEachMs + 40_000 + 2 * convergeMs;

const random = createRandom(seed);
const fleet = await startTestFleet({
  clusters: [{}, {}],
  replicas,
  proxied: true,
  ownPlanes: true,
});
const charts = await startChartServer();
const { link } = fleet;
assert.ok(link !== undefined);
const versions = ["1.0.0", "1.1.0", "1.2.0", "2.0.0"];
charts.publish(...(await Promise.all(versions.map(hookedChart))));

const log = createEventLog(fleet, seed);
const password = `hunter-${seed}-two`;
const rollouts = await startRollouts({
  hub: fleet.hub,
  repo: charts.url,
  versions,
  password,
  log,
});
const faults = createFaults(fleet, link, log);
afterAll(async () => {
  // First, so that ended processes are not restarted.
  await faults.stop();
  await Promise.all([fleet.close(), charts.close()]);
});

test("a new fleet converges", () =>
  log.guard(async () => void (await converged(fleet.hub, rollouts.desired, convergeMs))));

for (let round = 1; round <= rounds; round += 1) {
  test(`all changes are installed once and all statuses are correct after faults, round ${round} of ${rounds}`, {
    timeout,
  }, async (t) => {
    await t.annotate(`FLOTILLA_FAULTS_SEED=${seed}`);
    await log.guard(async () => {
      const ending = new AbortController();
      const changing = rollouts.run(random, ending.signal);
      const until = performance.now() + roundMs;
      const isKindMissing = () => round === rounds && faults.counts.missing.length > 0;
      while (performance.now() < until + (isKindMissing() ? untilEachMs : 0)) {
        faults.inject(random);
        await sleep(random.between(300, 4_000));
      }
      ending.abort();
      await changing;
      await faults.settled();
      await rollouts.changeAll(random);
      log.note("all are changed again");

      const state = await converged(fleet.hub, rollouts.desired, convergeMs);

      log.note("converged");
      for (const cluster of fleet.clusters) {
        for (const { name, version, serial, changes } of rollouts.desired) {
          const [revisions, traces, installed] = await Promise.all([
            revisionsIn(cluster.client, name),
            tracesIn(cluster.client, name),
            installedIn(cluster.client, name),
          ]);
          const where = `${name} in ${cluster.name}`;
          assert.equal(installed, `${version} ${serial}`, where);
          const agent = faults.agents.find((one) => one.name === `agent of ${cluster.name}`);
          const interruptions = agent?.ends ?? 0;
          assert.deepEqual(
            auditRelease({ revisions, traces, desired: changes, interruptions }),
            [],
            `${where}: ${JSON.stringify({ revisions, traces })}`,
          );
          const namespace = clusterNamespaceName(workspaceNamespace, cluster.name);
          const deployment = state.deployments.find(
            ({ metadata }) => metadata.name === name && metadata.namespace === namespace,
          );
          assert.equal(deployment?.status?.release, `${name}/${name}:${revisions.length}`, where);
        }
        assert.deepEqual(await revisionsIn(cluster.client, transient), []);
      }
      assert.deepEqual(await helmProcesses(fleet), [], "no process of Helm is left");
    });
  });
}

test("no log contains a secret", () =>
  log.guard(async () => {
    const token = await fleet.hub.reader.get(secrets, {
      namespace: workspaceNamespace,
      name: "tests",
    });
    const words = Object.entries(token?.data ?? {})
      .filter(([key]) => key === "token")
      .map(([, value]) => Buffer.from(value, "base64").toString());
    assert.equal(words.length, 1);
    assert.deepEqual(await linesWith(fleet, [password, "PRIVATE KEY", ...words]), []);
  }));

test("each kind of fault was injected, and enough of them", (t) => {
  for (const line of faults.counts.text().split("\n")) void t.annotate(line);

  assert.deepEqual(faults.counts.missing, []);
  assert.ok(faults.counts.total > rounds * 10, `${faults.counts.total} faults`);
});
