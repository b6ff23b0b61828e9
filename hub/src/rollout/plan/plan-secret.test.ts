import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { gzipSync } from "node:zlib";
import type { BundleRollout, GateRecord } from "@flotilla/shared/api/rollout";
import type { FleetPlan, FleetPlanGroup } from "@flotilla/shared/plan";
import { describe, test } from "vitest";
import { isOutdatedPlan } from "./collect-plans.ts";
import { planIn, planSecret, planSecretName } from "./plan-secret.ts";
import { aDigest } from "./testing/index.ts";

const where = { namespace: "flotilla-system", rollout: "fleet-default/web-7" };
const digest = aDigest("plan");

function aGroup(text: string): FleetPlanGroup {
  return {
    result: "changes",
    counts: { create: 0, update: 1, replace: 0, delete: 0 },
    clusters: { count: 1, first: ["fleet-default/ams"] },
    diffs: 1,
    remarks: [],
    hooks: 0,
    failures: 0,
    text,
  };
}

function aPlan(groups: FleetPlanGroup[]): FleetPlan {
  return {
    total: 1,
    groups,
    others: { groups: 0, clusters: 0 },
    unchanged: { count: 0, first: [] },
    unknown: [],
    notAsked: 0,
  };
}

describe("the Secret of a plan", () => {
  test("has the plan with its texts", () => {
    const plan = aPlan([aGroup("-a\n+b\n")]);

    const secret = planSecret({ digest }, plan, where);

    assert.deepEqual(planIn(secret), plan);
    assert.equal(secret.metadata.name, planSecretName(where.rollout, digest));
    assert.equal(secret.type, "flotilla.dev/plan");
  });

  test("is another one for each rollout", () => {
    assert.notEqual(planSecretName("a/web-7", digest), planSecretName("b/web-7", digest));
  });

  test("leaves out the last texts until it fits", () => {
    // It cannot be compressed.
    const groups = Array.from({ length: 20 }, () => aGroup(randomBytes(45_000).toString("base64")));

    const secret = planSecret({ digest }, aPlan(groups), where);

    const kept = planIn(secret)?.groups ?? [];
    assert.equal(kept.length, 20);
    assert.ok(kept[0]?.text !== undefined && kept.at(-1)?.text === undefined);
    assert.ok(JSON.stringify(secret).length < 1024 * 1024);
  });

  test("with other data is not read", () => {
    const data = (bytes: Buffer) => ({
      metadata: { name: "plan" },
      data: { "plan.json.gz": bytes.toString("base64") },
    });

    assert.equal(planIn({ metadata: { name: "plan" } }), undefined);
    assert.equal(planIn(data(Buffer.from("text"))), undefined);
    assert.equal(planIn(data(gzipSync("{}"))), undefined);
    assert.equal(planIn(data(gzipSync(Buffer.alloc(17 * 1024 * 1024, " ")))), undefined);
  });
});

describe("the Secret of a plan is kept", () => {
  const hour = 3_600_000;
  const created = Date.parse("2026-12-01T00:00:00Z");
  const secret = {
    metadata: {
      ...planSecret({ digest }, aPlan([]), where).metadata,
      creationTimestamp: "2026-12-01T00:00:00Z",
    },
  };
  const waiting: GateRecord = {
    name: "board",
    when: "Before",
    type: "Approval",
    result: "Waiting",
    gate: "web-7-prod-board",
    digest,
    startedAt: "2026-12-01T00:00:00Z",
  };
  const decided: GateRecord = {
    ...waiting,
    result: "Passed",
    decision: { result: "Passed", by: "alice", at: "2026-12-03T00:00:00Z", digest },
  };

  function rolloutWith(...gates: GateRecord[]): BundleRollout {
    const counts = { total: 1, done: 0, inFlight: 0, failed: 0, pending: 1, offline: 0 };
    const others = { paused: 0, skipped: 0, offSchedule: 0, brokenBefore: 0 };
    return {
      metadata: { name: "web-7" },
      spec: {
        bundle: { name: "web", uid: "1" },
        app: { kind: "HelmOp", name: "web" },
        number: 7,
        revision: digest,
        targets: [],
        signature: "",
      },
      status: {
        phase: "Waiting",
        stages: [{ name: "prod", phase: "Gated", ...counts, ...others, gates }],
      },
    };
  }

  const cases: readonly (readonly [string, BundleRollout | undefined, number, boolean])[] = [
    ["in its first day, whatever there is of its rollout", undefined, 23 * hour, false],
    ["while its gate waits", rolloutWith(waiting), 30 * 24 * hour, false],
    ["in the day after the decision", rolloutWith(decided), 71 * hour, false],
    ["not longer than that", rolloutWith(decided), 72 * hour, true],
    ["not without its rollout", undefined, 24 * hour, true],
    ["not when its gate has no record any more", rolloutWith(), 24 * hour, true],
  ];
  for (const [name, rollout, ms, isOutdated] of cases)
    test(name, () => assert.equal(isOutdatedPlan(secret, rollout, created + ms), isOutdated));
});
