import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { chartPinOf } from "./chart-pin.ts";

const repository = "oci://registry.example.com/web";
const digest = `sha256:${"ab".repeat(32)}`;
const layer = { mediaType: "x", digest: `sha256:${"c".repeat(64)}`, sizeBytes: 5 };
const chart = { name: "web", version: "1.2.3" };

describe("the pin of an artifact", () => {
  test("is its layer, with the digest of its revision in the version", () => {
    assert.deepEqual(
      chartPinOf(repository, { digest, tag: "1.2.3" }, { annotations: {}, layer, chart }),
      {
        kind: "oci",
        version: "1.2.3+abababababab",
        repository,
        tag: "1.2.3",
        manifestDigest: digest,
        layerDigest: layer.digest,
        layerSizeBytes: 5,
        build: {},
      },
    );
  });

  test("is a sentence for an artifact that is not a chart", () =>
    assert.deepEqual(chartPinOf(repository, { digest }, { annotations: {}, layer }), {
      reason: "ArtifactFailed",
      message:
        "the artifact is not a Helm chart: push it with `helm push`, so that its manifest has the chart's metadata",
    }));

  test("is a sentence for a tag of another version", () =>
    assert.deepEqual(
      chartPinOf(repository, { digest, tag: "2.0.0" }, { annotations: {}, layer, chart }),
      {
        reason: "ChartMutateError",
        message: "artifact revision 2.0.0 does not match chart version 1.2.3",
      },
    ));
});
