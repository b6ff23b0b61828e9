import assert from "node:assert/strict";
import type { Bundle } from "@flotilla/shared/api";
import { helmReleaseLabel } from "@flotilla/shared/api/names";
import type { HelmRelease } from "@flotilla/shared/flux";
import { keyOf } from "@flotilla/shared/kube/objects";
import { describe, test } from "vitest";
import { createSeriesRegistry, ownBundleKey } from "../../rules/index.ts";
import { aBundle, seriesIn } from "../../testing/index.ts";
import { helmReleaseMetrics } from "./metrics.ts";
import { aHelmRelease } from "./testing/index.ts";

const summary = { ready: 1, desiredReady: 2 };
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

/** The series without the beginning of their names. */
async function seriesOf(release: HelmRelease, bundle?: Bundle): Promise<readonly string[]> {
  const registry = createSeriesRegistry();
  const bundles = new Map(bundle === undefined ? [] : [[keyOf(bundle), bundle]]);
  registry.register(helmReleaseMetrics({ list: () => [release] }, bundles));
  const prefix = /^flotilla_helmrelease_/;
  return (await seriesIn(registry, prefix)).map((line) => line.replace(prefix, ""));
}

/** The Bundle of the name that the one of `release` has, with these labels. */
function bundleOf(release: HelmRelease, labels: Readonly<Record<string, string>>): Bundle {
  const [namespace = "", name = ""] = ownBundleKey("HelmRelease", release).split("/");
  return aBundle({}, { namespace, name, labels }, { version: "1.2.9", resourceCounts });
}

describe("the metrics of a HelmRelease", () => {
  test("are those of a HelmOp, with its source in place of a repository", async () => {
    const release = aHelmRelease({}, {}, { summary });
    const labels =
      '{name="web",namespace="apps",source="HelmRepository/apps/charts",chart="web",version="1.2.9"}';

    assert.deepEqual(
      await seriesOf(release, bundleOf(release, { [helmReleaseLabel]: "web" })),
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
      ].map((line) => line.replace(" ", `${labels} `)),
    );
  });

  test("are there before it has a Bundle, and are 0", async () => {
    const series = await seriesOf(aHelmRelease());

    assert.equal(series.length, 10);
    for (const line of series) assert.match(line, /version=""} 0$/);
  });

  test("count nothing of a Bundle that was made for something else", async () => {
    const release = aHelmRelease({}, {}, { summary });
    const [first] = await seriesOf(release, bundleOf(release, {}));

    assert.match(first ?? "", /^desired_ready_clusters.*version=""} 2$/);
    assert.deepEqual(
      (await seriesOf(release, bundleOf(release, {}))).filter((line) =>
        /^resources_.* [1-9]/.test(line),
      ),
      [],
    );
  });

  test("name the source that a chartRef names, in the namespace of the release", async () => {
    const chartRef = { kind: "OCIRepository", name: "podinfo" } as const;
    const [first = ""] = await seriesOf(aHelmRelease({ chartRef }));

    assert.match(first, /source="OCIRepository\/apps\/podinfo",chart="podinfo"/);
  });
});
