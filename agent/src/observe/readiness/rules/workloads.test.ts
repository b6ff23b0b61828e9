import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { statusOf } from "../object-status.ts";
import { slimObject } from "../slim-object.ts";

type Fields = Readonly<Record<string, unknown>>;
/** Title, spec, status, and the expected status with its message. */
type Case = readonly [string, Fields, Fields, string];

const current = "current: ";
const observed = { observedGeneration: 2 };
const three = { replicas: 3, updatedReplicas: 3, readyReplicas: 3, availableReplicas: 3 };

function condition(type: string, status: string, more: Fields = {}): Fields {
  return { type, status, ...more };
}

function describeKind(kind: string, cases: readonly Case[]): void {
  describe(`a ${kind}`, () => {
    for (const [what, spec, status, expected] of cases)
      test(what, () => {
        const object = { metadata: { name: "it", generation: 2 }, spec, status };
        const [group = "", name = ""] = kind.split("/");

        const found = statusOf(group, name, slimObject(object));

        assert.equal(`${found.kind}: ${found.kind === "current" ? "" : found.message}`, expected);
      });
  });
}

const deadline = { replicas: 3, progressDeadlineSeconds: 600 };
const available = condition("Available", "True");
const complete = condition("Progressing", "True", { reason: "NewReplicaSetAvailable" });
const up = { ...observed, ...three, conditions: [available, complete] };

describeKind("apps/Deployment", [
  ["that is new", { replicas: 3 }, {}, "inProgress: 0 of 3 replicas are available"],
  [
    "without a count of replicas has one",
    {},
    { ...observed, replicas: 1, updatedReplicas: 1 },
    "inProgress: 0 of 1 replica is available",
  ],
  ["that is available", deadline, up, current],
  [
    "without a deadline has no condition Progressing",
    { ...deadline, progressDeadlineSeconds: 2 ** 31 - 1 },
    { ...up, conditions: [available] },
    current,
  ],
  ["with zero replicas", { replicas: 0 }, { ...observed, conditions: [available] }, current],
  [
    "whose controller observed an earlier generation",
    deadline,
    { ...up, observedGeneration: 1 },
    "inProgress: 0 of 3 replicas are available",
  ],
  [
    "whose controller observed a later generation, as before a restore",
    deadline,
    { ...up, observedGeneration: 7 },
    "inProgress: 0 of 3 replicas are available",
  ],
  [
    "during a rollout",
    deadline,
    { ...up, replicas: 4, updatedReplicas: 1 },
    "inProgress: 1 of 3 replicas are up to date",
  ],
  [
    "during a rollout whose pods cannot be created",
    deadline,
    {
      ...up,
      ...{ replicas: 3, updatedReplicas: 0 },
      conditions: [available, condition("ReplicaFailure", "True", { message: "exceeded quota" })],
    },
    "inProgress: exceeded quota",
  ],
  [
    "with one old pod",
    deadline,
    { ...up, replicas: 4, availableReplicas: 4 },
    "inProgress: 1 old replica is being terminated",
  ],
  [
    "whose new pod is not available, so that the old one is kept",
    { replicas: 1, progressDeadlineSeconds: 600 },
    { ...observed, replicas: 2, updatedReplicas: 1, availableReplicas: 1, readyReplicas: 1 },
    "inProgress: its rollout waits for 1 replica that is not available",
  ],
  [
    "of which more than the new pods are not available",
    deadline,
    { ...up, replicas: 5 },
    "inProgress: its rollout waits for 2 replicas that are not available",
  ],
  [
    "that is scaled down",
    { ...deadline, replicas: 2 },
    up,
    "inProgress: 1 surplus replica is being terminated",
  ],
  [
    "with more pods than are available",
    deadline,
    { ...up, availableReplicas: 2 },
    "inProgress: 2 of 3 replicas are available",
  ],
  [
    "with pods that are no longer ready",
    deadline,
    { ...up, readyReplicas: 2 },
    "inProgress: 2 of 3 replicas are ready",
  ],
  [
    "that exceeds its progress deadline",
    deadline,
    {
      ...observed,
      conditions: [
        condition("Progressing", "False", {
          reason: "ProgressDeadlineExceeded",
          message: "too long",
        }),
      ],
    },
    "failed: too long",
  ],
  [
    "that exceeded its deadline with an earlier generation",
    deadline,
    {
      observedGeneration: 1,
      conditions: [condition("Progressing", "False", { reason: "ProgressDeadlineExceeded" })],
    },
    "inProgress: 0 of 3 replicas are available",
  ],
  [
    "that is paused",
    deadline,
    {
      ...up,
      conditions: [
        available,
        condition("Progressing", "Unknown", {
          reason: "DeploymentPaused",
          message: "Deployment is paused",
        }),
      ],
    },
    "inProgress: Deployment is paused",
  ],
  [
    "that is not available",
    deadline,
    { ...up, conditions: [complete, condition("Available", "False", { message: "not yet" })] },
    "inProgress: not yet",
  ],
  [
    "without conditions",
    { replicas: 3 },
    { ...observed, ...three },
    "inProgress: is not available",
  ],
  [
    "that is stalled, as its controller says",
    deadline,
    { ...up, conditions: [available, complete, condition("Stalled", "True", { message: "no" })] },
    "failed: no",
  ],
]);

