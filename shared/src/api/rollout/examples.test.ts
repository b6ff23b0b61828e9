/** Objects as the hub and users write them: the types of the API, its definitions and the warnings about fields agree on them. */
import assert from "node:assert/strict";
import { Ajv } from "ajv";
import { test } from "vitest";
import { crdOf } from "../fleet/crd/index.ts";
import { asJsonSchema, rootOf } from "../fleet/crd/testing/index.ts";
import {
  type FailureAction,
  gateTypes,
  maxGateConfigBytes,
  maxGates,
  maxStages,
  type Promotion,
  promotionSchema,
  type RolloutStage,
  type RolloutStrategy,
  type RolloutSummary,
  rolledOutCondition,
  rolloutStrategySchema,
  rolloutSummarySchema,
  type StageGate,
  type StageWindow,
  unknownFields,
} from "../fleet/index.ts";
import { rolloutKinds } from "./crd/index.ts";
import {
  type Breach,
  type BundleRollout,
  type BundleRolloutSpec,
  type BundleRolloutStatus,
  bundleRolloutSchemas,
  type FailingCluster,
  type Gate,
  type GateDecision,
  type GateRecord,
  type GateSpec,
  gateLabel,
  gateSchemas,
  maxFailureMessageLength,
  maxNamed,
  type PinnedTarget,
  type PlanSummary,
  type RolloutCounts,
  type RolloutPolicy,
  type RolloutReason,
  rolloutApiVersion,
  rolloutBundleLabel,
  rolloutLabel,
  rolloutPolicySchemas,
  type StagePhase,
  type StageStatus,
  type StoredDecision,
  stageLabel,
} from "./index.ts";

const digest = `sha256:${"0".repeat(64)}`;
const at = "2026-12-01T09:13:00Z";

const soak: StageGate = { name: "soak", soak: { for: "30m" } };
const changeBoard: StageGate = { name: "change-board", timeout: "72h", approval: { plan: true } };
const nights: StageWindow = { schedule: "nights" };
const freeze: StageWindow = {
  cron: "0 0 0 20 12 ?",
  duration: "336h",
  location: "Europe/Berlin",
  deny: true,
};
const staging: RolloutStage = {
  name: "staging",
  clusterSelector: { matchLabels: { env: "staging" } },
  after: [soak],
};
const prod: RolloutStage = {
  name: "prod",
  upTo: "10%",
  spreadBy: "region",
  maxUnavailable: 5,
  before: [changeBoard],
  windows: [nights, freeze],
};
const strategy: RolloutStrategy = { stages: [staging, prod], onFailure: "Rollback" };

const target: PinnedTarget = {
  name: "target000",
  clusterSelector: {},
  deploymentID: digest,
  referencedObjects: ["Secret/charts"],
};
const counts: RolloutCounts = {
  ...{ total: 88, done: 88, inFlight: 0, failed: 0, pending: 0, offline: 0, paused: 0 },
  ...{ skipped: 0, offSchedule: 0, brokenBefore: 1 },
};
const decision: GateDecision = { result: "Passed", by: "alice", digest, message: "CHG-1234" };
const stored: StoredDecision = { ...decision, verified: true, at };
const record: GateRecord = {
  name: "change-board",
  when: "Before",
  type: "Approval",
  result: "Passed",
  reason: "Decided",
  gate: "web-7-prod-change-board",
  uid: "9e1c6a2e-0000-4000-8000-000000000008",
  digest,
  startedAt: at,
  expiresAt: at,
  decision: stored,
};
const failing: FailingCluster = {
  cluster: "fleet-default/ams",
  message: "timed out",
  since: at,
};
const halted: StagePhase = "Halted";
const stage: StageStatus = {
  ...counts,
  name: "prod",
  phase: halted,
  startedAt: at,
  acceptedFailures: 0,
  gates: [record],
  failing: [failing],
};
const action: FailureAction = "Halt";
const breach: Breach = {
  ...{ stage: "prod", cause: "Failures", action, at },
  ...{ failed: 1, maxFailures: 0 },
};

const reason: RolloutReason = "TooManyFailures";
const spec: BundleRolloutSpec = {
  bundle: { name: "web", uid: "9e1c6a2e-0000-4000-8000-000000000001" },
  app: { kind: "HelmOp", name: "web" },
  number: 7,
  revision: digest,
  version: "1.4.2",
  targets: [target],
  signature: "00",
  state: "Running",
  skip: ["fleet-default/lab-3"],
  resume: at,
};
const status: BundleRolloutStatus = {
  phase: "Halted",
  reason,
  message: "1 cluster of stage prod failed, and none may",
  since: at,
  stage: "prod",
  startedAt: at,
  stable: digest,
  next: { revision: digest, version: "1.4.3", since: at },
  breach,
  clusters: counts,
  stages: [stage],
  unassigned: { count: 0, first: [] },
  conditions: [{ type: rolledOutCondition, status: "False", reason }],
};
const rollout: BundleRollout = {
  metadata: { namespace: "fleet-default", name: "web-7", labels: { [rolloutBundleLabel]: "web" } },
  spec,
  status,
};

