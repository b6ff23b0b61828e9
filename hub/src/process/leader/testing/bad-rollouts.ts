/** A leader with one thing that is wrong, and who says so: for tables of bad input. */
import assert from "node:assert/strict";
import {
  bundleDeployments,
  bundles,
  type HelmOp,
  helmOps,
  type RolloutStage,
  type RolloutStrategy,
  type Schedule,
  type StageGate,
  type StageWindow,
  schedules,
} from "@flotilla/shared/api";
import { bundleNameLabel } from "@flotilla/shared/api/names";
import { findCondition } from "@flotilla/shared/conditions";
import { describe, onTestFinished, test } from "vitest";
import { aHelmOp, workspace } from "../../../testing/index.ts";
import { createStagedFleet, type StagedClusters, type StagedFleet } from "./staged-fleet.ts";

/** Who says what is wrong: the message of Accepted, of Ready for a Schedule, and of the status of a BundleRollout. */
type Speaker = "HelmOp" | "Bundle" | "BundleRollout" | "Schedule";

interface Given {
  readonly strategy: RolloutStrategy;
  readonly spec?: Partial<HelmOp["spec"]>;
  readonly clusters?: StagedClusters;
  /** Objects beside it. */
  readonly schedules?: readonly Schedule[];
  readonly apps?: readonly HelmOp[];
  readonly offline?: readonly string[];
}

type Row = readonly [what: string, given: Given, speaker: Speaker, says: string];

export const canary = { clusterSelector: { matchLabels: { canary: "true" } } };
export const wrongSelector = { matchLabels: { "a b": "c" } };
export const rest: RolloutStage = { name: "rest" };
const fleetOfThree: StagedClusters = { ams: { canary: "true" }, ber: {}, cgn: {} };
/** Where nothing else is said, windows are looked at by night. */
const now = "2026-03-01T22:20:00Z";

export function stages(...list: readonly RolloutStage[]): Given {
  return { strategy: { stages: [...list] } };
}

export function windows(...list: readonly StageWindow[]): Given {
  return stages({ name: "all", windows: [...list] });
}

export function gate(fields: Omit<StageGate, "name">, when: "before" | "after" = "before"): Given {
  return stages({ name: "canary", ...canary, [when]: [{ name: "gate", ...fields }] }, rest);
}

export function app(name: string, rolloutStrategy: RolloutStrategy = {}): HelmOp {
  const targets = [{ clusterSelector: {} }];
  return aHelmOp({ targets, rolloutStrategy }, { name, uid: `uid-${name}` });
}

export function waitsFor(name: string): RolloutStage {
  return { name: "all", before: [{ name: "first", rollout: { kind: "HelmOp", name } }] };
}

export const inField = (field: string, problem: string) =>
  `spec.rolloutStrategy.${field} ${problem}`;

/** Each row: its object names the problem, and another app of the namespace is rolled out. */
export function testRows(rows: Readonly<Record<string, readonly Row[]>>): void {
  for (const [what, cases] of Object.entries(rows))
    describe(`${what}:`, () => {
      test.each(cases)("%s", async (_, given, speaker, says) => {
        const fleet = await begin(given);

        assert.equal(saidBy(fleet, speaker), says);
        assert.equal(othersOf(fleet), 3, "another app is not deployed everywhere");
      });
    });
}

export async function begin(given: Given): Promise<StagedFleet> {
  const fleet = await createStagedFleet(given.strategy, given.clusters ?? fleetOfThree, {
    spec: given.spec ?? {},
    offline: given.offline ?? [],
    begin({ clock, rest }) {
      clock.setWallTime(Date.parse(now));
      for (const schedule of given.schedules ?? []) rest.put(schedules, schedule);
      for (const each of [app("other"), ...(given.apps ?? [])]) rest.put(helmOps, each);
    },
  });
  onTestFinished(() => fleet.stop());
  await fleet.pass();
  return fleet;
}

export function saidBy(fleet: StagedFleet, speaker: Speaker): string | undefined {
  const { rest } = fleet.leader;
  const web = { namespace: workspace, name: "web" };
  switch (speaker) {
    case "HelmOp":
      return findCondition(rest.peek(helmOps, web)?.status?.conditions, "Accepted")?.message;
    case "Bundle":
      return findCondition(rest.peek(bundles, web)?.status?.conditions, "Accepted")?.message;
    case "Schedule":
      return findCondition(rest.all(schedules)[0]?.status?.conditions, "Ready")?.message;
    case "BundleRollout":
      return fleet.rollouts().find(({ spec }) => spec.app.name === "web")?.status?.message;
  }
}

/** The clusters that have the other app. */
function othersOf({ leader }: StagedFleet): number {
  return leader.rest
    .all(bundleDeployments)
    .filter(
      ({ metadata, spec }) =>
        metadata.labels?.[bundleNameLabel] === "other" && spec.deploymentID !== "",
    ).length;
}
