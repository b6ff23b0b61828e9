import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { changeReasonsOf, releaseParts } from "./release-parts.ts";

const inputs = {
  chart: ["1.0.0", "sha256:a"],
  values: { replicas: 1, image: { tag: "1" } },
  postRenderers: undefined,
  commonMetadata: undefined,
  copies: [],
  forceSyncGeneration: undefined,
};

describe("what differs between two revisions", () => {
  const cases = [
    ["nothing", {}, []],
    [
      "nothing where only the order of keys does",
      { values: { image: { tag: "1" }, replicas: 1 } },
      [],
    ],
    ["the chart", { chart: ["1.0.1", "sha256:b"] }, ["ChartChanged"]],
    ["chart and values", { chart: ["1.0.1", "b"], values: {} }, ["ChartChanged", "ValuesChanged"]],
    ["post-renderers that are new", { postRenderers: [{}] }, ["PostRenderersChanged"]],
    ["metadata for all objects", { commonMetadata: { labels: {} } }, ["CommonMetadataChanged"]],
    ["what is copied from the hub", { copies: [1] }, ["DownstreamResourcesChanged"]],
    ["the generation of forced syncs", { forceSyncGeneration: 2 }, ["ForceSyncGenerationChanged"]],
  ] as const;
  for (const [what, changed, reasons] of cases)
    test(`is ${what}`, () => {
      const [before, after] = [releaseParts(inputs), releaseParts({ ...inputs, ...changed })];

      assert.deepEqual(changeReasonsOf(before, after), reasons);
    });

  test("is not known of a revision without parts", () => {
    assert.deepEqual(changeReasonsOf(undefined, releaseParts(inputs)), []);
  });
});
