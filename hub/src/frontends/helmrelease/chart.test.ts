import assert from "node:assert/strict";
import type { HelmChart, HelmReleaseSpec } from "@flotilla/shared/flux";
import { test } from "vitest";
import { changedChart, chartSourceOf, generatedChart, isGeneratedFor } from "./chart.ts";
import { aHelmRelease, webChart } from "./testing/index.ts";

const sources: readonly (readonly [
  what: string,
  spec: Partial<HelmReleaseSpec>,
  expected: object | undefined,
])[] = [
  [
    "the HelmChart that is generated in its namespace",
    {},
    { kind: "HelmChart", namespace: "apps", name: "apps-web", isGenerated: true },
  ],
  [
    "the one that is generated in the namespace of its source",
    {
      chart: {
        spec: { ...webChart.spec, sourceRef: { ...webChart.spec.sourceRef, namespace: "infra" } },
      },
    },
    { kind: "HelmChart", namespace: "infra", name: "apps-web", isGenerated: true },
  ],
  [
    "an OCIRepository",
    { chartRef: { kind: "OCIRepository", name: "web" } },
    { kind: "OCIRepository", namespace: "apps", name: "web", isGenerated: false },
  ],
  [
    "a HelmChart of another namespace",
    { chartRef: { kind: "HelmChart", name: "web", namespace: "infra" } },
    { kind: "HelmChart", namespace: "infra", name: "web", isGenerated: false },
  ],
  ["nothing without a chart", { chart: undefined }, undefined],
];

test.each(sources)("a HelmRelease takes its chart from %s", (_, spec, expected) => {
  assert.deepEqual(chartSourceOf(aHelmRelease(spec)), expected);
});

function generated(spec: Partial<HelmReleaseSpec> = {}): HelmChart {
  const chart = generatedChart(aHelmRelease(spec));
  assert.ok(chart !== undefined);
  return chart;
}

test("the generated HelmChart has the template's fields, and the interval of the HelmRelease unless it has one", () => {
  const { metadata, spec } = generated({
    chart: { ...webChart, metadata: { labels: { team: "a" }, annotations: { note: "b" } } },
  });
  assert.deepEqual(metadata, {
    namespace: "apps",
    name: "apps-web",
    labels: {
      team: "a",
      "helm.toolkit.fluxcd.io/name": "web",
      "helm.toolkit.fluxcd.io/namespace": "apps",
    },
    annotations: { note: "b" },
  });
  assert.deepEqual(spec, {
    chart: "web",
    version: "1.x",
    reconcileStrategy: "ChartVersion",
    sourceRef: { kind: "HelmRepository", name: "charts" },
    interval: "10m",
  });
  const own = generated({ chart: { spec: { ...webChart.spec, interval: "1m" } } });
  assert.equal(own.spec?.interval, "1m");
});

test("it is written only when it differs, and keeps labels of others", () => {
  const current = generated();
  const labels = { ...current.metadata.labels, other: "label" };
  const kept = { ...current, metadata: { ...current.metadata, labels, resourceVersion: "7" } };
  assert.equal(changedChart(kept, generated()), undefined);
  const desired = generated({ chart: { spec: { ...webChart.spec, version: "2.x" } } });
  const changed = changedChart(kept, desired);
  assert.equal(changed?.spec?.version, "2.x");
  assert.equal(changed.metadata.labels?.["other"], "label");
  assert.equal(changed.metadata.resourceVersion, "7");
});

test("a HelmChart belongs to the HelmRelease that its labels name, not to one whose names join to the same", () => {
  assert.equal(isGeneratedFor(generated(), aHelmRelease()), true);
  assert.equal(isGeneratedFor(generated(), aHelmRelease({}, { name: "db" })), false);
  assert.equal(isGeneratedFor(generated(), aHelmRelease({}, { namespace: "shop" })), false);
});
