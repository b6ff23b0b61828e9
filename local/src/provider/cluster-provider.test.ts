import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "vitest";
import { ensureBinaries } from "../binaries/index.ts";
import { readLocalConfig } from "../config.ts";
import {
  apiClient,
  controlPlaneTools,
  formatKubeconfig,
  parseKubeconfig,
} from "../control-plane/index.ts";
import { startReaper } from "../process/index.ts";
import { testDir } from "../testing/index.ts";
import type { ClusterProvider } from "./cluster-provider.ts";
import { embeddedProvider } from "./embedded.ts";
import { kindProvider } from "./kind.ts";

const reaper = startReaper();

const providers: readonly ClusterProvider[] = [
  embeddedProvider({ binaries: await ensureBinaries(controlPlaneTools), reaper }),
  kindProvider({ environment: readLocalConfig().environment }),
];

for (const provider of providers) {
  test(`${provider.name} starts a working cluster, stops it by its folder, and ignores a second stop`, async (t) => {
    const available = await provider.available();
    if (!available.ok) return t.skip(available.reason);
    const spec = { name: "cluster-1", dir: join(await testDir(t), "cluster-1"), workloads: false };
    t.onTestFinished(() => provider.stop(spec));

    const cluster = await provider.start(spec);

    const api = apiClient(cluster.server, cluster.entry);
    const answer = await api.call("GET", "/api/v1/namespaces/default/serviceaccounts/default");
    await api.close();
    assert.equal(answer.status, 200);
    assert.equal(cluster.name, "cluster-1");
    assert.equal(await readFile(cluster.kubeconfig, "utf8"), formatKubeconfig([cluster.entry]));

    await provider.stop(spec);
    await provider.stop(spec);

    const stopped = apiClient(cluster.server, cluster.entry);
    await assert.rejects(stopped.call("GET", "/readyz"));
    await stopped.close();
  });
}

test("an unavailable provider reports a reason and rejects a start", async (t) => {
  const kind = kindProvider({ environment: { PATH: "/nowhere" } });

  const available = await kind.available();
  assert.ok(!available.ok);
  assert.match(available.reason, /^no running Docker engine \(.*docker.*\)$/);
  await assert.rejects(kind.start({ name: "hub", dir: await testDir(t), workloads: false }), {
    code: "PROVIDER_UNAVAILABLE",
  });
  await reaper.release();
});

test("reads the kubeconfig that it wrote, and rejects one without its current context", () => {
  const entry = {
    name: "hub",
    server: "https://127.0.0.1:1",
    ca: "CA",
    client: { cert: "CERT", key: "KEY" },
  };

  assert.deepEqual(
    parseKubeconfig(formatKubeconfig([entry, { ...entry, name: "cluster-1" }])),
    entry,
  );
  assert.throws(() => parseKubeconfig(formatKubeconfig([])), /current context "" has no cluster/);
  assert.throws(() => parseKubeconfig("[]"), { code: "STATE_UNREADABLE" });
});
