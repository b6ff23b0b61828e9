import assert from "node:assert/strict";
import { chmod, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "vitest";
import { testDir } from "../testing/test-parts.ts";
import { findOnPath } from "./find-on-path.ts";
import { type ToolName, tools } from "./tools.ts";

const cases: readonly {
  readonly tool: ToolName;
  readonly says: string;
  readonly taken: boolean;
}[] = [
  { tool: "kubectl", says: "Client Version: v1.36.9\nKustomize Version: v5.8.1", taken: true },
  {
    tool: "kubectl",
    says: "Client Version: v1.32.4-dispatcher\nKustomize Version: v5.5.0",
    taken: false,
  },
  { tool: "kubectl", says: "Client Version: v1.36.3-dispatcher", taken: false },
  { tool: "kubectl", says: "Client Version: v1.35.3", taken: false },
  { tool: "kube-apiserver", says: "Kubernetes v1.36.0", taken: true },
  { tool: "kube-apiserver", says: "Kubernetes v1.37.0", taken: false },
  { tool: "kube-apiserver", says: "Kubernetes v1.36.0-rc.1", taken: false },
  { tool: "helm", says: "v4.9.0", taken: true },
  { tool: "helm", says: "v4.3", taken: true },
  { tool: "helm", says: "v4.3.1+gabc1234", taken: true },
  { tool: "helm", says: "v3.19.0", taken: false },
  { tool: "etcd", says: "etcd Version: 3.7.0\nGit SHA: abc", taken: true },
  { tool: "etcd", says: "etcd Version: 3.6.0", taken: false },
  { tool: "kwok", says: "kwok version v0.8.1 go1.26 (linux/amd64)", taken: true },
  {
    tool: "registry",
    says: "registry github.com/distribution/distribution/v3 v3.1.2",
    taken: true,
  },
  { tool: "registry", says: "registry github.com/docker/distribution v2.8.3", taken: false },
  { tool: "registry", says: "", taken: false },
];

for (const { tool, says, taken } of cases) {
  test(`a ${tool} on the PATH that says "${says.split("\n")[0]}" is ${taken ? "taken" : "passed over"}`, async (t) => {
    const dir = await testDir(t);
    await writeProgram(dir, tool, `cat <<'SAYS'\n${says}\nSAYS`);

    assert.equal(await findOnPath(tools[tool], [dir]), taken ? join(dir, tool) : undefined);
  });
}

test("a later program on the PATH is taken when the first does not fit", async (t) => {
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

test("a program that fails when it is asked is passed over", async (t) => {
  const dir = await testDir(t);
  await writeProgram(dir, "kwok", "echo kwok version v0.8.0; exit 1");

  assert.equal(await findOnPath(tools.kwok, [dir]), undefined);
});

async function writeProgram(dir: string, name: string, code: string): Promise<void> {
  await writeFile(join(dir, name), `#!/bin/sh\n${code}\n`);
  await chmod(join(dir, name), 0o755);
}
