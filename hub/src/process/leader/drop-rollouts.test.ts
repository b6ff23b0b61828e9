/**
 * Events of staged rollouts (docs/adr/0035): in random histories with leaders that end at any moment, each transition that the API
 * server has stored is delivered, to the app and to its Bundle, and nothing is delivered that was not stored.
 */
import assert from "node:assert/strict";
import type { RolloutStrategy } from "@flotilla/shared/api";
import { type BundleRollout, bundleRollouts } from "@flotilla/shared/api/rollout";
import { alerts, providers } from "@flotilla/shared/flux";
import { delay } from "@flotilla/shared/time";
import fc from "fast-check";
import { test } from "vitest";
import type { FluxEvent } from "../../events/notification/event.ts";
import { rolloutReasons } from "../../events/notification/rollout-gate-events.ts";
import type { SendEvent } from "../../events/notification/sender.ts";
import { workspace } from "../../testing/index.ts";
import { createStagedFleet, type StagedFleet } from "./testing/index.ts";

const strategies: readonly RolloutStrategy[] = [
  {
    stages: [
      {
        name: "canary",
        clusterSelector: { matchLabels: { canary: "true" } },
        after: [{ name: "soak", soak: { for: "1m" } }],
      },
      { name: "rest", maxUnavailable: 2, before: [{ name: "board", approval: {}, timeout: "2m" }] },
    ],
  },
  {
    stages: [
      { name: "all", maxUnavailable: 2, before: [{ name: "board", approval: {}, timeout: "2m" }] },
    ],
    onFailure: "Rollback",
  },
];

const labels = { ams: { canary: "true" }, ber: {}, cgn: {} };

const step = fc.oneof(
  { weight: 6, arbitrary: fc.constant({ kind: "ready" } as const) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("publish" as const),
      version: fc.constantFrom("1.2.4", "1.2.5", "1.2.3"),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("decide" as const),
      result: fc.constantFrom("Passed" as const, "Passed" as const, "Failed" as const),
    }),
  },
  { weight: 2, arbitrary: fc.constant({ kind: "fails" } as const) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("command" as const),
      state: fc.constantFrom(
        "Halted" as const,
        "Running" as const,
        "RolledBack" as const,
        "Cancelled" as const,
      ),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: "resume" } as const) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant("relabel" as const), isCanary: fc.boolean() }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("wait" as const),
      ms: fc.constantFrom(62_000, 125_000),
    }),
  },
);

type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

/** How long after a change the leader ends. */
const crash = fc.constantFrom(undefined, 0, 100, 200, 500, 1_000);

/** Events are stored slowly, so that leaders end meanwhile. */
const storingMs = 250;
const outboxPrefix = "flotilla-notifications-";

async function apply(fleet: StagedFleet, each: Step, index: number): Promise<void> {
  switch (each.kind) {
    case "ready":
      return fleet.ready();
    case "publish":
      return await fleet.publish(each.version);
    case "decide": {
      const waits = fleet
        .gates()
        .some(({ spec, status }) => spec.gate === "board" && status?.decision === undefined);
      return waits ? fleet.decide("board", each.result) : undefined;
    }
    case "fails":
      return fleet.deployment("ams") === undefined ? undefined : fleet.fails("ams");
    case "command":
      return fleet.command({ state: each.state });
    case "relabel":
      return fleet.relabel("ams", each.isCanary ? labels.ams : {});
    case "resume":
      return fleet.command({ state: "Running", resume: `${index}` });
    case "wait":
      return await fleet.pass(each.ms);
  }
}

/** What an observer of the API server sees change, in words of its own: `REASON rollout stage-or-gate`. */
function createTransitions() {
  const seen = new Map<string, BundleRollout["status"]>();
  const found: string[] = [];
  const phases: Readonly<Record<string, string>> = {
    Halted: "RolloutHalted",
    RollingBack: "RollbackStarted",
    RolledBack: "RolledBack",
    Completed: "RolloutCompleted",
    Superseded: "RolloutSuperseded",
    Cancelled: "RolloutCancelled",
  };

  function saw({ metadata: { uid = "", name }, status: after }: BundleRollout): void {
    const before = seen.get(uid);
    if (after === undefined || before === after) return;
    seen.set(uid, after);
    const add = (reason: string, what = "") => found.push(`${reason} ${name} ${what}`.trim());
    if (before === undefined && after.phase === "Completed") return;
    if (before === undefined) add("RolloutStarted");
    for (const stage of after.stages ?? []) {
      const earlier = before?.stages?.find((each) => each.name === stage.name);
      const isIdle = (phase = "Pending") => phase === "Pending" || phase === "Skipped";
      if (isIdle(earlier?.phase) && !isIdle(stage.phase)) add("StageStarted", stage.name);
      for (const { gate, result } of stage.gates ?? [])
        if (earlier?.gates?.find((each) => each.gate === gate)?.result !== result)
          add(`Gate${result}`, gate);
      if (stage.phase === "Completed" && earlier?.phase !== "Completed")
        add("StageCompleted", stage.name);
    }
    if (after.reason === "StageEmpty" && before?.reason !== "StageEmpty")
      add("StageEmpty", after.stage);
    if (before?.phase === after.phase) return;
    const isBack = before?.phase === "RollingBack" && after.phase === "Superseded";
    const reason = isBack ? "RolledBack" : phases[after.phase];
    if (reason !== undefined) add(reason);
  }

  return { saw, found };
}

