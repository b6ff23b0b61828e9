/** What an agent logs at its start about the sandbox of kustomize. The agent is a process, whose API server does not answer. */
import assert from "node:assert/strict";
import { chmod, readFile, writeFile } from "node:fs/promises";
import { release } from "node:os";
import { join } from "node:path";
import { ensureBinaries } from "@flotilla/local/binaries";
import { startReaper } from "@flotilla/local/process";
import { testDir } from "@flotilla/local/testing";
import { afterAll, type TestContext, test } from "vitest";
import { startAgentProcess } from "../harness/processes.ts";
import { landlockAbi } from "./landlock-abi.ts";

const { confine } = await ensureBinaries(["confine"]);
const kernelAbi = await landlockAbi(confine);
const reaper = startReaper();
afterAll(() => reaper.release());

const kubeconfig = JSON.stringify({
  apiVersion: "v1",
  kind: "Config",
  clusters: [{ name: "a", cluster: { server: "http://127.0.0.1:1" } }],
  contexts: [{ name: "a", context: { cluster: "a", user: "a" } }],
  users: [{ name: "a", user: {} }],
  "current-context": "a",
});

/** The warnings of an agent on a kernel with this ABI of Landlock, once it has started. */
async function warningsOf(t: TestContext, abi: number): Promise<readonly object[]> {
  const dir = await testDir(t);
  const path = { launcher: join(dir, "confine"), kubeconfig: join(dir, "kubeconfig") };
  await writeFile(path.kubeconfig, kubeconfig);
  await writeFile(path.launcher, `#!/bin/sh\nexec "${confine}" --kernel-abi=${abi} "$@"\n`);
  await chmod(path.launcher, 0o755);
  const environment = { PATH: process.env["PATH"] ?? "", HOME: dir };
  const agent = await startAgentProcess(
    { dir, environment, reaper },
    {
      name: "alone",
      kubeconfig: path.kubeconfig,
      helm: "helm",
      args: [`--confine=${path.launcher}`],
    },
  );
  try {
    return (await readFile(agent.logFile, "utf8"))
      .split("\n")
      .filter((line) => line.includes("without the whole sandbox"))
      .map((line) => JSON.parse(line) as object);
  } finally {
    await agent.stop();
  }
}

test.runIf(kernelAbi >= 3)("kernel, ABI and what is missing are in one warning", async (t) => {
  const warnings = await warningsOf(t, 3);

  assert.equal(warnings.length, 1);
  const { time: _, ...fields } = { time: "", ...warnings[0] };
  assert.deepEqual(fields, {
    level: "warn",
    name: "agent",
    program: "kustomize",
    kernel: release(),
    abi: 3,
    missing: ["send signals to processes of the user of the agent"],
    msg: "the program runs without the whole sandbox, because this kernel has too few rules; see docs/operations.md",
  });
});

test.runIf(kernelAbi >= 6)("a kernel with all rules is in none", async (t) => {
  assert.deepEqual(await warningsOf(t, 7), []);
});
