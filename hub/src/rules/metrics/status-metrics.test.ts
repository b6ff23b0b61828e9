import assert from "node:assert/strict";
import type { Bundle, Cluster, HelmOp } from "@flotilla/shared/api";
import { test } from "vitest";
import { aBundle, aCluster, aHelmOp, piecesOf } from "../../testing/index.ts";
import { createSeriesRegistry } from "./series.ts";
import { statusMetrics } from "./status-metrics.ts";

const resourceCounts = {
  desiredReady: 8,
  ready: 1,
  notReady: 2,
  missing: 3,
  modified: 4,
  orphaned: 5,
  unknown: 6,
  waitApplied: 7,
};

function metricsOf(objects: {
  helmOps?: readonly HelmOp[];
  bundles?: readonly Bundle[];
  clusters?: readonly Cluster[];
}) {
  const registry = createSeriesRegistry();
  const objectsInCache = { helmOps: [], bundles: [], clusters: [], ...objects };
  const stop = registry.register(
    statusMetrics({
      helmOps: () => objectsInCache.helmOps,
      bundles: () => objectsInCache.bundles,
      clusters: () => objectsInCache.clusters,
    }),
  );
  const lines = async (pattern: RegExp) =>
    (await piecesOf(registry))
      .join("")
      .split("\n")
      .filter((line) => line !== "" && !line.startsWith("#") && pattern.test(line));
  return { registry, objectsInCache, lines, stop };
}

test("a HelmOp has Fleet's metrics with Fleet's labels", async () => {
  const status = { version: "1.2.9", readyClusters: 1, desiredReadyClusters: 2, resourceCounts };
  const { lines } = metricsOf({ helmOps: [aHelmOp({}, {}, status)] });
  const labels =
    '{name="web",namespace="fleet-default",repo="https://charts.example.com",chart="web",version="1.2.9"}';

  assert.deepEqual(
    await lines(/^fleet_helmop/),
    [
      "desired_ready_clusters 2",
      "ready_clusters 1",
      "resources_desired_ready 8",
      "resources_missing 3",
      "resources_modified 4",
      "resources_not_ready 2",
      "resources_orphaned 5",
      "resources_ready 1",
      "resources_unknown 6",
      "resources_wait_applied 7",
    ].map((line) => `fleet_helmop_${line.replace(" ", `${labels} `)}`),
  );
});

test("a HelmOp that has changed or was deleted leaves no series", async () => {
  const { objectsInCache, lines } = metricsOf({ helmOps: [aHelmOp({}, {}, { version: "1.0.0" })] });
  assert.match(
    (await lines(/helmop_ready_clusters/)).join("\n"),
    /^[^\n]*version="1\.0\.0"[^\n]*$/,
  );

  objectsInCache.helmOps = [aHelmOp({}, {}, { version: "2.0.0" })];
  assert.match(
    (await lines(/helmop_ready_clusters/)).join("\n"),
    /^[^\n]*version="2\.0\.0"[^\n]*$/,
  );

  objectsInCache.helmOps = [];
  assert.deepEqual(await lines(/./), []);
});

test("addresses in labels have no secrets", async () => {
  const helmOps = [
    aHelmOp({ helm: { repo: "https://me:s3cret@x.example/charts?token=s3cret", chart: "web" } }),
    aHelmOp({ helm: { chart: "https://s3cret@x.example/web-1.0.0.tgz" } }),
  ];
  const { lines } = metricsOf({ helmOps });
  const shown = (await lines(/helmop_ready_clusters/)).join("\n");
  assert.doesNotMatch(shown, /s3cret/);
  assert.match(shown, /repo="https:\/\/x\.example\/charts\?…"/);
  assert.match(shown, /chart="https:\/\/x\.example\/web-1\.0\.0\.tgz"/);
});

test("Bundles and Clusters have their metrics, and exactly one state", async () => {
  const { lines } = metricsOf({
    bundles: [aBundle({}, {}, { summary: { ready: 1, desiredReady: 2, errApplied: 1 } })],
    clusters: [aCluster("paris", { status: { resourceCounts, display: { state: "Offline" } } })],
  });

  assert.match(
    (await lines(/^fleet_bundle_err_applied/)).join(),
    /name="web".*state="ErrApplied"} 1$/,
  );
  assert.match(
    (await lines(/^fleet_bundle_state.* 1$/)).join(),
    /^[^,]*,[^}]*state="ErrApplied"} 1$/,
  );
  assert.match(
    (await lines(/^fleet_cluster_resources_count_notready/)).join(),
    /name="paris".* 2$/,
  );
  assert.equal((await lines(/^fleet_cluster_state.* 1$/)).length, 1);
  assert.match((await lines(/^fleet_cluster_state.* 1$/)).join(), /state="Offline"} 1$/);
});

test("metrics can be unregistered, and registered again", async () => {
  const { registry, lines, stop } = metricsOf({ helmOps: [aHelmOp()] });
  stop();
  assert.deepEqual(await lines(/./), []);
  registry.register(
    statusMetrics({ helmOps: () => [aHelmOp()], bundles: () => [], clusters: () => [] }),
  );
  assert.equal((await lines(/helmop_ready_clusters/)).length, 1);
});
