import assert from "node:assert/strict";
import { done, type ReconcileContext } from "@flotilla/shared/kube/controller";
import type { KubeObject } from "@flotilla/shared/kube/objects";
import { silentLog } from "@flotilla/shared/log";
import { describe, test } from "vitest";
import { piecesOf } from "../../testing/index.ts";
import { createReconcileDurations } from "./reconcile-durations.ts";
import { createSeriesRegistry } from "./series.ts";

const context: ReconcileContext = {
  signal: new AbortController().signal,
  log: silentLog(),
  retries: 0,
  withoutWorker: (io) => io(),
};

function setUp() {
  let nowMs = 0;
  const durations = createReconcileDurations({ monotonic: () => nowMs });
  const registry = createSeriesRegistry();
  registry.register([durations.metric]);
  const objects = new Map<string, KubeObject>();
  const reconcile = durations.timed("HelmRelease", objects, () => {
    nowMs += 50;
    return objects.has("apps/failing") ? Promise.reject(new Error("no")) : Promise.resolve(done());
  });
  return {
    objects,
    reconcile: () => reconcile("apps/web", context),
    text: async () => (await piecesOf(registry)).join(""),
  };
}

const web: KubeObject = { metadata: { namespace: "apps", name: "web" } };

describe("gotk_reconcile_duration_seconds", () => {
  test("has a histogram with Flux's labels and buckets for each object", async () => {
    const { objects, reconcile, text } = setUp();
    objects.set("apps/web", web);

    await reconcile();
    await reconcile();

    const labels = 'kind="HelmRelease",name="web",namespace="apps"';
    const lines = (await text()).split("\n");
    assert.ok(lines.includes("# TYPE gotk_reconcile_duration_seconds histogram"));
    for (const [le, count] of [
      ["1e-8", 0],
      ["0.01", 0],
      ["0.1", 2],
      ["10", 2],
      ["+Inf", 2],
    ] as const)
      assert.ok(
        lines.includes(`gotk_reconcile_duration_seconds_bucket{${labels},le="${le}"} ${count}`),
        le,
      );
    assert.ok(lines.includes(`gotk_reconcile_duration_seconds_sum{${labels}} 0.1`));
    assert.ok(lines.includes(`gotk_reconcile_duration_seconds_count{${labels}} 2`));
  });

  test("counts reconciles that fail", async () => {
    const { objects, reconcile, text } = setUp();
    objects.set("apps/web", web);
    objects.set("apps/failing", web);

    await assert.rejects(reconcile());

    assert.match(await text(), /_count\{.*\} 1\n/);
  });

  const gone: readonly (readonly [what: string, object: KubeObject | undefined])[] = [
    ["was deleted", undefined],
    [
      "is being deleted",
      { metadata: { ...web.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } },
    ],
  ];
  for (const [what, object] of gone)
    test(`has no series of an object that ${what}`, async () => {
      const { objects, reconcile, text } = setUp();
      objects.set("apps/web", web);
      await reconcile();
      objects.delete("apps/web");
      if (object !== undefined) objects.set("apps/web", object);

      await reconcile();

      assert.ok(!(await text()).includes("apps"));
    });
});
