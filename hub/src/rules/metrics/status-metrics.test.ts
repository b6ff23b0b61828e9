import assert from "node:assert/strict";
import type { Bundle, Cluster } from "@flotilla/shared/api";
import { test } from "vitest";
import { aBundle, aCluster, seriesIn } from "../../testing/index.ts";
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

function metricsOf(objects: { bundles?: readonly Bundle[]; clusters?: readonly Cluster[] }) {
  const registry = createSeriesRegistry();
  const objectsInCache = { bundles: [], clusters: [], ...objects };
  const stop = registry.register(
    statusMetrics({
      bundles: () => objectsInCache.bundles,
      clusters: () => objectsInCache.clusters,
    }),
  );
  const lines = (pattern: RegExp) => seriesIn(registry, pattern);
  return { registry, lines, stop };
}

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
  const { registry, lines, stop } = metricsOf({ bundles: [aBundle()] });
  stop();
  assert.deepEqual(await lines(/./), []);
  registry.register(statusMetrics({ bundles: () => [aBundle()], clusters: () => [] }));
  assert.equal((await lines(/fleet_bundle_pending/)).length, 1);
});
