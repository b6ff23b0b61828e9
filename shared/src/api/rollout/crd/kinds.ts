/** The kinds of rollouts with the parts of their CRDs that are not in the schemas. */
import { column, type KindDefinition } from "../../fleet/crd/index.ts";
import {
  bundleRolloutSchemas,
  bundleRollouts,
  gateRules,
  gateSchemas,
  gates,
  rolloutPolicies,
  rolloutPolicySchemas,
} from "../index.ts";

const common = { absentSpec: "reject", categories: ["fleet"] } as const;

const age = { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" } as const;

export const rolloutKinds: readonly KindDefinition[] = [
  {
    resource: bundleRollouts,
    description:
      "A BundleRollout is one revision of a Bundle on its way through the stages of its strategy. The hub creates it where the strategy has stages, `maxFailures` or `onFailure`, and removes the oldest ones; people halt it, take it back, end it and skip parts of it with `state`, `skip`, `skipStages` and `resume`. When it is deleted, the revision starts again.",
    ...bundleRolloutSchemas,
    ...common,
    columns: [
      column("App", ".spec.app.name"),
      column("Version", ".spec.version"),
      column("Phase", ".status.phase"),
      column("Stage", ".status.stage"),
      column("Done", ".status.display.done"),
      { name: "Since", type: "date", jsonPath: ".status.since" },
      { ...column("Message", ".status.message"), priority: 1 },
    ],
  },
  {
    resource: gates,
    description:
      "A Gate is one thing that a rollout waits for: an approval, a check of others, a time. The hub creates it; somebody with the right to update `gates/status` decides about one of the types `Approval` and `External`, once. When it is deleted undecided, the hub creates it again.",
    ...gateSchemas,
    ...common,
    rules: gateRules,
    statusText: "The decision, by those who may decide, and the conditions, by the hub.",
    columns: [
      column("App", ".spec.app.name"),
      column("Stage", ".spec.stage"),
      column("Type", ".spec.type"),
      column("Result", '.status.conditions[?(@.type=="Passed")].reason'),
      column("By", ".status.decision.by"),
      column("Expires", ".spec.expiresAt"),
      age,
      { ...column("Digest", ".spec.digest"), priority: 1 },
    ],
  },
  {
    resource: rolloutPolicies,
    description:
      "A RolloutPolicy is a strategy that many apps of its namespace name, with `rolloutStrategy.policy` or with the annotation `flotilla.dev/rollout-policy`. What is wrong with it is said by these apps.",
    ...rolloutPolicySchemas,
    ...common,
    columns: [],
  },
];