const twoReady = { ...observed, replicas: 2, readyReplicas: 2, currentReplicas: 2 };
const updating = { ...twoReady, updatedReplicas: 1, currentRevision: "a", updateRevision: "b" };

describeKind("apps/StatefulSet", [
  ["that is new", { replicas: 2 }, {}, "inProgress: 0 of 2 replicas are ready"],
  [
    "that is available",
    { replicas: 2, updateStrategy: { rollingUpdate: { partition: 0 } } },
    { ...twoReady, updatedReplicas: 2, currentRevision: "a", updateRevision: "a" },
    current,
  ],
  [
    "during a rollout",
    { replicas: 2, updateStrategy: { rollingUpdate: { partition: 0 } } },
    updating,
    "inProgress: 1 of 2 replicas are up to date",
  ],
  [
    "during a rollout without a partition",
    { replicas: 2 },
    updating,
    "inProgress: 1 of 2 replicas are up to date",
  ],
  [
    "that is rolled out to its partition",
    { replicas: 2, updateStrategy: { rollingUpdate: { partition: 1 } } },
    updating,
    current,
  ],
  [
    "with a partition above its count of replicas",
    { replicas: 2, updateStrategy: { rollingUpdate: { partition: 5 } } },
    { ...updating, updatedReplicas: 0 },
    current,
  ],
  ["with strategy OnDelete", { updateStrategy: { type: "OnDelete" } }, observed, current],
  [
    "with strategy OnDelete, whose controller observed an earlier generation",
    { updateStrategy: { type: "OnDelete" } },
    { observedGeneration: 1 },
    "inProgress: 0 of 1 replica is ready",
  ],
  [
    "that is scaled down",
    { replicas: 1 },
    { ...observed, replicas: 3, readyReplicas: 1 },
    "inProgress: 2 surplus replicas are being terminated",
  ],
]);

const nodes = {
  ...observed,
  desiredNumberScheduled: 2,
  currentNumberScheduled: 2,
  updatedNumberScheduled: 2,
  numberAvailable: 2,
  numberReady: 2,
};

describeKind("apps/DaemonSet", [
  ["that is new", {}, {}, "inProgress: its pods are not scheduled yet"],
  ["that is available", {}, nodes, current],
  ["without a node", {}, { ...observed, desiredNumberScheduled: 0 }, current],
  [
    "whose controller observed an earlier generation",
    {},
    { ...nodes, observedGeneration: 1 },
    "inProgress: its pods are not scheduled yet",
  ],
  [
    "that is not scheduled everywhere",
    {},
    { ...nodes, currentNumberScheduled: 1 },
    "inProgress: 1 of 2 replicas are scheduled",
  ],
  [
    "during a rollout",
    {},
    { ...nodes, updatedNumberScheduled: 1 },
    "inProgress: 1 of 2 replicas are up to date",
  ],
  [
    "with a pod that is not available",
    {},
    { ...nodes, numberAvailable: 1 },
    "inProgress: 1 of 2 replicas are available",
  ],
  [
    "with a pod that is not ready",
    {},
    { ...nodes, numberReady: 0 },
    "inProgress: 0 of 2 replicas are ready",
  ],
  [
    "with strategy OnDelete, which is never up to date by itself",
    { updateStrategy: { type: "OnDelete" } },
    { ...nodes, updatedNumberScheduled: 0 },
    current,
  ],
]);

const labelled = { ...observed, ...three, fullyLabeledReplicas: 3 };
for (const kind of ["apps/ReplicaSet", "/ReplicationController"])
  describeKind(kind, [
    ["that is new", { replicas: 3 }, {}, "inProgress: 0 of 3 replicas are available"],
    ["that is available", { replicas: 3 }, labelled, current],
    [
      "with pods that lack labels of the template",
      { replicas: 3 },
      { ...labelled, fullyLabeledReplicas: 2 },
      "inProgress: 2 of 3 replicas are labelled",
    ],
    [
      "with a pod that is not ready",
      { replicas: 3 },
      { ...labelled, readyReplicas: 2 },
      "inProgress: 2 of 3 replicas are ready",
    ],
    [
      "that is scaled down",
      { replicas: 2 },
      labelled,
      "inProgress: 1 surplus replica is being terminated",
    ],
    [
      "that cannot create pods",
      { replicas: 3 },
      { ...observed, conditions: [condition("ReplicaFailure", "True", { message: "quota" })] },
      "inProgress: quota",
    ],
  ]);
