/** Post-renderers on older kernels: a flag makes the real launcher use only the rules that such a kernel has. */
import assert from "node:assert/strict";
import { chmod, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ensureBinaries } from "@flotilla/local/binaries";
import type { DeploymentState } from "@flotilla/proto";
import { configMaps } from "@flotilla/shared/kube/objects";
import { test } from "vitest";
import { configChart } from "../harness/chart-archive.ts";
import { startAgentCluster } from "./agent-cluster.ts";
import { assignmentOf } from "./assignment.ts";
import { landlockAbi } from "./landlock-abi.ts";
import { startRestartableAgent } from "./restartable-agent.ts";

const { client, charts, spec } = await startAgentCluster();
const { confine } = await ensureBinaries(["confine"]);
const kernelAbi = await landlockAbi(confine);
const agent = await startRestartableAgent(spec);
const chart = await configChart("app", "1.0.0");
charts.publish(chart);

/** Outside of the folders of runs. */
const programs = join(spec.dataDir, "..", "programs");
await mkdir(programs);

async function script(name: string, code: string): Promise<string> {
  const path = join(programs, name);
  await writeFile(path, `#!/bin/sh\n${code}\n`);
  await chmod(path, 0o755);
  return path;
}

/** The launcher on a kernel with this ABI of Landlock. */
async function launcherOf(abi: number): Promise<string> {
  return await script(`confine-${abi}`, `exec "${confine}" --kernel-abi=${abi} "$@"`);
}

/** In place of kustomize: it cannot start in the sandbox, because it needs a shell. */
const shellScript = await script("kustomize", "cat manifest.yaml");

async function deploy(name: string): Promise<DeploymentState> {
  const commonMetadata = { labels: { team: "a" } };
  await agent.intake.assign(await assignmentOf({ name, chart, url: charts.url, commonMetadata }));
  return await agent.report(
    (state) => state.name === name && (state.phase === "deployed" || state.phase === "failed"),
  );
}

for (const abi of [0, 1, 3, 4, 6])
  test(`objects are post-rendered on a kernel with ABI ${abi} of Landlock`, async () => {
    const name = `abi-${abi}`;
    await agent.restart({ confine: await launcherOf(abi) });

    const { phase, message } = await deploy(name);

    assert.equal(phase, "deployed", message);
    const found = await client.reader.get(configMaps, { namespace: name, name: `${name}-config` });
    assert.equal(found?.metadata.labels?.["team"], "a");
  });

test.runIf(kernelAbi >= 1)(
  "what runs in place of kustomize executes nothing else, and the release fails",
  async () => {
    await agent.restart({ kustomize: shellScript });

    const { code, message } = await deploy("confined");

    assert.equal(code, "HELM_FAILED");
    assert.match(
      message,
      /commonMetadata: kustomize: could not be started: start .*\/kustomize: permission denied: it has to be an executable file that needs no loader or interpreter/,
    );
  },
);

test("on a kernel without Landlock it does", async () => {
  await agent.restart({ kustomize: shellScript, confine: await launcherOf(0) });

  const { phase, message } = await deploy("unconfined");

  assert.equal(phase, "deployed", message);
});
