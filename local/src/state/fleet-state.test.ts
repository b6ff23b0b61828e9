import assert from "node:assert/strict";
import { mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "vitest";
import {
  isAlive,
  layers,
  openJournal,
  type ProcessRecord,
  type RunningProcess,
  startProcess,
} from "../process/index.ts";
import { testDir } from "../testing/index.ts";
import { endFleetProcesses, removeFleetFiles, runningProcesses } from "./clean-fleet.ts";
import { type FleetPaths, fleetPaths } from "./fleet-paths.ts";
import { type FleetState, observeFleet, writeFleetState } from "./fleet-state.ts";

async function sleeper(
  t: TestContext,
  paths: FleetPaths,
  name: string,
  layer: number,
): Promise<RunningProcess> {
  const running = await startProcess({
    name,
    command: "/bin/sleep",
    args: ["60"],
    logFile: join(paths.logs, `${name}.log`),
    layer,
    journal: openJournal(paths.journal),
  });
  t.onTestFinished(() => running.stop());
  return running;
}

function stateWith(processes: readonly ProcessRecord[]): FleetState {
  return {
    version: 1,
    provider: "embedded",
    startedAt: "2030-01-01T00:00:00Z",
    kubeconfig: "/somewhere/kubeconfig",
    clusters: [{ name: "hub", server: "https://127.0.0.1:1", kubeconfig: "/somewhere/hub" }],
    addresses: { registry: "oci://127.0.0.1:2" },
    processes: [...processes],
  };
}

/** A process from before a restart of the machine. */
const beforeRestart: ProcessRecord = {
  name: "etcd of hub",
  pid: 2,
  startedAt: "another-boot:1",
  logFile: "/x",
  layer: 0,
};

test("a fleet is running, broken, stale or absent depending on its processes", async (t) => {
  const paths = fleetPaths(join(await testDir(t), ".flotilla"));
  assert.deepEqual(await observeFleet(paths), { kind: "absent" });
  const etcd = await sleeper(t, paths, "etcd", layers.store);
  const hub = await sleeper(t, paths, "hub", layers.fleet);
  const state = stateWith([etcd.record, hub.record]);

  await writeFleetState(paths, state);
  assert.deepEqual(await observeFleet(paths), { kind: "running", state });

  await hub.stop();
  assert.deepEqual(await observeFleet(paths), { kind: "broken", state, ended: [hub.record] });

  await etcd.stop();
  assert.deepEqual(await observeFleet(paths), { kind: "stale", state });
  assert.equal((await stat(paths.state)).mode & 0o777, 0o600);
});

test("ends the processes in the journal, but not a process that reuses a recorded pid", async (t) => {
  const paths = fleetPaths(join(await testDir(t), ".flotilla"));
  const etcd = await sleeper(t, paths, "etcd", layers.store);
  const other = await sleeper(t, fleetPaths(join(paths.root, "other")), "other", layers.store);
  const reused: ProcessRecord = { ...other.record, startedAt: "another-boot:1" };
  await writeFile(
    paths.journal,
    `${JSON.stringify(reused)}\n${JSON.stringify(etcd.record)}\n{"name":"cut o`,
  );

  assert.deepEqual(await runningProcesses(paths), [etcd.record]);
  assert.deepEqual(await endFleetProcesses(paths), [etcd.record]);

  assert.deepEqual(await runningProcesses(paths), []);
  assert.equal(await isAlive(etcd.identity), false);
  assert.equal(await isAlive(other.identity), true);
});

test("deletes the files of a stale fleet, but no other files in its folder", async (t) => {
  const paths = fleetPaths(join(await testDir(t), ".flotilla"));
  await writeFleetState(paths, stateWith([beforeRestart]));
  await mkdir(join(paths.cluster("hub"), "etcd"), { recursive: true });
  await writeFile(join(paths.root, "notes.txt"), "mine");

  await removeFleetFiles(paths);

  assert.deepEqual(await observeFleet(paths), { kind: "absent" });
  await assert.rejects(stat(paths.clusters), { code: "ENOENT" });
  assert.equal(await readFile(join(paths.root, "notes.txt"), "utf8"), "mine");
});

test("the error of an invalid state file names it", async (t) => {
  const paths = fleetPaths(await testDir(t));
  await writeFile(paths.state, '{"version": 1}');

  await assert.rejects(observeFleet(paths), (error: unknown) => {
    assert.match(String(error), /read .*state\.json: /);
    return true;
  });
});
