/**
 * Everything is killed and every link broken, each kind of fault in its turn and then in random order, while HelmOps
 * change: at the end all is as wanted, and was done once. `FLOTILLA_FAULTS_SEED` repeats the order of a run,
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
import { createChronicle } from "../src/faults/event-log.ts";
import { createFaults } from "../src/faults/faults.ts";
import { hookedChart } from "../src/faults/hooked-chart.ts";
import { converged } from "../src/faults/hub-state.ts";
import { createRandom } from "../src/faults/random.ts";
import { passing, startRollouts } from "../src/faults/rollouts.ts";
import { startChartServer } from "../src/harness/chart-server.ts";
import { startTestFleet } from "../src/harness/fleet.ts";

const seed = Number(process.env["FLOTILLA_FAULTS_SEED"] ?? Math.floor(Math.random() * 2 ** 31));
const minutes = Number(process.env["FLOTILLA_FAULTS_MINUTES"] ?? 3.2);
const replicas = Number(process.env["FLOTILLA_FAULTS_REPLICAS"] ?? 3);
const roundMs = 48_000;
const rounds = Math.ceil((minutes * 60_000) / roundMs);
/** An agent may wait 30 s for its next try, and a leader be elected before it. */
const patienceMs = 75_000;
/** How much longer the last round may be, so that also a short run has each kind of fault. */
const untilEachMs = 90_000;
/** A round, what is still undone at its end, and the time to converge. */
const timeout = roundMs + untilEachMs + 40_000 + 2 * patienceMs;

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

const chronicle = createChronicle(fleet, seed);
const password = `hunter-${seed}-two`;
const rollouts = await startRollouts({
  hub: fleet.hub,
  repo: charts.url,
  versions,
  password,
  chronicle,
});
const faults = createFaults(fleet, link, chronicle);
afterAll(async () => {
  // First, so that what is ended then stays ended.
  await faults.stop();
  await Promise.all([fleet.close(), charts.close()]);
});

test("a new fleet is as wanted", () =>
  chronicle.guard(async () => void (await converged(fleet.hub, rollouts.wanted, patienceMs))));

for (let round = 1; round <= rounds; round += 1) {
  test(`whatever breaks, a change gets through and all statuses tell the truth, round ${round} of ${rounds}`, {
    timeout,
  }, async (t) => {
    await t.annotate(`FLOTILLA_FAULTS_SEED=${seed}`);
    await chronicle.guard(async () => {
      const ending = new AbortController();
      const changing = rollouts.run(random, ending.signal);
      const until = performance.now() + roundMs;
      const isLacking = () => round === rounds && faults.tally.missing.length > 0;
      while (performance.now() < until + (isLacking() ? untilEachMs : 0)) {
        faults.strike(random);
        await sleep(random.between(300, 4_000));
      }
      ending.abort();
      await changing;
      await faults.over();
      await rollouts.changeAll(random);
      chronicle.note("all are changed once more");

      const state = await converged(fleet.hub, rollouts.wanted, patienceMs);

      chronicle.note("converged");
      for (const cluster of fleet.clusters) {
        for (const { name, version, serial, changes } of rollouts.wanted) {
          const [revisions, traces, installed] = await Promise.all([
            revisionsIn(cluster.rest, name),
            tracesIn(cluster.rest, name),
            installedIn(cluster.rest, name),
          ]);
          const where = `${name} in ${cluster.name}`;
          assert.equal(installed, `${version} ${serial}`, where);
          const agent = faults.agents.find((one) => one.name === `agent of ${cluster.name}`);
          const interruptions = agent?.ends ?? 0;
          assert.deepEqual(
            auditRelease({ revisions, traces, wanted: changes, interruptions }),
            [],
            `${where}: ${JSON.stringify({ revisions, traces })}`,
          );
          const namespace = clusterNamespaceName(workspaceNamespace, cluster.name);
          const deployment = state.deployments.find(
            ({ metadata }) => metadata.name === name && metadata.namespace === namespace,
          );
          assert.equal(deployment?.status?.release, `${name}/${name}:${revisions.length}`, where);
        }
        assert.deepEqual(await revisionsIn(cluster.rest, passing), []);
      }
      assert.deepEqual(await helmProcesses(fleet), [], "processes of Helm that are left");
    });
  });
}

test("no log has a secret", () =>
  chronicle.guard(async () => {
    const token = await fleet.hub.get(secrets, { namespace: workspaceNamespace, name: "tests" });
    const words = Object.entries(token?.data ?? {})
      .filter(([key]) => key === "token")
      .map(([, value]) => Buffer.from(value, "base64").toString());
    assert.equal(words.length, 1);
    assert.deepEqual(await linesWith(fleet, [password, "PRIVATE KEY", ...words]), []);
  }));

test("each kind of fault has happened, and enough of them", (t) => {
  for (const line of faults.tally.told().split("\n")) void t.annotate(line);

  assert.deepEqual(faults.tally.missing, []);
  assert.ok(faults.tally.total > rounds * 10, `${faults.tally.total} faults`);
});
