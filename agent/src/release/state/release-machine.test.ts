/** Properties of the deciding functions, with a model of a cluster in which each action succeeds or fails at random. */
import assert from "node:assert/strict";
import { seed } from "@flotilla/shared/testing";
import fc from "fast-check";
import { test } from "vitest";
import type { ReleaseRecord } from "../../helm/cli/release-record.ts";
import type { InventoryRevision } from "../../state/inventory/inventory-secret.ts";
import type { Action, RollbackTarget } from "./action.ts";
import {
  type AttemptedAction,
  type CountedFailures,
  type FailurePolicy,
  failuresOf,
  isExhausted,
} from "./failure-policy.ts";
import type { TestResult } from "./release-state.ts";
import { type Given, nextAction, nowMs, record } from "./testing/index.ts";

/** As many as the agent performs in one pass. */
const maxActions = 6;

interface World {
  records: readonly ReleaseRecord[];
  tests: Map<number, TestResult>;
  failed: CountedFailures | undefined;
  deadline: { readonly revision: number; readonly isRollback: boolean } | undefined;
  drift?: { readonly corrects: boolean } | undefined;
}

interface Setting {
  readonly isTested: boolean;
  readonly waits: boolean;
  readonly takesOwnership: boolean;
  readonly policies: Readonly<Record<AttemptedAction, FailurePolicy>>;
}

const policy = fc.oneof(
  fc.constant<FailurePolicy>({ kind: "retry" }),
  fc.constant<FailurePolicy>({ kind: "retry", intervalMs: 5 }),
  fc.record({
    kind: fc.constant("remediate" as const),
    by: fc.constantFrom("rollback" as const, "uninstall" as const),
    retries: fc.integer({ min: 0, max: 3 }),
    remediatesLast: fc.boolean(),
    ignoresTests: fc.boolean(),
  }),
);
const setting = fc.record({
  isTested: fc.boolean(),
  waits: fc.boolean(),
  takesOwnership: fc.boolean(),
  policies: fc.record({
    install: policy.map((each) =>
      each.kind === "remediate" ? { ...each, by: "uninstall" as const } : each,
    ),
    upgrade: policy,
  }),
});
const drift = fc.option(fc.record({ corrects: fc.boolean() }), { nil: undefined });
const firstRecords = fc
  .array(
    fc.record({
      status: fc.constantFrom("deployed", "superseded", "failed", "pending-upgrade", "uninstalled"),
      isOwn: fc.boolean(),
      digest: fc.constantFrom("new", "old"),
    }),
    { maxLength: 3 },
  )
  .chain((found) =>
    fc.boolean().map((isForeign) =>
      found.map((fields, index) => {
        const own = record({ ...fields, revision: index + 1 });
        const { owner: _, ...manual } = own;
        return isForeign ? { ...manual, isOwn: false } : own;
      }),
    ),
  );

function latestOf({ records }: World): ReleaseRecord | undefined {
  return records.at(-1);
}

function targetIn(world: World): RollbackTarget {
  const found = world.records
    .slice(0, -1)
    .findLast(
      ({ revision, status, isOwn }) =>
        isOwn &&
        (status === "deployed" || status === "superseded") &&
        world.tests.get(revision) !== "failed",
    );
  return found === undefined ? { kind: "missing" } : { kind: "found", record: found };
}

/** A revision that somebody else created, and that is the same as one of the agent's. */
function sameIn({ records }: World): InventoryRevision | undefined {
  const own = records.find(({ isOwn, digest }) => isOwn && digest === "new");
  return own && { revision: own.revision, content: "", digest: "new" };
}

function observationOf(world: World, { isTested, policies, takesOwnership }: Setting): Given {
  const latest = latestOf(world);
  return {
    latest,
    owned: latest === undefined ? [] : [latest],
    ...(isTested && { tests: "required" }),
    testsOf: ({ revision }) => world.tests.get(revision),
    deadline: world.deadline && { ...world.deadline, untilMs: nowMs + 1 },
    drift: world.drift,
    failed: world.failed,
    policies,
    rollbackTarget: targetIn(world),
    takesOwnership,
    sameRevision: sameIn(world),
    // The lock of somebody else that does not change is reported, and nothing follows.
    ...{ unchangedMs: 1_000_000, retryAtMs: undefined },
  };
}

/** Everything that an action can depend on. */
function keyOf(world: World): string {
  return JSON.stringify([
    ...[world.records, [...world.tests], world.failed, world.deadline, world.drift],
  ]);
}

