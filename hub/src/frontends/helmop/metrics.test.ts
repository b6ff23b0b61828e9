import assert from "node:assert/strict";
import type { HelmOp } from "@flotilla/shared/api";
import { test } from "vitest";
import { createSeriesRegistry } from "../../rules/index.ts";
import { aHelmOp, seriesIn } from "../../testing/index.ts";
import { helmOpMetrics } from "./metrics.ts";

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

function metricsOf(helmOps: readonly HelmOp[]) {
  const registry = createSeriesRegistry();
  const inCache = { helmOps };
  registry.register(helmOpMetrics({ list: () => inCache.helmOps }));
  return { inCache, lines: (pattern: RegExp) => seriesIn(registry, pattern) };
}

test("a HelmOp has Fleet's metrics with Fleet's labels", async () => {
  const status = { version: "1.2.9", readyClusters: 1, desiredReadyClusters: 2, resourceCounts };
  const { lines } = metricsOf([aHelmOp({}, {}, status)]);
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
  const { inCache, lines } = metricsOf([aHelmOp({}, {}, { version: "1.0.0" })]);
  assert.match(
    (await lines(/helmop_ready_clusters/)).join("\n"),
    /^[^\n]*version="1\.0\.0"[^\n]*$/,
  );

  inCache.helmOps = [aHelmOp({}, {}, { version: "2.0.0" })];
  assert.match(
    (await lines(/helmop_ready_clusters/)).join("\n"),
    /^[^\n]*version="2\.0\.0"[^\n]*$/,
  );

  inCache.helmOps = [];
  assert.deepEqual(await lines(/./), []);
});

test("addresses in labels have no secrets", async () => {
  const helmOps = [
    aHelmOp({ helm: { repo: "https://me:s3cret@x.example/charts?token=s3cret", chart: "web" } }),
    aHelmOp({ helm: { chart: "https://s3cret@x.example/web-1.0.0.tgz" } }),
  ];
  const { lines } = metricsOf(helmOps);
  const shown = (await lines(/helmop_ready_clusters/)).join("\n");
  assert.doesNotMatch(shown, /s3cret/);
  assert.match(shown, /repo="https:\/\/x\.example\/charts\?…"/);
  assert.match(shown, /chart="https:\/\/x\.example\/web-1\.0\.0\.tgz"/);
});
