import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { type IgnoredConditions, statusIgnoring } from "./ignored-conditions.ts";
import { slimObject } from "./slim-object.ts";

type Fields = Readonly<Record<string, unknown>>;

const ready = (status: string, more: Fields = {}): Fields => ({ type: "Ready", status, ...more });
const starting = {
  observedGeneration: 2,
  replicas: 1,
  updatedReplicas: 1,
  conditions: [
    { type: "Available", status: "False" },
    { type: "Progressing", status: "True" },
  ],
};
const notReady = [{ type: "Ready", status: "False" }];

describe("an object is", () => {
  const cases: readonly (readonly [
    what: string,
    kind: string,
    status: Fields,
    ignored: IgnoredConditions,
    expected: string,
  ])[] = [
    [
      "ready if its condition is ignored",
      "example.com/Thing",
      { conditions: [ready("False")] },
      notReady,
      "current",
    ],
    [
      "not ready if nothing is ignored",
      "example.com/Thing",
      { conditions: [ready("False")] },
      [],
      "inProgress",
    ],
    [
      "not ready if the condition has another value",
      "example.com/Thing",
      { conditions: [ready("Unknown")] },
      notReady,
      "inProgress",
    ],
    [
      "ready if the condition has all fields of one entry",
      "example.com/Thing",
      { conditions: [ready("False", { reason: "Paused", severity: "Info" })] },
      [{ type: "Synced" }, { type: "Ready", reason: "Paused", severity: "Info" }],
      "current",
    ],
    [
      "not ready if the condition lacks a field",
      "example.com/Thing",
      { conditions: [ready("False", { reason: "Paused" })] },
      [{ type: "Ready", reason: "Paused", severity: "Info" }],
      "inProgress",
    ],
    [
      "not ready if a field is not text, as in Fleet",
      "example.com/Thing",
      { conditions: [ready("False", { observedGeneration: 2 })] },
      [{ type: "Ready", observedGeneration: "2" }],
      "inProgress",
    ],
    [
      "ready if an entry is empty, as in Fleet",
      "example.com/Thing",
      { conditions: [ready("False")] },
      [{}],
      "current",
    ],
    [
      "not ready because of another condition",
      "example.com/Thing",
      { conditions: [ready("False"), { type: "Stalled", status: "True" }] },
      notReady,
      "failed",
    ],
    [
      "no longer stalled, but not ready",
      "example.com/Thing",
      { conditions: [ready("False"), { type: "Stalled", status: "True" }] },
      [{ type: "Stalled" }],
      "inProgress",
    ],
    [
      "not ready while its controller has not observed the latest change",
      "example.com/Thing",
      { observedGeneration: 1, conditions: [ready("False")] },
      notReady,
      "inProgress",
    ],
    [
      "ready as a pod that is not ready",
      "/Pod",
      {
        phase: "Running",
        conditions: [ready("False"), { type: "ContainersReady", status: "False" }],
      },
      notReady,
      "current",
    ],
    [
      "not ready as a pod that is not scheduled",
      "/Pod",
      { phase: "Pending", conditions: [{ type: "PodScheduled", status: "False" }] },
      notReady,
      "inProgress",
    ],
    [
      "ready as a Deployment that is not available",
      "apps/Deployment",
      starting,
      [{ type: "Available", status: "False" }],
      "current",
    ],
    [
      "not ready as a Deployment whose deadline has passed",
      "apps/Deployment",
      {
        ...starting,
        conditions: [
          { type: "Available", status: "False" },
          { type: "Progressing", status: "False", reason: "ProgressDeadlineExceeded" },
        ],
      },
      [{ type: "Available", status: "False" }],
      "failed",
    ],
    [
      "not ready as a Deployment that is available during its rollout",
      "apps/Deployment",
      { ...starting, updatedReplicas: 0, conditions: [{ type: "Available", status: "True" }] },
      [{ type: "Available" }],
      "inProgress",
    ],
    [
      "ready as a Job that has failed",
      "batch/Job",
      { conditions: [{ type: "Failed", status: "True", reason: "DeadlineExceeded" }] },
      [{ type: "Failed", reason: "DeadlineExceeded" }],
      "current",
    ],
    [
      "not ready without a condition",
      "/PersistentVolumeClaim",
      { phase: "Pending" },
      [{}],
      "inProgress",
    ],
  ];
  for (const [what, groupKind, status, ignored, expected] of cases)
    test(what, () => {
      const object = { metadata: { name: "it", generation: 2 }, spec: {}, status };
      const [group = "", kind = ""] = groupKind.split("/");

      const found = statusIgnoring(ignored, { group, kind }, slimObject(object));

      assert.equal(found.kind, expected);
    });

  test("terminating when it is being deleted, whatever is ignored", () => {
    const metadata = { name: "it", deletionTimestamp: "2026-01-01T00:00:00Z" };
    const object = { metadata, status: { conditions: [ready("False")] } };

    const found = statusIgnoring([{}], { group: "example.com", kind: "Thing" }, object);

    assert.equal(found.kind, "terminating");
  });
});
