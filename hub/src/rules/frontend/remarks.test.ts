import assert from "node:assert/strict";
import type { HelmOp } from "@flotilla/shared/api";
import { test } from "vitest";
import { aHelmOp } from "../../testing/index.ts";
import {
  ignoredFieldRemarks,
  ignoredLabelRemarks,
  unknownFieldRemarks,
  unsupportedFieldRemarks,
} from "./remarks.ts";

/** As the API server returns it, also with invalid types. */
function unknownIn(spec: object): readonly string[] {
  return unknownFieldRemarks(aHelmOp(spec));
}

test("reports no known field", () => {
  assert.deepEqual(unknownIn({ pollingInterval: "5m", helm: { values: { any: "thing" } } }), []);
});

test("reports an unknown field with the most similar known name", () => {
  assert.deepEqual(unknownIn({ helm: { vesion: "1.2.3" }, driftwood: 1 }), [
    "unknown field spec.helm.vesion has no effect, did you mean spec.helm.version?",
    "unknown field spec.driftwood has no effect",
  ]);
});

test("knows the fields of stages and gates", () => {
  const soak = { name: "soak", soak: { for: "1h" } };
  const stage = { name: "canary", clusterGroup: "canaries", maxFailures: "2%", after: [soak] };
  assert.deepEqual(unknownIn({ rolloutStrategy: { stages: [stage], onFailure: "Halt" } }), []);
  assert.deepEqual(
    unknownIn({
      rolloutStrategy: { stages: [{ ...stage, before: [{ ...soak, timeOut: "1h" }] }] },
    }),
    [
      "unknown field spec.rolloutStrategy.stages[0].before[0].timeOut has no effect, did you mean spec.rolloutStrategy.stages[0].before[0].timeout?",
    ],
  );
});

test("says that there are more where not all unknown fields were counted", () => {
  const many = Object.fromEntries(Array.from({ length: 5_000 }, (_, at) => [`zz${at}`, at]));
  const targets = Array.from({ length: 60_000 }, () => ({}));

  assert.equal(unknownIn(many).at(-1), "at least 995 more unknown fields have no effect");
  assert.deepEqual(unknownIn({ zz: 1, targets }), [
    "unknown field spec.zz has no effect",
    "the spec has too many fields to find all unknown ones",
  ]);
});

test("truncates a long list and counts the rest", () => {
  const spec = Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`zz${at}`, at]));

  const remarks = unknownIn(spec);

  assert.equal(remarks.length, 6);
  assert.equal(remarks.at(-1), "45 more unknown fields have no effect");
});

test("looks for unknown fields once for each spec", () => {
  const helmOp = aHelmOp({ helm: { vesion: "1" } } as HelmOp["spec"]);

  const first = unknownFieldRemarks(helmOp);

  assert.equal(unknownFieldRemarks({ ...helmOp, metadata: { name: "other" } }), first);
});

const used: readonly (readonly [field: string, spec: HelmOp["spec"]])[] = [
  ["overwrites", { overwrites: [{ kind: "ConfigMap", name: "a" }] }],
  ["yaml", { yaml: { overlays: ["a"] } }],
  ["kustomize", { kustomize: { dir: "a" } }],
  ["helm.valuesFiles", { helm: { valuesFiles: ["a.yaml"] } }],
];
for (const [field, spec] of used) {
  test(`reports that ${field} has no effect on a HelmOp, as in Fleet, and none on a Bundle`, () => {
    assert.deepEqual(ignoredFieldRemarks(spec), [
      `spec.${field} has no effect on a HelmOp, as in Fleet`,
    ]);
    assert.deepEqual(unsupportedFieldRemarks(spec), [
      `spec.${field} has no effect in this version of Flotilla`,
    ]);
  });
}

test("reports targetCustomizationMode of a HelmOp, which has an effect on Bundles", () => {
  const spec: HelmOp["spec"] = { targetCustomizationMode: "AllMatches" };

  assert.deepEqual(ignoredFieldRemarks(spec), [
    "spec.targetCustomizationMode has no effect on a HelmOp, as in Fleet",
  ]);
  assert.deepEqual(unsupportedFieldRemarks(spec), []);
});

test("reports no field that is empty or off, and none that has an effect", () => {
  const spec: HelmOp["spec"] = {
    rolloutStrategy: { maxUnavailable: "10%" },
    targets: [{ clusterName: "a" }],
    targetRestrictions: [{ clusterName: "a" }],
    targetCustomizationMode: "FirstMatch",
    yaml: { overlays: null },
    kustomize: { dir: "" },
  };

  assert.deepEqual(ignoredFieldRemarks(spec), []);
  assert.deepEqual(unsupportedFieldRemarks(spec), []);
});

test("names fields of targets with their target, in one message", () => {
  const spec: HelmOp["spec"] = {
    yaml: { overlays: ["a"] },
    targets: [{}, { overwrites: [{ kind: "ConfigMap", name: "a" }] }],
  };

  assert.deepEqual(ignoredFieldRemarks(spec), [
    "spec.yaml, spec.targets[1].overwrites have no effect on a HelmOp, as in Fleet",
  ]);
});

test("reports labels for pod security as ignored, in the spec and in targets", () => {
  const remarks = ignoredLabelRemarks({
    namespaceLabels: { owner: "platform", "pod-security.kubernetes.io/enforce": "baseline" },
    targets: [
      { namespaceLabels: { owner: "a" } },
      {
        namespaceLabels: {
          "pod-security.kubernetes.io/warn": "a",
          "pod-security.kubernetes.io/audit": "b",
        },
      },
    ],
  });

  assert.deepEqual(remarks, [
    "spec.namespaceLabels: pod-security.kubernetes.io/enforce is ignored: pod security is set by the administrators of the cluster",
    "spec.targets[1].namespaceLabels: pod-security.kubernetes.io/warn, pod-security.kubernetes.io/audit are ignored: pod security is set by the administrators of the cluster",
  ]);
});

test("reports no other labels", () => {
  assert.deepEqual(ignoredLabelRemarks({ namespaceLabels: { owner: "platform" } }), []);
  assert.deepEqual(ignoredLabelRemarks({ namespaceLabels: null }), []);
});
