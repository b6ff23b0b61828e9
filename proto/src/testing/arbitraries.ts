/** Random messages that the contract allows. */
import fc from "fast-check";
import { resourceStateNames } from "../deployment-state.ts";
import {
  type AgentMessage,
  type DeploymentState,
  type HubMessage,
  type RequestBody,
  wireLimits,
} from "../index.ts";
import { aCertificate } from "./a-certificate.ts";

const text = fc.string({ unit: "grapheme", maxLength: 40 });
const named = fc.string({ unit: "grapheme", minLength: 1, maxLength: 40 });
const sequence = fc.nat(Number.MAX_SAFE_INTEGER);
const count = fc.nat(2 ** 31 - 1);
const key = fc.record({ name: named, uid: named });

const fields = fc.array(text, { maxLength: wireLimits.driftFields });

const state: fc.Arbitrary<DeploymentState> = fc.record(
  {
    name: named,
    uid: named,
    deploymentId: text,
    phase: fc.constantFrom("pending", "deployed", "failed", "withdrawing"),
    message: text,
    retryAt: named,
    release: fc.record({
      namespace: text,
      name: text,
      revision: count,
      chartVersion: text,
      appVersion: text,
    }),
    ready: fc.boolean(),
    notReady: fc.array(
      fc.record(
        {
          apiVersion: text,
          kind: text,
          namespace: named,
          name: text,
          state: fc.constantFrom(...resourceStateNames),
          message: text,
        },
        { requiredKeys: ["apiVersion", "kind", "name", "state", "message"] },
      ),
      { maxLength: wireLimits.notReady },
    ),
    resources: fc.array(
      fc.record(
        {
          apiVersion: text,
          kind: text,
          namespace: named,
          name: text,
          state: fc.constantFrom(...resourceStateNames),
        },
        { requiredKeys: ["apiVersion", "kind", "name", "state"] },
      ),
      { maxLength: wireLimits.resources },
    ),
    incomplete: fc.boolean(),
    counts: fc.record({
      desiredReady: count,
      ready: count,
      notReady: count,
      missing: count,
      unknown: count,
    }),
    chartDigest: named,
    source: fc.record({ pin: named, digest: named }),
    code: named,
    failures: fc.integer({ min: 1, max: 1_000 }),
    failuresBy: fc.record({ install: fc.nat(1_000), upgrade: fc.integer({ min: 1, max: 1_000 }) }),
    notInstalled: fc.constant(true as const),
    refusedAt: named,
    drift: fc.record({
      objects: fc.array(
        fc.record(
          {
            ...{ apiVersion: text, kind: text, namespace: named, name: text, fields },
            ...{ manager: named, time: named, missing: fc.boolean(), patch: text },
          },
          { requiredKeys: ["apiVersion", "kind", "name", "fields", "missing", "patch"] },
        ),
        { maxLength: wireLimits.drifted },
      ),
      count,
      isWarning: fc.constant(true as const),
      history: fc.array(
        fc.record(
          {
            ...{ apiVersion: text, kind: text, namespace: named, name: text, fields },
            ...{ manager: named, time: named, result: text },
          },
          { requiredKeys: ["apiVersion", "kind", "name", "fields", "time", "result"] },
        ),
        { maxLength: wireLimits.driftHistory },
      ),
    }),
  },
  {
    requiredKeys: [
      "name",
      "uid",
      "deploymentId",
      "phase",
      "message",
      "ready",
      "notReady",
      "resources",
      "incomplete",
      "counts",
    ],
  },
);

const bytes = fc
  .uint8Array({ minLength: 1, maxLength: 100 })
  .map((content) => Buffer.from(content));
const objectRef = { kind: fc.constantFrom("Secret", "ConfigMap"), name: named };

