import assert from "node:assert/strict";
import { test } from "vitest";
import { aHelmOp } from "../testing/objects.ts";
import { leftOutLabelRemarks } from "./ignored-labels.ts";

test("labels for pod security are said to be left out, wherever they stand", () => {
  const remarks = leftOutLabelRemarks(
    aHelmOp({
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
    }),
  );

  assert.deepEqual(remarks, [
    "spec.namespaceLabels: pod-security.kubernetes.io/enforce is left out, how much pods may do is decided by whoever runs the cluster",
    "spec.targets[1].namespaceLabels: pod-security.kubernetes.io/warn, pod-security.kubernetes.io/audit are left out, how much pods may do is decided by whoever runs the cluster",
  ]);
});

test("other labels are not spoken of", () => {
  assert.deepEqual(leftOutLabelRemarks(aHelmOp({ namespaceLabels: { owner: "platform" } })), []);
  assert.deepEqual(leftOutLabelRemarks(aHelmOp({ namespaceLabels: null })), []);
});
