/** Informers while their API server is stopped, and when it is restored from a backup. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { copyEtcdData } from "@flotilla/local/control-plane";
import { startTestControlPlane, testDir } from "@flotilla/local/testing";
import { createInformer } from "@flotilla/shared/kube/cache";
import { connectKube, loadKubeconfig } from "@flotilla/shared/kube/client";
import { type ConfigMap, configMaps } from "@flotilla/shared/kube/objects";
import { silentLog } from "@flotilla/shared/log";
import { it } from "vitest";
import { createChangeSignal } from "../harness/change-signal.ts";

const namespace = "default";

function configMap(name: string): ConfigMap {
  return { metadata: { namespace, name } };
}

it("an informer converges to the state of a server that is restored from a backup", async (t) => {
  const dir = await testDir(t);
  const backup = join(dir, "backup");
  const first = await startTestControlPlane(t, { workloads: false, dir });
  const rest = connectKube(await loadKubeconfig({ path: first.kubeconfig }));
  const informer = createInformer({ rest, resource: configMaps, namespace, log: silentLog() });
  const stop = new AbortController();
  const signal = createChangeSignal(undefined, 120_000);
  informer.onChange(() => signal.changed());
  const until = (condition: () => boolean) => signal.until(condition, condition.toString());
  const has = (name: string): boolean => informer.store.get(`${namespace}/${name}`) !== undefined;
  const running = informer.run(stop.signal);
  t.onTestFinished(async () => {
    stop.abort();
    await running;
    await rest.close();
  });
  await informer.synced;
  await rest.create(configMaps, configMap("old"));
  await until(() => has("old"));
  await first.stop();
  await copyEtcdData(dir, backup);

  const second = await startTestControlPlane(t, { workloads: false, dir });
  // It may still be in backoff; its store stays.
  assert.equal(has("old"), true);
  await rest.delete(configMaps, configMap("old").metadata);
  await rest.create(configMaps, configMap("new"));
  await until(() => has("new") && !has("old"));
  await second.stop();

  // The same address with older data: the versions that the informer has seen are in the future now.
  await startTestControlPlane(t, { workloads: false, dir, etcdDir: backup });
  await until(() => has("old") && !has("new"));

  await rest.create(configMaps, configMap("newest"));
  await until(() => has("newest"));
});
