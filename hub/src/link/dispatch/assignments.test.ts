import assert from "node:assert/strict";
import type { ObservedDeployment } from "@flotilla/proto";
import type { BundleDeployment } from "@flotilla/shared/api";
import { AppError } from "@flotilla/shared/errors";
import { silentLog } from "@flotilla/shared/log";
import { createFakeClock } from "@flotilla/shared/time/testing";
import { describe, test } from "vitest";
import { hubErrors } from "../../base/errors/hub-errors.ts";
import { type Assignments, createAssignments } from "./assignments.ts";

const deployment = { name: "web", uid: "u" };
const content = Buffer.from("content");
const deleted: BundleDeployment = {
  metadata: { ...deployment, deletionTimestamp: "2026-01-01T00:00:00Z" },
  spec: { deploymentID: "sha256:1", stagedDeploymentID: "sha256:1" },
  status: { agent: { epoch: 1, sequence: 1 } },
};
const has: ObservedDeployment = {
  ...{ ...deployment, deploymentId: "sha256:1" },
  ...{ paused: false, withdrawing: false },
};

const planKey = Buffer.from("the key of the plans of a rollout");

interface Options {
  readonly capabilities?: readonly string[];
  readonly planKey?: Uint8Array | undefined;
  readonly stored?: readonly ObservedDeployment[];
  readonly read?: () => Promise<Uint8Array>;
  readonly suspend?: boolean;
  readonly protocolVersion?: number;
  readonly desired?: BundleDeployment;
  readonly isTrusted?: () => boolean;
  readonly isSigned?: () => boolean;
}

function setUp(options: Options = {}) {
  const { stored = [], read = () => Promise.resolve(content) } = options;
  const { suspend = false, protocolVersion = 2 } = options;
  const clock = createFakeClock();
  const enqueued: string[] = [];
  const assignments: Assignments = createAssignments({
    protocolVersion,
    stored,
    desired: () => options.desired ?? { ...deleted, spec: { ...deleted.spec, suspend } },
    trust: {
      isTrusted: options.isTrusted ?? (() => true),
      isSigned: options.isSigned ?? (() => true),
      planKeyOf: () => ("planKey" in options ? options.planKey : planKey),
    },
    capabilities: options.capabilities ?? [],
    sourceReports: () => [],
    contents: { read },
    withdrawals: { mayBeSent: () => Promise.resolve(true) },
    enqueue: (name) => void enqueued.push(name),
    clock,
    log: silentLog(),
  });
  return { assignments, clock, enqueued };
}

test("a deployment is sent with what other clusters of its Bundle received", async () => {
  const source = { pin: "sha256:p", digest: "sha256:d" };
  const { metadata, spec } = deleted;
  const assigned = { metadata: { name: "web", namespace: "c", uid: "u" }, spec };
  const reported = { ...source, since: "2026-01-01T00:00:00.000Z" };
  const sibling = { metadata: { ...metadata, uid: "other" }, spec, status: { source: reported } };
  const assignments = createAssignments({
    ...{ protocolVersion: 2, stored: [], enqueue: () => undefined },
    desired: () => assigned,
    sourceReports: () => [assigned, sibling],
    trust: { isTrusted: () => true, isSigned: () => true, planKeyOf: () => planKey },
    capabilities: [],
    contents: { read: () => Promise.resolve(content) },
    withdrawals: { mayBeSent: () => Promise.resolve(true) },
    ...{ clock: createFakeClock(), log: silentLog() },
  });

  const message = await assignments.next("web");

  assert.deepEqual(message?.kind === "deployment" && message.sources, [source]);
});

describe("a content with what was approved to change", () => {
  const promotion = { rollout: "web-7", at: "2026-12-01T10:00:00.000Z", from: "" };
  const desired = {
    metadata: { name: "web", namespace: "c", uid: "u" },
    spec: { ...deleted.spec, promotion: { ...promotion, planned: "AAAAAAAAAAAAAAAA" } },
  };

  test("is sent with the key of the plan, once", async () => {
    const { assignments } = setUp({ desired, capabilities: ["VerifyPlan"] });

    const message = await assignments.next("web");

    assert.deepEqual(message?.kind === "deployment" && message.verification, {
      ...{ diff: "AAAAAAAAAAAAAAAA", at: promotion.at, key: planKey },
    });
    assert.equal(await assignments.next("web"), undefined);
  });

  test("is not sent to an agent that would install it without planning once more", async () => {
    const { assignments } = setUp({ desired, capabilities: ["Plan"] });

    assert.equal(await assignments.next("web"), undefined);
  });

  test("is not sent before the key is known", async () => {
    const { assignments } = setUp({ desired, capabilities: ["VerifyPlan"], planKey: undefined });

    assert.equal(await assignments.next("web"), undefined);
  });

  test("is not sent without it when somebody else has removed it", async () => {
    const { promotion: _, ...spec } = desired.spec;
    const { assignments } = setUp({
      ...{ desired: { ...desired, spec }, isTrusted: () => false },
      stored: [{ ...has, deploymentId: spec.deploymentID, verificationAt: promotion.at }],
    });

    assert.equal(await assignments.next("web"), undefined);
  });

  test("is paused without being sent again", async () => {
    const { assignments } = setUp({
      desired: { ...desired, spec: { ...desired.spec, paused: true } },
      stored: [{ ...has, deploymentId: desired.spec.deploymentID, verificationAt: promotion.at }],
    });

    const message = await assignments.next("web");

    assert.partialDeepStrictEqual(message, { kind: "deployment", paused: true });
    assert.ok(message !== undefined && !("content" in message) && !("verification" in message));
  });
});

