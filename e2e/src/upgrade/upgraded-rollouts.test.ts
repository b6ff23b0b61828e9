/**
 * Rollouts after an upgrade from version 0.2.0, which accepted `rolloutStrategy` and ignored it: the upgrade itself rolls out nothing, and
 * agents of 0.2.0 take part in stages.
 */
import assert from "node:assert/strict";
import { type BundleDeployment, bundleDeployments, bundles } from "@flotilla/shared/api";
import { bundleNameLabel, clusterLabel, workspaceNamespace } from "@flotilla/shared/api/names";
import { type BundleRollout, bundleRollouts, gates } from "@flotilla/shared/api/rollout";
import { test } from "vitest";
import { configChart } from "../harness/chart-archive.ts";
import { flapsDuring } from "../harness/condition-flaps.ts";
import { startFleetForFile } from "../harness/file-fixtures.ts";
import { endOfLog, lineInLog } from "../harness/log-file.ts";
import { lastRevision } from "../harness/releases.ts";
import { waitForObject } from "../harness/wait.ts";
import { earlierVersion } from "./earlier-version.ts";

const earlier = await earlierVersion("0.2.0");
let entryFiles: typeof earlier.entryFiles | undefined = earlier.entryFiles;
const { fleet, charts } = await startFleetForFile({
  clusters: [{ canary: "true" }, {}, {}],
  entryFiles: () => entryFiles,
});
const { hub, workspace } = fleet;
const canary = { clusterSelector: { matchLabels: { canary: "true" } } };

/** As users of Fleet have them. */
const strategies = {
  paced: { maxUnavailable: 1 },
  ordered: {
    maxUnavailable: 1,
    partitions: [
      { name: "canary", ...canary },
      { name: "rest", clusterSelector: {} },
    ],
  },
  automatic: { autoPartitionThreshold: 1, autoPartitionSize: "50%", maxNew: 1 },
  frozen: { maxUnavailable: 0 },
  none: {},
} as const;
const names = Object.keys(strategies);

charts.publish(
  ...(await Promise.all(
    ["1.0.0", "1.1.0", "1.2.0", "1.3.0"].map((version) => configChart("app", version)),
  )),
);
for (const [name, rolloutStrategy] of Object.entries(strategies))
  await workspace.createHelmOp(name, {
    helm: { repo: charts.url, chart: "app", version: "1.0.0" },
    pollingInterval: "1h",
    targets: [{ clusterSelector: {} }],
    rolloutStrategy,
  });
for (const name of names) await workspace.waitUntilReady(name, "1.0.0", 3);
entryFiles = undefined;

async function revisionsOf(name: string): Promise<readonly number[]> {
  return await Promise.all(fleet.clusters.map(({ client }) => lastRevision(client, name)));
}

async function deploymentsOf(name: string): Promise<readonly BundleDeployment[]> {
  const all = await hub.reader.list(bundleDeployments);
  return all
    .filter(({ metadata }) => metadata.labels?.[bundleNameLabel] === name)
    .toSorted((a, b) => (clusterIn(a) < clusterIn(b) ? -1 : 1));
}

function clusterIn({ metadata }: BundleDeployment): string {
  return metadata.labels?.[clusterLabel] ?? "";
}

async function rolloutAs(
  name: string,
  what: string,
  isDesired: (rollout: BundleRollout) => boolean,
): Promise<BundleRollout> {
  const ref = { namespace: workspaceNamespace, name };
  return await waitForObject(hub, bundleRollouts, ref, what, isDesired);
}