const plan: PlanSummary = { groups: 3, changed: 401, unchanged: 6, failing: 1, offline: 4 };
const question: GateSpec = {
  type: gateTypes.approval,
  app: spec.app,
  rollout: { name: "web-7", uid: "9e1c6a2e-0000-4000-8000-000000000007" },
  stage: "prod",
  gate: "change-board",
  when: "Before",
  revision: digest,
  version: "1.4.2",
  digest,
  clusters: { count: 412, first: ["fleet-default/ams"] },
  plan,
  expiresAt: at,
};
const gate: Gate = {
  metadata: {
    namespace: "fleet-default",
    name: record.gate,
    labels: { [rolloutLabel]: "web-7", [stageLabel]: "prod", [gateLabel]: "change-board" },
  },
  spec: question,
  status: { decision, conditions: [{ type: "Passed", status: "True", reason: "Approved" }] },
};

const rings: RolloutPolicy = {
  metadata: { namespace: "fleet-default", name: "rings" },
  spec: strategy,
};

for (const object of [
  { kind: "BundleRollout", schemas: bundleRolloutSchemas, value: rollout },
  { kind: "Gate", schemas: gateSchemas, value: gate },
  { kind: "RolloutPolicy", schemas: { ...rolloutPolicySchemas, status: undefined }, value: rings },
] as const) {
  const { kind, schemas, value } = object;

  test(`a ${kind} is valid by its definition`, () => {
    assert.equal(problemOf(kind, value), undefined);
  });

  test(`a ${kind} has no field that its schema does not know`, () => {
    const options = { root: "", mostDescribed: 5 };
    const status = "status" in value ? value.status : undefined;

    assert.deepEqual(unknownFields(schemas.spec, value.spec, options).described, []);
    if (schemas.status !== undefined)
      assert.deepEqual(unknownFields(schemas.status, status, options).described, []);
  });
}

test("what other kinds have of a rollout is known by their schemas", () => {
  const summary: RolloutSummary = {
    ...{ name: "web-7", phase: "Waiting", stage: "prod", done: 88, total: 500 },
    ...{ message: "waits for the approval change-board of stage prod", since: at },
  };
  const promotion: Promotion = { rollout: "web-7", at, from: digest, wasReady: true };
  const options = { root: "", mostDescribed: 5 };

  assert.deepEqual(unknownFields(rolloutStrategySchema, strategy, options).described, []);
  assert.deepEqual(unknownFields(rolloutSummarySchema, summary, options).described, []);
  assert.deepEqual(unknownFields(promotionSchema, promotion, options).described, []);
  // Once for each cluster of a fleet.
  assert.ok(JSON.stringify(promotion).length <= 180);
});

const someOf = <T>(count: number, each: T): readonly T[] =>
  Array.from({ length: count }, () => each);
const inStrategy = (gates: readonly StageGate[]): RolloutPolicy => ({
  ...rings,
  spec: { stages: [{ name: "all", before: gates }] },
});
const withFailing = (failed: readonly FailingCluster[]): BundleRollout => ({
  ...rollout,
  status: { ...status, stages: [{ ...stage, failing: failed }] },
});
const configured = (length: number): StageGate => ({
  name: "load-test",
  external: { config: { suite: "x".repeat(length) } },
});

for (const [what, kind, longest, tooLong] of [
  [
    "stages",
    "RolloutPolicy",
    { ...rings, spec: { stages: someOf(maxStages, prod) } },
    { ...rings, spec: { stages: someOf(maxStages + 1, prod) } },
  ],
  [
    "gates before a stage",
    "RolloutPolicy",
    inStrategy(someOf(maxGates, soak)),
    inStrategy(someOf(maxGates + 1, soak)),
  ],
  [
    "characters for those who decide",
    "RolloutPolicy",
    inStrategy([configured(maxGateConfigBytes)]),
    inStrategy([configured(maxGateConfigBytes + 1)]),
  ],
  [
    "clusters that fail",
    "BundleRollout",
    withFailing(someOf(maxNamed, failing)),
    withFailing(someOf(maxNamed + 1, failing)),
  ],
  [
    "characters about one of them",
    "BundleRollout",
    withFailing([{ ...failing, message: "x".repeat(maxFailureMessageLength) }]),
    withFailing([{ ...failing, message: "x".repeat(maxFailureMessageLength + 1) }]),
  ],
] as const) {
  test(`a definition takes as many ${what} as the hub writes or reads, and no more`, () => {
    assert.equal(problemOf(kind, longest), undefined);
    assert.match(problemOf(kind, tooLong) ?? "", /must NOT have more than \d+ (items|characters)/);
  });
}

/** What is wrong with an object by the definition of its kind. */
function problemOf(kind: string, value: object): string | undefined {
  const definition = rolloutKinds.find(({ resource }) => resource.kind === kind);
  assert.ok(definition !== undefined);
  const ajv = new Ajv({ strict: false, formats: { int64: true, "date-time": true } });
  const schema = asJsonSchema(rootOf(crdOf(definition)));
  const isValid = ajv.validate(schema, { apiVersion: rolloutApiVersion, kind, ...value });
  return isValid ? undefined : ajv.errorsText();
}