describe("a withdrawal", () => {
  test("is sent with the content to an agent that has lost the deployment, once", async () => {
    const { assignments } = setUp();

    assert.deepEqual(await assignments.next("web"), {
      kind: "withdrawal",
      deployment,
      lost: { deploymentId: "sha256:1", content },
    });
    assert.equal(await assignments.next("web"), undefined);
  });

  test("is sent without reading the content to an agent that has the deployment", async () => {
    const read = () => Promise.reject(new Error("must not be read"));
    const { assignments } = setUp({ stored: [has], read });

    assert.deepEqual(await assignments.next("web"), { kind: "withdrawal", deployment });
  });

  test("of a suspended deployment keeps its release", async () => {
    const { assignments } = setUp({ stored: [has], suspend: true });

    assert.deepEqual(await assignments.next("web"), {
      ...{ kind: "withdrawal", deployment, keepsRelease: true },
    });
    assert.equal(await assignments.next("web"), undefined);
  });

  test("of a suspended deployment is not sent to an agent that would uninstall it", async () => {
    const { assignments } = setUp({ stored: [has], suspend: true, protocolVersion: 1 });

    assert.equal(await assignments.next("web"), undefined);
  });

  test("waits for a content that cannot be read now", async () => {
    let failures = 1;
    const read = () => {
      failures -= 1;
      return failures < 0 ? Promise.resolve(content) : Promise.reject(new Error("unavailable"));
    };
    const { assignments, clock, enqueued } = setUp({ read });

    assert.equal(await assignments.next("web"), undefined);
    await clock.advance(60_000);

    assert.deepEqual(enqueued, ["web"]);
    const message = await assignments.next("web");
    assert.equal(message?.kind === "withdrawal" && message.lost?.deploymentId, "sha256:1");
  });

  test("does not wait for a content that does not exist", async () => {
    const read = () => Promise.reject(new AppError(hubErrors.CONTENT_MISSING, "no Secret"));
    const { assignments } = setUp({ read });

    assert.deepEqual(await assignments.next("web"), { kind: "withdrawal", deployment });
  });
});

describe("a deployment that somebody other than the hub wrote", () => {
  const forged: BundleDeployment = { metadata: deployment, spec: deleted.spec };
  const isTrusted = () => false;
  const mustNotBeRead = () => Promise.reject(new Error("must not be read"));

  test("is not sent with its content, until the hub has signed it", async () => {
    let isSigned = false;
    const { assignments } = setUp({ desired: forged, isTrusted: () => isSigned });

    assert.equal(await assignments.next("web"), undefined);
    isSigned = true;
    assert.deepEqual(await assignments.next("web"), {
      kind: "deployment",
      ...{ deployment, deploymentId: "sha256:1", paused: false, content },
    });
  });

  test("is paused and resumed where the agent has its content", async () => {
    const desired = { ...forged, spec: { ...forged.spec, paused: true } };
    const read = mustNotBeRead;
    const { assignments } = setUp({ stored: [has], desired, isTrusted, read });

    assert.deepEqual(await assignments.next("web"), {
      ...{ kind: "deployment", deployment, deploymentId: "sha256:1", paused: true },
    });
  });

  test("is withdrawn without the content that it names", async () => {
    const { assignments } = setUp({ isTrusted, isSigned: () => false, read: mustNotBeRead });

    assert.deepEqual(await assignments.next("web"), { kind: "withdrawal", deployment });
  });
});

test("a deployment whose Bundle is gone is withdrawn with the content that the hub wrote into it", async () => {
  const { assignments } = setUp({ isTrusted: () => false });

  assert.deepEqual(await assignments.next("web"), {
    ...{ kind: "withdrawal", deployment, lost: { deploymentId: "sha256:1", content } },
  });
});
