import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadKubeconfig } from "@flotilla/shared/kube/client";
import { describe, type TestContext, test } from "vitest";
import { writePodKubeconfig } from "./pod-kubeconfig.ts";

const pem = "-----BEGIN CERTIFICATE-----\nMA==\n-----END CERTIFICATE-----\n";

async function mounted(t: TestContext) {
  const dir = await mkdtemp(join(tmpdir(), "pod-kubeconfig-"));
  t.onTestFinished(() => rm(dir, { recursive: true }));
  await writeFile(join(dir, "token"), "secret-token");
  await writeFile(join(dir, "ca.crt"), pem);
  const env = { KUBERNETES_SERVICE_HOST: "10.0.0.1", KUBERNETES_SERVICE_PORT: "6443" };
  return { dir, inPod: await loadKubeconfig({ serviceAccountDir: dir, env }) };
}

describe("the kubeconfig for Helm in a pod", () => {
  test("connects to the API server with the token file of the pod", async (t) => {
    const { dir, inPod } = await mounted(t);

    const path = await writePodKubeconfig(dir, inPod);

    assert.ok(path !== undefined);
    const read = await loadKubeconfig({ path });
    assert.equal(read.server, "https://10.0.0.1:6443");
    assert.equal(read.caData, pem);
    assert.deepEqual(read.credentials, { kind: "token-file", path: join(dir, "token") });
  });

  test("is readable by its owner alone, also where an older file was not, and has no token", async (t) => {
    const { dir, inPod } = await mounted(t);
    await writeFile(join(dir, "kubeconfig"), "", { mode: 0o644 });

    const path = (await writePodKubeconfig(dir, inPod)) ?? "";

    assert.equal((await stat(path)).mode & 0o777, 0o600);
    assert.ok(!(await readFile(path, "utf8")).includes("secret-token"));
  });

  test("is not written for an agent that has a kubeconfig itself", async (t) => {
    const { dir, inPod } = await mounted(t);

    const path = await writePodKubeconfig(dir, { ...inPod, credentials: { kind: "none" } });

    assert.equal(path, undefined);
  });
});
