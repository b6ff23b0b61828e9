/** An upgrade from version 0.2.0: CRDs, then the hub, then the agent, as docs/operations.md has it. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { agentCapabilities, clusters } from "@flotilla/shared/api";
import { afterAll, test } from "vitest";
import { configChart } from "../harness/chart-archive.ts";
import { chartDir } from "../harness/chart-rights.ts";
import { flapsDuring } from "../harness/condition-flaps.ts";
import { startFleetForFile } from "../harness/file-fixtures.ts";
import { type CommandEnd, commandsIn } from "../harness/flotilla-command.ts";
import { endOfLog, lineInLog } from "../harness/log-file.ts";
import { lastRevision } from "../harness/releases.ts";
import { earlierVersion } from "./earlier-version.ts";

const run = promisify(execFile);
const earlier = await earlierVersion("0.2.0");
let entryFiles: typeof earlier.entryFiles | undefined = earlier.entryFiles;
const { fleet, charts, cluster } = await startFleetForFile({
  clusters: [{}],
  entryFiles: () => entryFiles,
});
const flotilla = await commandsIn({ onTestFinished: afterAll });
const { workspace } = fleet;
charts.publish(await configChart("app", "1.0.0"), await configChart("app", "1.1.0"));
const names = ["first", "second"];
for (const name of names)
  await workspace.createHelmOp(name, {
    helm: { repo: charts.url, chart: "app", version: "1.0.0", values: { greeting: name } },
    pollingInterval: "1h",
  });
for (const name of names) await workspace.waitUntilReady(name, "1.0.0", 1);
entryFiles = undefined;

/** The HelmOp `third` shows that the upgraded side works. Its Cluster is not ready meanwhile. */
function isOfUnchanged(flap: string): boolean {
  const [before, after] = flap.split(" -> ");
  // Agents before 0.3.0 do not report it.
  const isNew = after?.replace(" Released=True", "") === before?.split(": ")[1];
  return !isNew && !/^(\w+ third|Cluster )/.test(flap);
}

/** `flotilla history`. */
function history(name: string): Promise<CommandEnd> {
  const kubeconfig = `--kubeconfig=${fleet.hubPlane.kubeconfig}`;
  const url = `--hub-url=http://127.0.0.1:${fleet.hubPorts.http}`;
  return flotilla.run("history", `helmop/${name}`, kubeconfig, url);
}

/** As its agent has said when it connected. */
async function capabilities(): Promise<readonly string[] | undefined> {
  const { namespace } = workspace;
  const found = await fleet.hub.get(clusters, { namespace, name: cluster.name });
  return found?.status?.agent?.capabilities;
}

async function assertNotInstalledAgain(): Promise<void> {
  for (const name of names) assert.equal(await lastRevision(cluster.client, name), 1, name);
}

test("the CRDs are upgraded with their chart, and keep the objects", async () => {
  const kubeconfig = join(fleet.hubPlane.dir, "kubeconfig");
  const helm = async (...args: readonly string[]) => {
    await run(fleet.helm, [...args, "--namespace=flotilla-system", `--kubeconfig=${kubeconfig}`]);
  };
  const flaps = await flapsDuring(fleet.hub, async () => {
    // The cluster has what this version's chart contains, applied by the test run.
    const takenOver = ["--take-ownership", "--force-conflicts"];
    const earlierChart = join(earlier.dir, "charts/flotilla-crds");
    await helm("install", "flotilla-crds", earlierChart, ...takenOver);
    await helm("upgrade", "flotilla-crds", chartDir("flotilla-crds"), ...takenOver);
  });

  assert.deepEqual(flaps, []);
  for (const name of names) await workspace.waitUntilReady(name, "1.0.0", 1);
});

test("a hub of this version serves an agent of 0.2.0, runs no Helm and flaps no condition", async () => {
  const flaps = await flapsDuring(fleet.hub, async () => {
    await fleet.stopHub();
    const from = await endOfLog(fleet.hubLog);
    await fleet.startHub();
    await lineInLog(fleet.hubLog, from, /"agent connected"/, /"agentVersion":"0\.2\.0"/);
    await lineInLog(fleet.hubLog, from, /"every BundleDeployment is signed"/);
    await workspace.createHelmOp("third", {
      helm: { repo: charts.url, chart: "app", version: "1.0.0" },
    });
    await workspace.waitUntilReady("third", "1.0.0", 1);
  });

  assert.deepEqual(flaps.filter(isOfUnchanged), []);
  assert.equal(await capabilities(), undefined);
  await assertNotInstalledAgain();
});

test("an agent of 0.2.0 rejects options that it does not know, and keeps what it has installed", async () => {
  await workspace.patchHelmOp("third", { timeout: "5m" });

  await workspace.waitForMessage("third", /ErrApplied.* at format/s);
  await workspace.patchHelmOp("third", { timeout: null });
  await workspace.waitUntilReady("third", "1.0.0", 1);

  assert.equal(await lastRevision(cluster.client, "third"), 1);
});

test("an agent of 0.2.0 gets no requests of users, who get the advice to upgrade it", async () => {
  const { code, stderr } = await history("third");

  assert.equal(code, 1);
  assert.equal(
    stderr,
    "flotilla: the agent of Cluster fleet-default/cluster-1 has a version that answers no requests; upgrade the agent\n",
  );
});

test("an agent of this version adopts what 0.2.0 has installed, runs no Helm and flaps no condition", async () => {
  const flaps = await flapsDuring(fleet.hub, async () => {
    const from = await endOfLog(fleet.hubLog);
    await cluster.stopAgent();
    await cluster.startAgent();
    await lineInLog(fleet.hubLog, from, /"agent connected"/);
    await workspace.patchHelmOp("third", { helm: { version: "1.1.0" } });
    await workspace.waitUntilReady("third", "1.1.0", 1);
  });

  assert.deepEqual(flaps.filter(isOfUnchanged), []);
  assert.deepEqual(await capabilities(), agentCapabilities);
  await assertNotInstalledAgain();
  const { stdout, stderr } = await history("first");
  assert.match(stdout, /^1 +\S+ +deployed +app-1\.0\.0/m, stderr);
});

test("releases of 0.2.0 are upgraded and uninstalled", async () => {
  await workspace.patchHelmOp("first", { helm: { version: "1.1.0" } });
  await workspace.waitUntilReady("first", "1.1.0", 1);
  assert.equal(await lastRevision(cluster.client, "first"), 2);

  await workspace.deleteHelmOp("second");

  await workspace.waitUntilUndeployed(cluster.name, "second");
  assert.equal(await lastRevision(cluster.client, "second"), 0);
});
