import assert from "node:assert/strict";
import { type BundleDeployment, type Cluster, clusters } from "@flotilla/shared/api";
import { createStore } from "@flotilla/shared/kube/cache";
import { createMemoryApiServer } from "@flotilla/shared/kube/testing";
import { settle } from "@flotilla/shared/time/testing";
import { test } from "vitest";
import { aCluster, aDeployment } from "../../testing/index.ts";
import { createDeploymentWriter, createDeploymentWrites } from "./deployment-writer.ts";

test("[3.9] 10,000 clusters that are promoted at once are written 48 at a time", async () => {
  const rest = createMemoryApiServer();
  const writer = createDeploymentWriter({
    rest,
    deployments: createStore<BundleDeployment>(),
    clusters: createStore<Cluster>(),
    deploymentWrites: createDeploymentWrites(),
    onWritten: () => undefined,
  });
  const names = Array.from({ length: 100 }, (_, index) => `c${index}`);
  for (const name of names) rest.put(clusters, aCluster(name));
  const create = names.map((name) => aDeployment(name));
  let [atOnce, most] = [0, 0];
  const waiting: (() => void)[] = [];
  rest.beforeWrite = async () => {
    atOnce += 1;
    most = Math.max(most, atOnce);
    await new Promise<void>((resolve) => waiting.push(resolve));
    atOnce -= 1;
  };

  const written = writer.write(
    { create, replace: [], remove: [], offSchedule: [], waiting: 0 },
    new AbortController().signal,
  );
  while (rest.writes.length < names.length || waiting.length > 0) {
    await settle();
    for (const resolve of waiting.splice(0)) resolve();
  }
  await written;

  assert.equal(most, 48);
  assert.equal(rest.writes.length, 100);
});