/** Any message of an agent. */
export const agentMessage: fc.Arbitrary<AgentMessage> = fc.oneof(
  fc.record(
    {
      kind: fc.constant("hello" as const),
      versions: fc
        .tuple(count, count)
        .map(([one, other]) => ({ oldest: Math.min(one, other), newest: Math.max(one, other) })),
      hubId: text,
      agentVersion: text,
      agentNamespace: text,
      deployments: fc.array(
        fc.record(
          {
            name: named,
            uid: named,
            deploymentId: text,
            paused: fc.boolean(),
            withdrawing: fc.boolean(),
            verificationAt: named,
          },
          { requiredKeys: ["name", "uid", "deploymentId", "paused", "withdrawing"] },
        ),
      ),
      clusterInfoDigest: named,
      referencedObjects: fc.array(
        fc.record({ ...objectRef, digest: named }, { requiredKeys: ["kind", "name"] }),
      ),
      authoritiesDigest: named,
      capabilities: fc.array(named, { minLength: 1, maxLength: 8 }),
      kubernetesVersion: named,
    },
    {
      requiredKeys: [
        "kind",
        "versions",
        "hubId",
        "agentVersion",
        "agentNamespace",
        "deployments",
        "referencedObjects",
      ],
    },
  ),
  fc.record(
    { kind: fc.constant("deploymentAck" as const), deployment: key, deploymentId: named },
    { requiredKeys: ["kind", "deployment"] },
  ),
  fc.record({ kind: fc.constant("state" as const), sequence, state }),
  fc.record({ kind: fc.constant("withdrawn" as const), deployment: key }),
  fc.record(
    {
      kind: fc.constant("answerChunk" as const),
      id: named,
      data: bytes,
      end: fc.record({ failure: fc.record({ code: named, message: text }) }, { requiredKeys: [] }),
    },
    { requiredKeys: ["kind", "id", "data"] },
  ),
);

const requestBody: fc.Arbitrary<RequestBody> = fc.oneof(
  fc.record(
    {
      kind: fc.constant("log" as const),
      pod: named,
      container: named,
      tailLines: count,
      sinceSeconds: fc.integer({ min: 1, max: 2 ** 31 - 1 }),
      previous: fc.boolean(),
      tests: fc.boolean(),
    },
    { requiredKeys: ["kind", "tailLines", "previous", "tests"] },
  ),
  fc.record({ kind: fc.constant("diff" as const) }),
  fc.record({ kind: fc.constant("history" as const) }),
  fc.record({ kind: fc.constant("resources" as const) }),
  fc.record({ kind: fc.constant("events" as const) }),
  fc.record({ kind: fc.constant("values" as const), target: text, targetPaths: fc.array(text) }),
  fc.record(
    {
      kind: fc.constant("plan" as const),
      deploymentId: named,
      content: bytes,
      key: fc.uint8Array({ maxLength: 64 }).map((each) => Buffer.from(each)),
      withText: fc.boolean(),
      objects: fc.array(
        fc.record(
          { ...objectRef, packed: fc.record({ digest: named, content: bytes }) },
          { requiredKeys: ["kind", "name"] },
        ),
        { maxLength: 3 },
      ),
    },
    { requiredKeys: ["kind", "deploymentId", "key", "withText", "objects"] },
  ),
);

/** Any message of a hub. */
export const hubMessage: fc.Arbitrary<HubMessage> = fc.oneof(
  fc.record({
    kind: fc.constant("welcome" as const),
    protocolVersion: count,
    hubId: text,
    epoch: sequence,
    hubVersion: text,
  }),
  fc.record(
    {
      kind: fc.constant("deployment" as const),
      deployment: key,
      deploymentId: text,
      paused: fc.boolean(),
      content: bytes,
      sources: fc.array(fc.record({ pin: named, digest: named }), {
        minLength: 1,
        maxLength: wireLimits.sources,
      }),
      verification: fc.record({
        diff: named,
        key: bytes.map((each) => each.subarray(0, 64)),
        at: named,
      }),
    },
    { requiredKeys: ["kind", "deployment", "deploymentId", "paused"] },
  ),
  fc.record(
    {
      kind: fc.constant("withdrawal" as const),
      deployment: key,
      lost: fc.record({ deploymentId: named, content: bytes }),
    },
    { requiredKeys: ["kind", "deployment"] },
  ),
  fc.record({ kind: fc.constant("synced" as const), orphans: fc.array(text) }),
  fc.record({ kind: fc.constant("stateAck" as const), name: text, sequence }),
  fc.record({ kind: fc.constant("clusterInfo" as const), digest: named, content: bytes }),
  fc.record({
    kind: fc.constant("referencedObject" as const),
    object: fc.record(
      { ...objectRef, packed: fc.record({ digest: named, content: bytes }) },
      { requiredKeys: ["kind", "name"] },
    ),
  }),
  fc.record({
    kind: fc.constant("referencedObjectWithdrawal" as const),
    object: fc.record(objectRef),
  }),
  fc.record({
    kind: fc.constant("authorities" as const),
    pem: fc.integer({ min: 1, max: 3 }).map((many) => aCertificate.repeat(many)),
  }),
  fc.record({
    kind: fc.constant("request" as const),
    id: named,
    deployment: key,
    body: requestBody,
  }),
  fc.record({ kind: fc.constant("requestCancellation" as const), id: named }),
);
