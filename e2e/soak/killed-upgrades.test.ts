/**
 * The agent is killed at random points of upgrades: each one is completed after the restart, with its tests, and Helm's records
 * tell one story. `FLOTILLA_FAULTS_SEED` repeats the points of a run, and `FLOTILLA_KILLS` says how many there are.
 */
import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import type { HelmOp } from "@flotilla/shared/api";
import { configMaps } from "@flotilla/shared/kube/objects";
import { test } from "vitest";
import { createRandom } from "../src/faults/random.ts";
import { chartArchive } from "../src/harness/chart-archive.ts";
import { startFleetForFile } from "../src/harness/file-fixtures.ts";
import { releaseRecords } from "../src/harness/releases.ts";

const seed = Number(process.env["FLOTILLA_FAULTS_SEED"] ?? Math.floor(Math.random() * 2 ** 31));
const kills = Number(process.env["FLOTILLA_KILLS"] ?? 50);
/** Each ends by itself with its round; this is for all, on cores that others use, too. */
const timeoutMs = kills * 10_000;
/** From the change of the HelmOp: longer than the upgrade, its tests and their report take. */
const longestMs = 1_200;

const random = createRandom(seed);
const { fleet, charts, cluster } = await startFleetForFile({ clusters: [{}], ownPlanes: true });
const { workspace } = fleet;
const versions = ["1.0.0", "1.1.0"] as const;
charts.publish(
  ...(await Promise.all(
    versions.map((version) =>
      chartArchive({
        name: "app",
        version,
        templates: {
          "config.yaml": config("{{ .Release.Name }}-config"),
          "before.yaml": config("before", "pre-install,pre-upgrade"),
          "test.yaml": config("tested", "test"),
          "deployment.yaml": `apiVersion: apps/v1
kind: Deployment
metadata: {name: app}
spec:
  selector: {matchLabels: {app: app}}
  template:
    metadata: {labels: {app: app, version: "{{ .Chart.Version }}"}}
    spec: {containers: [{name: main, image: "example.com/main:{{ .Chart.Version }}"}]}
`,
        },
      }),
    ),
  )),
);

function config(name: string, hook?: string): string {
  const annotations = hook === undefined ? "{}" : `{helm.sh/hook: "${hook}"}`;
  return `apiVersion: v1
kind: ConfigMap
metadata: {name: "${name}", annotations: ${annotations}}
data: {version: "{{ .Chart.Version }}", serial: "{{ .Values.serial }}"}
`;
}

function versionOf(round: number): string {
  return versions[round % versions.length] ?? "";
}

function specOf(round: number): HelmOp["spec"] {
  return {
    timeout: "1m",
    test: { enable: true },
    upgrade: { remediation: { retries: 1 } },
    helm: { repo: charts.url, chart: "app", version: versionOf(round), values: { serial: round } },
  };
}

test(`an upgrade is completed after a kill of the agent at each of ${kills} points (seed ${seed})`, {
  timeout: timeoutMs,
}, async () => {
  await workspace.createHelmOp("app", specOf(0));
  await workspace.waitUntilReady("app", versions[0], 1);
  for (let round = 1; round <= kills; round += 1) {
    await workspace.patchHelmOp("app", specOf(round));
    const afterMs = random.between(0, longestMs);
    await sleep(afterMs);
    process.kill(cluster.agent().identity.pid, "SIGKILL");
    await cluster.agent().exited;
    await cluster.startAgent();
    const what = `round ${round}, killed after ${afterMs} ms`;

    await workspace.waitUntilReady("app", versionOf(round), 1);

    const records = await releaseRecords(cluster.client, "app", "app");
    const last = records.at(-1);
    assert.equal(last?.status, "deployed", what);
    assert.equal(records.filter(({ status }) => status === "deployed").length, 1, what);
    assert.ok(!records.some(({ status }) => status.startsWith("pending")), what);
    for (const name of ["app-config", "before", "tested"]) {
      const found = await cluster.client.reader.get(configMaps, { namespace: "app", name });
      assert.equal(found?.data?.["serial"], String(round), `${name}, ${what}`);
    }
  }
  const revision = (await releaseRecords(cluster.client, "app", "app")).at(-1)?.revision ?? 0;
  // An interrupted upgrade costs one revision more, and nothing is ever rolled back.
  assert.ok(revision <= 1 + 2 * kills, `revision ${revision}`);
});
