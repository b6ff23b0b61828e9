import assert from "node:assert/strict";
import { chmod, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "vitest";
import { testDir } from "../testing/index.ts";
import { findOnPath } from "./find-on-path.ts";
import { type ToolName, tools } from "./tools.ts";

const cases: readonly {
  readonly tool: ToolName;
  readonly output: string;
  readonly accepted: boolean;
}[] = [
  { tool: "kubectl", output: "Client Version: v1.36.9\nKustomize Version: v5.8.1", accepted: true },
  {
    tool: "kubectl",
    output: "Client Version: v1.32.4-dispatcher\nKustomize Version: v5.5.0",
    accepted: false,
  },
  { tool: "kubectl", output: "Client Version: v1.36.3-dispatcher", accepted: false },
  { tool: "kubectl", output: "Client Version: v1.35.3", accepted: false },
  { tool: "kube-apiserver", output: "Kubernetes v1.36.0", accepted: true },
  { tool: "kube-apiserver", output: "Kubernetes v1.37.0", accepted: false },
  { tool: "kube-apiserver", output: "Kubernetes v1.36.0-rc.1", accepted: false },
  { tool: "helm", output: "v4.9.0", accepted: true },
  { tool: "helm", output: "v4.3", accepted: true },
  { tool: "helm", output: "v4.3.1+gabc1234", accepted: true },
  { tool: "helm", output: "v3.19.0", accepted: false },
  { tool: "etcd", output: "etcd Version: 3.7.0\nGit SHA: abc", accepted: true },
  { tool: "etcd", output: "etcd Version: 3.6.0", accepted: false },
  { tool: "kwok", output: "kwok version v0.8.1 go1.26 (linux/amd64)", accepted: true },
  {
    tool: "registry",
    output: "registry github.com/distribution/distribution/v3 v3.1.2",
    accepted: true,
  },
  { tool: "registry", output: "registry github.com/docker/distribution v2.8.3", accepted: false },
  { tool: "registry", output: "", accepted: false },
];

for (const { tool, output, accepted } of cases) {
  test(`${accepted ? "accepts" : "skips"} a ${tool} on the PATH that prints "${output.split("\n")[0]}"`, async (t) => {
    const dir = await testDir(t);
    await writeProgram(dir, tool, `cat <<'END'\n${output}\nEND`);

    assert.equal(await findOnPath(tools[tool], [dir]), accepted ? join(dir, tool) : undefined);
  });
}

test("accepts a later program on the PATH when the first one is too old", async (t) => {
  const dir = await testDir(t);
  await mkdir(join(dir, "old"));
  await mkdir(join(dir, "new"));
  await writeProgram(join(dir, "old"), "helm", "echo v3.19.0");
  await writeProgram(join(dir, "new"), "helm", "echo v4.3.1");

  assert.equal(
    await findOnPath(tools.helm, [join(dir, "old"), join(dir, "new")]),
    join(dir, "new", "helm"),
  );
});

test("skips a program that fails to print its version", async (t) => {
  const dir = await testDir(t);
  await writeProgram(dir, "kwok", "echo kwok version v0.8.0; exit 1");

  assert.equal(await findOnPath(tools.kwok, [dir]), undefined);
});

test("skips a program of this repository: its version does not say which sources it has", async (t) => {
  const dir = await testDir(t);
  await writeProgram(dir, "confine", "echo v0.3.0");

  assert.equal(await findOnPath(tools.confine, [dir]), undefined);
});

test.runIf(process.platform === "linux")(
  "skips a script of kustomize on Linux, which cannot start in the sandbox of the agent",
  async (t) => {
    const dir = await testDir(t);
    await writeProgram(dir, "kustomize", "echo v5.8.1");

    assert.equal(await findOnPath(tools.kustomize, [dir]), undefined);
  },
);

async function writeProgram(dir: string, name: string, code: string): Promise<void> {
  await writeFile(join(dir, name), `#!/bin/sh\n${code}\n`);
  await chmod(join(dir, name), 0o755);
}
