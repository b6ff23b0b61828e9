import type { RolloutStage, RolloutStrategy, StageGate } from "@flotilla/shared/api";
import { expect, test } from "vitest";
import type { ReleaseSpec } from "../frontend/planned-release.ts";
import { stagesProblem } from "./stages-problem.ts";

const rest: RolloutStage = { name: "rest" };

function withStages(...stages: readonly RolloutStage[]): RolloutStrategy {
  return { stages };
}

/** A canary with this gate, and the rest. */
function withGate(gate: Partial<StageGate>, when: "before" | "after" = "after"): RolloutStrategy {
  const stage = { name: "canary", clusterName: "ams", [when]: [{ name: "gate", ...gate }] };
  return withStages(stage, rest);
}

test.each<readonly [string, RolloutStrategy | null | undefined]>([
  ["none", undefined],
  ["null", null],
  ["without stages", { partitions: [{ name: "a", clusterSelector: {} }] }],
  ["a canary and the rest", withStages({ name: "canary", clusterName: "ams" }, rest)],
  ["a wave and the rest", withStages({ name: "wave", upTo: "10%", spreadBy: "region" }, rest)],
  ["a soak after", withGate({ soak: { for: "30m" } })],
  ["an approval before", withGate({ approval: {} }, "before")],
  ["an approval that says it is of no plan", withGate({ approval: { plan: false } }, "before")],
  ["an approval of a plan", withGate({ approval: { plan: true, validFor: "48h" } }, "before")],
  ["an external gate", withGate({ external: { config: { suite: "checkout" } } })],
  ["the rollout of another app", withGate({ rollout: { kind: "HelmOp", name: "base" } }, "before")],
  ["only a limit of failures", { maxFailures: "2%" }],
  ["a RolloutPolicy, which is judged where it is resolved", { policy: "rings" }],
  ["the window of a Schedule", withStages({ ...rest, windows: [{ schedule: "nights" }] })],
  [
    "a freeze",
    withStages({
      ...rest,
      windows: [{ cron: "0 0 0 20 12 ?", duration: "336h", location: "Europe/Berlin", deny: true }],
    }),
  ],
  [
    "nights, but not those before a Monday",
    withStages({
      ...rest,
      windows: [
        { cron: "0 0 22 * * ?", duration: "4h" },
        { cron: "0 0 12 ? * SUN", duration: "24h", deny: true },
      ],
    }),
  ],
  [
    "a Schedule whose windows are denied at a time of the day",
    withStages({
      ...rest,
      windows: [{ schedule: "nights" }, { cron: "0 0 6 * * ?", duration: "14h", deny: true }],
    }),
  ],
  [
    "a freeze of the past, and one of the future",
    withStages({
      ...rest,
      windows: [
        { cron: "0 0 22 * * ?", duration: "4h" },
        { cron: "0 0 0 1 1 ? 2024", duration: "8760h", deny: true },
        { cron: "0 0 0 1 1 ? 2028", duration: "8760h", deny: true },
      ],
    }),
  ],
  ["a gate for a window", withGate({ window: { schedule: "nights" } }, "before")],
])("a strategy can be used: %s", (_, rolloutStrategy) => {
  expect(stagesProblem({ rolloutStrategy })).toBeUndefined();
});