test("a fleet of 0.2.0 whose HelmOps have strategies: no Helm run, no rollout, no cluster held", async () => {
  const contents = new Map<string, readonly string[]>();
  for (const name of names)
    contents.set(
      name,
      (await deploymentsOf(name)).map(({ spec }) => spec.deploymentID),
    );

  const flaps = await flapsDuring(hub, async () => {
    await fleet.stopHub();
    const from = await endOfLog(fleet.hubLog);
    await fleet.startHub();
    await lineInLog(fleet.hubLog, from, /"agent connected"/, /"agentVersion":"0\.2\.0"/);
    await lineInLog(fleet.hubLog, from, /"every BundleDeployment is signed"/);
    for (const name of ["paced", "ordered", "automatic", "frozen"])
      await waitForObject(
        hub,
        bundles,
        { namespace: workspaceNamespace, name },
        "read by the new hub",
        ({ status }) => status?.partitions !== undefined,
      );
  });

  // Clusters are not ready while their agents connect again.
  assert.deepEqual(
    flaps.filter((flap) => !flap.startsWith("Cluster ")),
    [],
  );
  assert.deepEqual(await hub.reader.list(bundleRollouts), []);
  for (const name of names) {
    assert.deepEqual(await revisionsOf(name), [1, 1, 1], name);
    const deployments = await deploymentsOf(name);
    assert.deepEqual(
      deployments.map(({ spec }) => spec.deploymentID),
      contents.get(name),
      name,
    );
    for (const { spec } of deployments) {
      const { deploymentID, stagedDeploymentID, paused, offSchedule, promotion } = spec;
      assert.equal(stagedDeploymentID, deploymentID, name);
      assert.deepEqual([paused, offSchedule, promotion], [undefined, undefined, undefined], name);
    }
    const bundle = await hub.reader.get(bundles, { namespace: workspaceNamespace, name });
    for (const { count, summary } of bundle?.status?.partitions ?? [])
      assert.equal(summary?.ready, count, name);
  }
});

test("the next version reaches agents of 0.2.0 as the strategy says", async () => {
  for (const name of ["ordered", "none"]) {
    await workspace.patchHelmOp(name, { helm: { version: "1.1.0" } });
    await workspace.waitUntilReady(name, "1.1.0", 3);
    assert.deepEqual(await revisionsOf(name), [2, 2, 2], name);
  }
});

test("agents of 0.2.0 take part in stages, which move nothing when they are added", async () => {
  const stages = [{ name: "canary", ...canary }, { name: "rest" }];
  await workspace.patchHelmOp("none", { rolloutStrategy: { stages } });
  await rolloutAs("none-1", "adopted", ({ status }) => status?.phase === "Completed");
  assert.deepEqual(await revisionsOf("none"), [2, 2, 2]);

  await workspace.patchHelmOp("none", { helm: { version: "1.2.0" } });
  await workspace.waitUntilReady("none", "1.2.0", 3);

  const rollout = await rolloutAs("none-2", "over", ({ status }) => status?.phase === "Completed");
  assert.equal(rollout.status?.clusters?.done, 3);
  assert.deepEqual(await revisionsOf("none"), [3, 3, 3]);
  const times = (await deploymentsOf("none")).map(({ spec }) => spec.promotion?.at ?? "");
  assert.ok(
    times.slice(1).every((at) => at > (times[0] ?? "")),
    times.join(),
  );
});

test("agents of 0.2.0 are named where a plan is to be approved, and never stand for no change", async () => {
  const [canaryCluster, upgraded, old] = fleet.clusters;
  assert.ok(canaryCluster !== undefined && upgraded !== undefined && old !== undefined);
  const before = [{ name: "board", approval: { plan: true } }];
  await workspace.patchHelmOp("none", {
    helm: { version: "1.3.0" },
    rolloutStrategy: {
      stages: [
        { name: "canary", ...canary },
        { name: "rest", before },
      ],
    },
  });
  const naming = async (
    clusters: readonly { readonly name: string }[],
    isDesired: (rollout: BundleRollout) => boolean = () => true,
  ) =>
    await rolloutAs("none-3", `naming ${clusters.length} outdated agents`, (rollout) => {
      const { message = "" } = rollout.status ?? {};
      return (
        message.includes("its agent has version 0.2.0") &&
        fleet.clusters.every((each) => message.includes(each.name) === clusters.includes(each)) &&
        isDesired(rollout)
      );
    });

  await naming([upgraded, old]);
  assert.deepEqual(await revisionsOf("none"), [4, 3, 3]);
  assert.deepEqual(
    (await hub.reader.list(gates)).filter(({ metadata }) => metadata.name.startsWith("none-3-")),
    [],
  );

  await upgraded.stopAgent();
  await upgraded.startAgent();

  // The upgraded agent makes its plan first, and the Gate is created after its record is stored.
  const { status } = await naming([old], ({ status: { stages = [] } = {} }) =>
    stages.some(({ gates: records = [] }) => records.some(({ uid }) => uid !== undefined)),
  );
  assert.match(status?.message ?? "", /1 group of changes in 1 cluster/);
  const [gate] = (await hub.reader.list(gates)).filter(({ metadata }) =>
    metadata.name.startsWith("none-3-"),
  );
  assert.equal(gate?.spec.plan?.changed, 1);
  assert.deepEqual(await revisionsOf("none"), [4, 3, 3]);
});
