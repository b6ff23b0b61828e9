import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { kustomizationFile, renderSteps } from "./kustomization.ts";

const images = [{ name: "nginx", newTag: "1.27" }];
const patches = [{ patch: "- {op: remove, path: /data}", target: { kind: "ConfigMap" } }];

describe("the runs of kustomize", () => {
  test("are none for a release without post-renderers and common metadata", () => {
    assert.deepEqual(renderSteps({}), []);
  });

  test("are one for each post-renderer in order, and the last for common metadata", () => {
    const steps = renderSteps({
      postRenderers: [{ patches }, { images }],
      commonMetadata: { labels: { team: "a" } },
    });

    assert.deepEqual(steps, [
      { field: "postRenderers[0]", kustomization: { patches } },
      { field: "postRenderers[1]", kustomization: { images } },
      {
        field: "commonMetadata",
        kustomization: {
          labels: [{ pairs: { team: "a" }, includeSelectors: false, includeTemplates: false }],
        },
      },
    ]);
  });

  test("are none for labels that no user has asked for, which only name the HelmRelease", () => {
    const origin = { "example.com/name": "web" };
    const originLabels = Object.keys(origin);

    assert.deepEqual(renderSteps({ commonMetadata: { labels: origin }, originLabels }), []);
    const [step] = renderSteps({
      commonMetadata: { labels: { ...origin, team: "a" } },
      originLabels,
    });
    assert.deepEqual(step?.kustomization, {
      labels: [{ pairs: { team: "a" }, includeSelectors: false, includeTemplates: false }],
    });
  });

  test("set common annotations on the objects only, whatever is in them", () => {
    const annotations = { note: 'a "quoted"\n---\ntext' };
    const [step] = renderSteps({ commonMetadata: { annotations } });
    const { transformers } = JSON.parse(JSON.stringify(step?.kustomization));

    assert.deepEqual(Object.keys(step?.kustomization ?? {}), ["transformers"]);
    assert.deepEqual(JSON.parse(transformers[0]), {
      apiVersion: "builtin",
      kind: "AnnotationsTransformer",
      metadata: { name: "common-annotations" },
      annotations,
      fieldSpecs: [{ path: "metadata/annotations", create: true }],
    });
  });
});

test("the file of a kustomization has its one file of resources, Helm's order, and nothing but the step", () => {
  assert.deepEqual(JSON.parse(kustomizationFile({ patches }, "manifest.yaml")), {
    apiVersion: "kustomize.config.k8s.io/v1beta1",
    kind: "Kustomization",
    resources: ["manifest.yaml"],
    sortOptions: { order: "fifo" },
    patches,
  });
});