function inWords({ reason, metadata = {} }: FluxEvent): string {
  const what = reason.startsWith("Gate")
    ? metadata["gate"]
    : reason.startsWith("Stage")
      ? metadata["stage"]
      : "";
  return `${reason} ${metadata["rollout"] ?? ""} ${what ?? ""}`.trim();
}

function count(words: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return counts;
}

async function runHistory(
  strategy: RolloutStrategy,
  steps: readonly (readonly [Step, number | undefined])[],
) {
  const delivered: FluxEvent[] = [];
  const send: SendEvent = (event) => {
    if (rolloutReasons.has(event.reason)) delivered.push(event);
    return Promise.resolve({ kind: "delivered" });
  };
  const fleet = await createStagedFleet(strategy, labels, { send });
  const { rest } = fleet.leader;
  const metadata = { namespace: workspace, name: "chat" };
  rest.put(providers, { metadata, spec: { type: "generic", address: "https://chat.example.com" } });
  const eventSources = (["HelmOp", "Bundle"] as const).map((kind) => ({ kind, name: "*" }));
  const spec = { providerRef: { name: "chat" }, eventSources, eventSeverity: "info" } as const;
  rest.put(alerts, { metadata, spec });
  const transitions = createTransitions();
  // What is stored is there when the next write begins.
  const look = () => {
    for (const rollout of rest.all(bundleRollouts)) transitions.saw(rollout);
  };
  // What was stored before there was an Alert.
  look();
  transitions.found.length = 0;
  let ending = new AbortController();
  rest.beforeWrite = async (write) => {
    look();
    if (!write.includes(outboxPrefix)) return;
    // The request of a process that ends meanwhile does not arrive.
    const { signal } = ending;
    await delay(fleet.leader.clock, storingMs, signal);
    signal.throwIfAborted();
  };
  try {
    await fleet.pass(500);
    for (const [index, [each, endsAfterMs]] of steps.entries()) {
      await apply(fleet, each, index);
      if (endsAfterMs !== undefined) {
        await fleet.leader.pass(endsAfterMs);
        ending.abort();
        ending = new AbortController();
        await fleet.leader.drop();
      }
      await fleet.pass();
    }
    // Longer than the longest pause before a delivery is repeated.
    await fleet.pass(30_000);
    look();
  } finally {
    ending.abort();
    await fleet.stop();
  }
  const of = (kind: string) =>
    delivered.filter(({ involvedObject }) => involvedObject.kind === kind).map(inWords);
  return { stored: transitions.found, ofApp: of("HelmOp"), ofBundle: of("Bundle") };
}

test("leaders that end at any moment deliver each transition that is stored, and no other", async () => {
  const histories = fc.array(fc.tuple(step, crash), { minLength: 4, maxLength: 12 });
  const seen = new Set<string>();
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...strategies), histories, async (strategy, steps) => {
      const { stored, ofApp, ofBundle } = await runHistory(strategy, steps);
      for (const word of stored) seen.add(word.split(" ")[0] ?? "");
      const leaders = steps.filter(([, endsAfterMs]) => endsAfterMs !== undefined).length;
      const expected = count(stored);
      for (const delivered of [count(ofApp), count(ofBundle)]) {
        assert.deepEqual([...delivered.keys()].toSorted(), [...expected.keys()].toSorted());
        for (const [word, times] of delivered) {
          const once = expected.get(word) ?? 0;
          assert.ok(times >= once && times <= once + leaders, `${times} times ${word}`);
        }
      }
    }),
    { numRuns: 60, endOnFailure: true },
  );
  assert.deepEqual(
    [...seen].toSorted(),
    [...rolloutReasons].toSorted(),
    "the histories have them all",
  );
});

test("one leader delivers each transition once", async () => {
  const histories = fc.array(fc.tuple(step, fc.constant(undefined)), {
    minLength: 4,
    maxLength: 12,
  });
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...strategies), histories, async (strategy, steps) => {
      const { stored, ofApp, ofBundle } = await runHistory(strategy, steps);

      assert.deepEqual(ofApp.toSorted(), stored.toSorted());
      assert.deepEqual(ofBundle.toSorted(), stored.toSorted());
    }),
    { numRuns: 6, endOnFailure: true },
  );
});
