/** Charts that make Helm exceed a limit or take long: what an agent remembers of them, and who waits for them. */
import assert from "node:assert/strict";
import { join } from "node:path";
import type { DeploymentState } from "@flotilla/proto";
import { createFakeClock } from "@flotilla/shared/time/testing";
import { onTestFinished, test } from "vitest";
import { type ChartArchive, chartArchive, configChart } from "../harness/chart-archive.ts";
import { type InstallerSpec, startInstaller } from "../harness/in-process-installer.ts";
import { startAgentCluster } from "./agent-cluster.ts";
import { assignmentOf } from "./assignment.ts";

const { charts, spec } = await startAgentCluster();
const bomb = await chartArchive({
  name: "bomb",
  version: "1.0.0",
  templates: { "a.yaml": "{{ len (until 1000000000) }}" },
});
const endless = await chartArchive({
  name: "endless",
  version: "1.0.0",
  templates: {
    "a.yaml": "{{ range until 100000 }}{{ range until 100000 }}{{ end }}{{ end }}",
  },
});
const healthy = await configChart("healthy", "1.0.0");
charts.publish(bomb, endless, healthy);

/** Room for a reader that starts from its sources, which is larger than the one in the image. */
const smallContainer = { memoryBytes: 384 * 1024 * 1024 };

/** With a clock that stands still: nothing is retried. `pod`: has a data directory of its own. */
async function start(pod: string, more: Partial<InstallerSpec> = {}) {
  const agent = await startInstaller({
    ...spec,
    ...more,
    dataDir: join(spec.dataDir, pod),
    clock: createFakeClock(),
  });
  onTestFinished(() => agent.stop());
  return agent;
}

test("a chart that made Helm exceed its memory is not run again by an agent in another pod before its retry", async () => {
  const hasFailed = (state: DeploymentState): boolean => state.code === "LIMIT_EXCEEDED";
  const agent = await start("first", smallContainer);
  await agent.intake.assign(await assignmentOf({ name: "bomb", chart: bomb, url: charts.url }));
  const failed = await agent.report(hasFailed);
  await agent.stop();

  const restarted = await start("second", smallContainer);
  const again = await restarted.report(hasFailed);

  assert.match(failed.message, /helm used more than 192 MiB of memory and was killed/);
  assert.equal(again.retryAt, failed.retryAt);
  assert.equal(agent.helmRuns.length, 1);
  assert.equal(restarted.helmRuns.length, 0);
});

test("a chart that is rendered for long keeps no other from being installed, even with one Helm process at a time", async () => {
  const agent = await start("third", { concurrency: 1, graceMs: 0 });
  const assign = async (name: string, chart: ChartArchive) =>
    agent.intake.assign(await assignmentOf({ name, chart, url: charts.url }));

  await assign("endless", endless);
  await agent.helmStarted("endless");
  await assign("healthy", healthy);
  await agent.report(({ name, ready }) => name === "healthy" && ready);

  const ofEndless = agent.reports.filter(({ name }) => name === "endless");
  assert.ok(ofEndless.every(({ phase }) => phase === "pending"));
});
