import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "vitest";
import { toolNames, tools } from "./tools.ts";

for (const name of toolNames) {
  const { build, version } = tools[name];
  const { module } = build;
  if (module === undefined) continue;
  test(`${name} has the same version in the table and in its go.mod`, async () => {
    const lines = (await readFile(join(build.dir, "go.mod"), "utf8"))
      .split("\n")
      .map((line) => line.trim());

    assert.ok(
      lines.some((line) => line.replace(/^require /, "").startsWith(`${module} ${version}`)),
      `go.mod requires ${module} ${version}`,
    );
    assert.ok(
      lines.some((line) => line.replace(/^tool /, "") === build.package),
      `go.mod has the tool ${build.package}`,
    );
  });
}

test("downloads have the paths of the publishers", () => {
  const platform = { os: "linux", arch: "arm64" } as const;
  const paths = toolNames
    .map((name) => tools[name].download(platform))
    .filter((one) => one !== undefined)
    .map((one) => [one.path, one.checksumPath, one.member]);

  assert.deepEqual(paths, [
    [
      "etcd-io/etcd/releases/download/v3.7.3/etcd-v3.7.3-linux-arm64.tar.gz",
      "etcd-io/etcd/releases/download/v3.7.3/SHA256SUMS",
      "etcd-v3.7.3-linux-arm64/etcd",
    ],
    [
      "v1.36.3/bin/linux/arm64/kube-apiserver",
      "v1.36.3/bin/linux/arm64/kube-apiserver.sha256",
      undefined,
    ],
    [
      "v1.36.3/bin/linux/arm64/kube-controller-manager",
      "v1.36.3/bin/linux/arm64/kube-controller-manager.sha256",
      undefined,
    ],
    [
      "v1.36.3/bin/linux/arm64/kube-scheduler",
      "v1.36.3/bin/linux/arm64/kube-scheduler.sha256",
      undefined,
    ],
    ["v1.36.3/bin/linux/arm64/kubectl", "v1.36.3/bin/linux/arm64/kubectl.sha256", undefined],
    [
      "helm-v4.3.1-linux-arm64.tar.gz",
      "helm-v4.3.1-linux-arm64.tar.gz.sha256sum",
      "linux-arm64/helm",
    ],
    [
      "kubernetes-sigs/kustomize/releases/download/kustomize%2Fv5.8.1/kustomize_v5.8.1_linux_arm64.tar.gz",
      "kubernetes-sigs/kustomize/releases/download/kustomize%2Fv5.8.1/checksums.txt",
      "kustomize",
    ],
    [
      "distribution/distribution/releases/download/v3.1.2/registry_3.1.2_linux_arm64.tar.gz",
      "distribution/distribution/releases/download/v3.1.2/registry_3.1.2_linux_arm64.tar.gz.sha256",
      "registry",
    ],
  ]);
});

test("macOS has downloads only of programs that are published for it", () => {
  const published = toolNames.filter(
    (name) => tools[name].download({ os: "darwin", arch: "arm64" }) !== undefined,
  );

  assert.deepEqual(published, ["kubectl", "helm", "kustomize", "registry"]);
});