test.each<readonly [string, RolloutStrategy, string]>([
  [
    "stages together with partitions",
    { ...withStages(rest), partitions: [{ name: "a" }] },
    "partitions is set together with stages, maxFailures or onFailure, and both say an order or a pace: remove one of them",
  ],
  [
    "a RolloutPolicy and more",
    { ...withStages(rest), policy: "rings" },
    "policy is rings, and stages is set beside it, which would be ignored: remove one of them",
  ],
  [
    "a window with a wrong expression",
    withStages({ ...rest, windows: [{ schedule: "a" }, { cron: "0 0 25 * * ?", duration: "4h" }] }),
    "stages[0].windows[1] cannot be used: the hour 25 is not between 0 and 23; correct it",
  ],
  [
    "a window that overlaps itself",
    withStages({ ...rest, windows: [{ cron: "0 0 * * * ?", duration: "2h" }] }),
    "stages[0].windows[0] cannot be used: duration is too long and overlaps with the next execution time: it is 2h, and two starts are only 1h apart; correct it",
  ],
  [
    "a window that is never open",
    withStages({ ...rest, windows: [{ cron: "0 0 0 30 2 ?", duration: "1h" }] }),
    'stages[0].windows[0] cannot be used: "0 0 0 30 2 ?" has no start, so that the window is never open; correct it',
  ],
  [
    "a window that is open for no time",
    withStages({ ...rest, windows: [{ cron: "0 0 22 * * ?", duration: "0s" }] }),
    'stages[0].windows[0] cannot be used: the duration "0s" is not longer than zero, so the window would never be open; correct it',
  ],
  [
    "a window without a duration",
    withStages({ ...rest, windows: [{ cron: "0 0 22 * * ?" }] }),
    "stages[0].windows[0] cannot be used: the duration is missing: write for example 4h; correct it",
  ],
  [
    "a window with a wrong zone",
    withStages({
      ...rest,
      windows: [{ cron: "0 0 22 * * ?", duration: "1h", location: "Invalid/Location" }],
    }),
    'stages[0].windows[0] cannot be used: the location "Invalid/Location" is not the name of a time zone, such as Europe/Berlin or UTC; correct it',
  ],
  [
    "a window that is denied whenever it is open",
    withStages({
      ...rest,
      windows: [
        { cron: "0 0 22 ? * FRI", duration: "4h", location: "Europe/Berlin" },
        { cron: "0 0 20 * * ?", duration: "8h", deny: true },
      ],
    }),
    "stages[0].windows are never open: whenever one of them permits changes, one with deny is open, too; change one of them",
  ],
  [
    "windows that deny day and night",
    withStages({
      ...rest,
      windows: [
        { cron: "0 0 8 * * ?", duration: "12h", deny: true },
        { cron: "0 0 20 * * ?", duration: "12h", deny: true },
      ],
    }),
    "stages[0].windows are never open: at any time one of them denies changes; shorten or remove one",
  ],
  [
    "a Schedule that permits and denies",
    withStages({ ...rest, windows: [{ schedule: "a" }, { schedule: "a", deny: true }] }),
    "stages[0].windows are never open: whenever one of them permits changes, one with deny is open, too; change one of them",
  ],
  [
    "a window without anything",
    withStages({ ...rest, windows: [{ deny: true }] }),
    "stages[0].windows[0] has neither schedule nor cron: set one of them",
  ],
  [
    "a window with both",
    withStages({ ...rest, windows: [{ schedule: "a", cron: "0 0 22 * * ?", duration: "1h" }] }),
    "stages[0].windows[0] has both schedule and cron: set one of them",
  ],
  [
    "the window of a Schedule with a duration",
    withStages({ ...rest, windows: [{ schedule: "a", duration: "1h" }] }),
    "stages[0].windows[0].duration is set beside schedule, and the Schedule has its own: remove it",
  ],
  [
    "nine windows",
    withStages({ ...rest, windows: Array.from({ length: 9 }, () => ({ schedule: "a" })) }),
    "stages[0].windows has 9 entries, more than the limit of 8: join some in one Schedule",
  ],
  [
    "a gate for a window without a name",
    withGate({ window: { schedule: "" } }),
    "stages[0].after[0].window.schedule is empty: name a Schedule of the namespace",
  ],
  [
    "a deadline that nothing is measured by",
    { maxUnavailable: 1, progressDeadline: "5m" },
    "progressDeadline is set without stages, maxFailures and onFailure, and would be ignored: set one of these, or remove it",
  ],
  [
    "two stages of one name",
    withStages({ name: "a", clusterName: "x" }, { name: "a" }),
    "stages[1].name is a, the name of an earlier stage: give it another name",
  ],
  [
    "seventeen stages",
    withStages(
      ...Array.from({ length: 17 }, (_, index) => ({ name: `s${index}`, clusterName: "x" })),
    ),
    "stages has 17 entries, more than the limit of 16: join some",
  ],
  [
    "a stage before others that matches everything",
    withStages({ name: "all" }, rest),
    "stages[0] takes every cluster that is left, so that the stages after it get none: give it criteria or upTo, or make it the last one",
  ],
  [
    "the same with an empty selector",
    withStages({ name: "all", clusterSelector: {} }, rest),
    "stages[0] takes every cluster that is left, so that the stages after it get none: give it criteria or upTo, or make it the last one",
  ],
  [
    "a percentage that is none",
    { ...withStages(rest), maxUnavailable: "ten" },
    'maxUnavailable is "ten": set a whole number, or a share such as 10%',
  ],
  [
    "failures that are no number",
    { maxFailures: "x%" },
    'maxFailures is "x%": set a whole number, or a share such as 10%',
  ],
  [
    "maxUnavailable 0",
    withStages({ name: "a", maxUnavailable: 0 }),
    "stages[0].maxUnavailable is 0, with which no cluster could be promoted: set 1 or more, or pause the app",
  ],
  [
    "an invalid selector",
    withStages({ name: "a", clusterSelector: { matchLabels: { "a b": "c" } } }),
    'stages[0].clusterSelector cannot be used: "a b" cannot be the name of a label',
  ],
  [
    "a name that is none",
    withStages({ name: "A b" }),
    'stages[0].name is "A b": use up to 40 lower case letters, digits and -',
  ],
  [
    "a duration that is none",
    { ...withStages(rest), progressDeadline: "soon" },
    'progressDeadline is "soon": set a duration such as 15m or 1h30m, of at most a year',
  ],
  [
    "spreadBy without upTo",
    withStages({ name: "a", spreadBy: "region" }),
    "stages[0].spreadBy is set without upTo, and orders nothing: set upTo as well, or remove it",
  ],
  [
    "a gate without a type",
    withGate({}),
    'stages[0].after[0].name is "gate", and the gate has no type: set exactly one of soak, test, window, approval, external, lifecycle, rollout',
  ],
  [
    "a gate with two",
    withGate({ approval: {}, external: {} }),
    'stages[0].after[0].name is "gate", and the gate has approval and external: set exactly one of soak, test, window, approval, external, lifecycle, rollout',
  ],
  [
    "approval of a plan after the stage",
    withGate({ approval: { plan: true } }),
    "stages[0].after[0].approval.plan is after the stage, when its clusters have the revision already: move it to before",
  ],
  [
    "verify without a plan",
    withGate({ approval: { verify: true } }, "before"),
    "stages[0].before[0].approval.verify compares what Helm would change with the plan that was approved, and nothing is planned: set approval.plan, or remove it",
  ],
  [
    "validFor without a plan",
    withGate({ approval: { validFor: "1h" } }, "before"),
    "stages[0].before[0].approval.validFor is the life of an approved plan, and nothing is planned: set approval.plan, or remove it",
  ],
  [
    "validFor that is no duration",
    withGate({ approval: { plan: true, validFor: "0.5y" } }, "before"),
    'stages[0].before[0].approval.validFor is "0.5y": set a duration such as 15m or 1h30m, of at most a year',
  ],
  [
    "a lifecycle",
    withGate({ lifecycle: { name: "check" } }),
    "stages[0].after[0].lifecycle is not supported in this version of Flotilla: use a gate `external`, which any controller can decide",
  ],
  [
    "config over 4 KiB",
    withGate({ external: { config: { a: "x".repeat(4_096) } } }),
    "stages[0].after[0].external.config has 4097 bytes, more than the limit of 4096: put the rest into an object that it names",
  ],
  [
    "test where no tests run",
    withGate({ test: {} }),
    "stages[0].after[0].test waits for tests, and no tests run: set spec.test.enable, or remove the gate",
  ],
  [
    "a soak before the stage",
    withGate({ soak: { for: "1h" } }, "before"),
    "stages[0].before[0].soak is before the stage, when nothing of it is promoted yet: move it to after",
  ],
  [
    "five gates",
    withStages({
      name: "a",
      after: Array.from({ length: 5 }, (_, index) => ({ name: `g${index}`, external: {} })),
    }),
    "stages[0].after has 5 gates, more than the limit of 4: join some",
  ],
  [
    "two gates of one name",
    withStages({
      name: "a",
      before: [{ name: "g", approval: {} }],
      after: [{ name: "g", external: {} }],
    }),
    "stages[0].after[0].name is g, the name of an earlier gate of the stage: give it another name",
  ],
])("a strategy is refused: %s", (_, rolloutStrategy, problem) => {
  expect(stagesProblem({ rolloutStrategy })).toBe(`spec.rolloutStrategy.${problem}`);
});

test("a gate for tests can be used where tests run", () => {
  const spec: ReleaseSpec = { test: { enable: true }, rolloutStrategy: withGate({ test: {} }) };

  expect(stagesProblem(spec)).toBeUndefined();
});

test("what a cluster gets must depend on one target alone", () => {
  const spec: ReleaseSpec = {
    rolloutStrategy: withStages(rest),
    targetCustomizationMode: "AllMatches",
  };

  expect(stagesProblem(spec)).toMatch(/^spec\.rolloutStrategy\.stages cannot be used with target/);
});
