/** What an agent remembers of a chart that made Helm exceed a limit. */
import assert from "node:assert/strict";
import { join } from "node:path";
import type { DeploymentState } from "@flotilla/proto";
import { createFakeClock } from "@flotilla/shared/time/testing";
import { onTestFinished, test } from "vitest";
import { chartArchive } from "../harness/chart-archive.ts";
import { startInstaller } from "../harness/in-process-installer.ts";
import { startAgentCluster } from "./agent-cluster.ts";
import { assignmentOf } from "./assignment.ts";

const { charts, spec } = await startAgentCluster();
const bomb = await chartArchive({
  name: "bomb",
  version: "1.0.0",
  templates: { "a.yaml": "{{ len (until 1000000000) }}" },
});
charts.publish(bomb);

/** In a small container, and with a clock that stands still: nothing is retried. `pod`: has a data directory of its own. */
async function start(pod: string) {
  const agent = await startInstaller({
    ...spec,
    dataDir: join(spec.dataDir, pod),
    memoryBytes: 256 * 1024 * 1024,
    clock: createFakeClock(),
  });
  onTestFinished(() => agent.stop());
  return agent;
}

test("a chart that made Helm exceed its memory is not run again by an agent in another pod before its retry", async () => {
  const hasFailed = (state: DeploymentState): boolean => state.code === "LIMIT_EXCEEDED";
  const agent = await start("first");
  await agent.intake.assign(await assignmentOf({ name: "bomb", chart: bomb, url: charts.url }));
  const failed = await agent.report(hasFailed);
  await agent.stop();

  const restarted = await start("second");
  const again = await restarted.report(hasFailed);

  assert.match(failed.message, /helm used more than 128 MiB of memory and was killed/);
  assert.equal(again.retryAt, failed.retryAt);
  assert.equal(agent.helmRuns.length, 1);
  assert.equal(restarted.helmRuns.length, 0);
});
