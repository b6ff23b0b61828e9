import assert from "node:assert/strict";
import type { HelmOp } from "@flotilla/shared/api/helm-op.ts";
import { test } from "vitest";
import { aHelmOp } from "../testing/objects.ts";
import { notCarriedOutRemarks } from "./unsupported-fields.ts";

const used: readonly (readonly [field: string, spec: HelmOp["spec"]])[] = [
  ["correctDrift", { correctDrift: { enabled: true } }],
  ["diff", { diff: { comparePatches: [{ kind: "Deployment" }] } }],
  ["ignore", { ignore: { conditions: [{ type: "Ready" }] } }],
  ["deleteNamespace", { deleteNamespace: true }],
  ["overwrites", { overwrites: [{ kind: "ConfigMap", name: "a" }] }],
  ["allowedTargetNamespaceSelector", { allowedTargetNamespaceSelector: {} }],
  ["yaml", { yaml: { overlays: ["a"] } }],
  ["kustomize", { kustomize: { dir: "a" } }],
  ["helm.valuesFiles", { helm: { valuesFiles: ["a.yaml"] } }],
  ["rolloutStrategy", { rolloutStrategy: { maxNew: 1 } }],
  ["targetRestrictions", { targetRestrictions: [{ clusterName: "a" }] }],
  ["targetCustomizationMode", { targetCustomizationMode: "AllMatches" }],
];
for (const [field, spec] of used) {
  test(`${field} is said to have no effect`, () => {
    assert.deepEqual(notCarriedOutRemarks(aHelmOp(spec)), [
      `spec.${field} has no effect in this version of Flotilla`,
    ]);
  });
}

test("what is empty or off is what happens anyway", () => {
  const spec: HelmOp["spec"] = {
    correctDrift: { enabled: false, force: true },
    diff: { comparePatches: [] },
    ignore: null,
    deleteNamespace: false,
    rolloutStrategy: {},
    targets: [{ clusterName: "a" }],
    targetCustomizationMode: "FirstMatch",
    yaml: { overlays: null },
    kustomize: { dir: "" },
  };

  assert.deepEqual(notCarriedOutRemarks(aHelmOp(spec)), []);
});

test("those of targets are named with their target, all in one sentence", () => {
  const spec: HelmOp["spec"] = {
    rolloutStrategy: { maxUnavailable: "10%" },
    targets: [{}, { correctDrift: { enabled: true } }],
  };

  assert.deepEqual(notCarriedOutRemarks(aHelmOp(spec)), [
    "spec.rolloutStrategy, spec.targets[1].correctDrift have no effect in this version of Flotilla",
  ]);
});