function add(world: World, added: ReleaseRecord): void {
  const isDeployed = added.status === "deployed";
  world.records = [
    ...world.records.map((each) =>
      isDeployed && each.status === "deployed" ? { ...each, status: "superseded" } : each,
    ),
    added,
  ];
}

/** Performs an action as act.ts does. Returns whether the pass ends with it. */
function perform(world: World, action: Action, succeeds: boolean, setting: Setting): boolean {
  const attempted: AttemptedAction = latestOf(world) === undefined ? "install" : "upgrade";
  const fail = (by: AttemptedAction): boolean => {
    const { failed: before } = world;
    const countOf = (each: AttemptedAction) => failuresOf(before, each) + (each === by ? 1 : 0);
    world.failed = {
      ...{ action: by, count: (before?.count ?? 0) + 1 },
      counts: { install: countOf("install"), upgrade: countOf("upgrade") },
    };
    return setting.policies[by].kind === "retry";
  };
  switch (action.kind) {
    case "upgrade": {
      world.drift = undefined;
      add(world, record({ revision: action.revision, status: succeeds ? "deployed" : "failed" }));
      world.deadline =
        succeeds && setting.waits ? { revision: action.revision, isRollback: false } : undefined;
      return succeeds ? false : fail(attempted);
    }
    case "rollback": {
      const revision = action.record.revision + 1;
      const status = succeeds ? "deployed" : "failed";
      world.drift = undefined;
      add(world, { ...action.target, revision, status });
      return true;
    }
    case "uninstall":
      world.records = [];
      world.tests.clear();
      return action.why === "remediation";
    case "test": {
      world.tests.set(action.record.revision, succeeds ? "passed" : "failed");
      if (succeeds) return false;
      const by = world.failed?.action ?? "upgrade";
      const { policies } = setting;
      return fail(by) || (policies[by].kind === "remediate" && policies[by].ignoresTests);
    }
    case "await":
      world.deadline = undefined;
      if (succeeds) return false;
      world.records = world.records.map((each) =>
        each === action.record ? { ...each, status: "failed" } : each,
      );
      return fail("upgrade");
    case "claim":
      world.records = world.records.map((each) =>
        each === action.record ? { ...each, isOwn: true, digest: "new" } : each,
      );
      return false;
    case "correctDrift":
      // One that fails is tried again later.
      world.drift = succeeds ? undefined : { corrects: false };
      return false;
    case "unlock":
    case "adopt":
      world.records = world.records.map((each) =>
        each === action.record ? { ...each, status: "failed" } : each,
      );
      return false;
    case "none":
      world.failed = undefined;
      return true;
    default:
      return true;
  }
}

const firstWorld = fc
  .record({ records: firstRecords, drift })
  .map((first): World => ({ ...first, tests: new Map(), failed: undefined, deadline: undefined }));

test("a pass ends, and no action is performed twice for the same observation", () => {
  fc.assert(
    fc.property(firstWorld, setting, fc.array(fc.boolean()), (world, given, outcomes) => {
      for (let passes = 0; passes < 4; passes += 1) {
        const seen = new Set<string>();
        for (let actions = 0; ; actions += 1) {
          assert.ok(actions < maxActions, `${actions} actions`);
          const action = nextAction(observationOf(world, given));
          const key = keyOf(world);
          assert.ok(!seen.has(key), `${action.kind} again for ${key}`);
          seen.add(key);
          if (perform(world, action, outcomes.shift() ?? false, given)) break;
        }
      }
    }),
    { seed, numRuns: 2_000 },
  );
});

test("a release whose actions succeed in the end is as desired, unless no retries are left", () => {
  fc.assert(
    fc.property(firstWorld, setting, fc.array(fc.boolean()), (world, given, outcomes) => {
      for (let actions = 0; actions < 40; actions += 1) {
        const action = nextAction(observationOf(world, given));
        if (action.kind === "none") return;
        if (action.kind === "locked") {
          assert.ok(latestOf(world)?.status.startsWith("pending-"));
          return;
        }
        if (action.kind === "foreign") {
          assert.ok(!given.takesOwnership && latestOf(world)?.owner === undefined);
          return;
        }
        if (action.kind === "stop") {
          const { failed } = world;
          assert.ok(failed !== undefined);
          const isSpent = (["install", "upgrade"] as const).some((each) =>
            isExhausted(given.policies[each], failuresOf(failed, each)),
          );
          assert.ok(isSpent || targetIn(world).kind === "missing");
          return;
        }
        perform(world, action, outcomes.shift() ?? true, given);
      }
      assert.fail("it is not as desired after 40 actions");
    }),
    { seed, numRuns: 2_000 },
  );
});
