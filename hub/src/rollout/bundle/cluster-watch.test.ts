import assert from "node:assert/strict";
import type { Bundle, BundleTarget } from "@flotilla/shared/api";
import { nextIteration } from "@flotilla/shared/concurrency";
import type { ObjectKey } from "@flotilla/shared/kube/objects";
import { describe, test } from "vitest";
import { createMappings } from "../../rules/mapping/mappings.ts";
import {
  aBundle,
  aCluster,
  aDeployment,
  createTestCaches,
  workspace,
} from "../../testing/index.ts";
import { clusterWatch } from "./cluster-watch.ts";

/** Every slice is over at once. `onPause`: between two of them; the others pause until it returns. */
function start(bundles: readonly Bundle[], onPause: (pauses: number) => void = () => undefined) {
  const caches = createTestCaches();
  for (const bundle of bundles) caches.bundles.saw(bundle);
  const keys: ObjectKey[] = [];
  let pauses = 0;
  const watch = clusterWatch({
    caches,
    mappings: createMappings(caches),
    statuses: { current: ({ status }) => status },
    createSlices: () => ({
      isOver: true,
      async pause() {
        await nextIteration();
        pauses += 1;
        onPause(pauses);
      },
    }),
  });
  const stop = watch.start((key) => keys.push(key));
  /** Until nothing was compared in some iterations. */
  async function settled(): Promise<void> {
    for (let before = -1; before !== pauses; ) {
      before = pauses;
      for (let i = 0; i < 3; i += 1) await nextIteration();
    }
  }
  return { caches, keys, stop, settled, pauses: () => pauses };
}

function bundleOf(name: string, targets: readonly BundleTarget[]): Bundle {
  return aBundle({ targets: [...targets] }, { name });
}

const env = (value: string): BundleTarget => ({ clusterSelector: { matchLabels: { env: value } } });

let version = 1;

/** The cluster paris with one label, as the watch delivers it. */
function paris(value: string) {
  version += 1;
  return aCluster("paris", {
    metadata: { labels: { env: value }, resourceVersion: String(version) },
  });
}

test("many Bundles with many targets are compared in small steps", async () => {
  const targets = Array.from({ length: 1_000 }, (_, at) => env(`e${at}`));
  const bundles = Array.from({ length: 20 }, (_, at) => bundleOf(`app-${at}`, targets));
  const { caches, keys, settled, pauses } = start(bundles);

  caches.clusters.saw(paris("e999"));
  assert.deepEqual([keys, pauses()], [[], 0]);
  await settled();

  assert.equal(keys.length, 20);
  // 64 targets in a step.
  assert.ok(pauses() >= 20 * 15, String(pauses()));
});

test("a Bundle is enqueued by labels that no target of it names where something of it is deployed", async () => {
  const { caches, keys, settled } = start([bundleOf("app", [env("prod")])]);
  caches.clusters.saw(paris("test"));
  await settled();
  assert.deepEqual(keys, []);

  caches.deployments.saw(aDeployment("paris", { bundle: "app" }));
  caches.clusters.saw(paris("other"));
  await settled();

  assert.deepEqual(keys, [`${workspace}/app`]);
});

test("where the comparison fails, each Bundle of the namespace is enqueued, and the next change is compared", async () => {
  const bundles = [bundleOf("a", [env("prod")]), bundleOf("b", [env("test")])];
  const { caches, keys, settled } = start(bundles, (pauses) => {
    if (pauses === 1) throw new Error("out of order");
  });

  caches.clusters.saw(paris("prod"));
  await settled();
  assert.deepEqual(keys, [`${workspace}/a`, `${workspace}/b`]);

  keys.length = 0;
  caches.clusters.saw(paris("test"));
  await settled();
  assert.deepEqual([...new Set(keys)].toSorted(), [`${workspace}/a`, `${workspace}/b`]);
});

test("a target that selects among thousands of groups is compared in small steps", async () => {
  const targets = [{ clusterSelector: {}, clusterGroupSelector: { matchLabels: { tier: "no" } } }];
  const { caches, keys, settled, pauses } = start([bundleOf("app", targets)]);
  for (let at = 0; at < 1_000; at += 1)
    caches.groups.saw({
      metadata: { namespace: workspace, name: `g${at}`, resourceVersion: String(at + 1) },
      spec: { selector: {} },
    });

  caches.clusters.saw(paris("prod"));
  await settled();

  assert.deepEqual(keys, []);
  // Once for its groups, once for the target.
  assert.ok(pauses() >= 2 * 15, String(pauses()));
});

test("changes that arrive together are compared together, each state of a cluster once", async () => {
  const bundles = Array.from({ length: 50 }, (_, at) => bundleOf(`app-${at}`, [env("none")]));
  const { caches, settled, pauses } = start(bundles);
  caches.clusters.saw(paris("a"));
  await settled();
  const ofOne = pauses();

  for (const value of ["b", "a", "b", "a", "b", "a"]) caches.clusters.saw(paris(value));
  await settled();

  assert.ok(pauses() - ofOne < 2 * ofOne + 10, `${ofOne}, then ${pauses() - ofOne}`);
});

describe("no Bundle is missed", () => {
  test("that may have been deployed in a state between two comparisons", async () => {
    const { caches, keys, settled } = start([bundleOf("app", [env("b")])]);

    for (const value of ["a", "b", "c"]) caches.clusters.saw(paris(value));
    await settled();

    assert.deepEqual(keys, [`${workspace}/app`]);
  });

  test("when a cluster changes more often than is remembered", async () => {
    const { caches, keys, settled } = start([bundleOf("app", [env("v20")])]);

    for (let at = 0; at < 40; at += 1) caches.clusters.saw(paris(`v${at}`));
    await settled();

    assert.deepEqual(keys, [`${workspace}/app`]);
  });

  test("when a cluster changes or is deleted while Bundles are compared", async () => {
    const bundles = ["a", "b", "c"].map((value) => bundleOf(value, [env(value)]));
    const { caches, keys, settled } = start(bundles, (pauses) => {
      if (pauses === 3) caches.clusters.saw(paris("b"));
      if (pauses === 5) caches.clusters.saw(paris("c"));
      if (pauses === 7) caches.clusters.missed(`${workspace}/paris`);
    });

    caches.clusters.saw(paris("a"));
    await settled();

    for (const name of ["a", "b", "c"]) assert.ok(keys.includes(`${workspace}/${name}`), name);
    assert.equal(keys.at(-1), `${workspace}/c`);
  });

  test("whose targets limit the clusters, and none is enqueued that they exclude", async () => {
    const excluded = bundleOf("excluded", [{ clusterName: "paris", doNotDeploy: true }, env("a")]);
    const restricted = aBundle(
      { targets: [{ clusterSelector: {} }], targetRestrictions: [env("b")] },
      { name: "restricted" },
    );
    const { caches, keys, settled } = start([excluded, restricted]);

    caches.clusters.saw(paris("a"));
    await settled();
    assert.deepEqual(keys, []);

    caches.clusters.saw(paris("b"));
    await settled();
    assert.deepEqual(keys, [`${workspace}/restricted`]);
  });
});

test("a watch that was stopped while Bundles are compared enqueues nothing more", async () => {
  const bundles = Array.from({ length: 9 }, (_, at) => bundleOf(`app-${at}`, [env("a")]));
  const started = start(bundles, (pauses) => {
    if (pauses === 3) started.stop();
  });

  started.caches.clusters.saw(paris("a"));
  await started.settled();

  assert.ok(started.keys.length < 9, String(started.keys.length));
});
