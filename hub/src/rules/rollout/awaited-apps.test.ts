import assert from "node:assert/strict";
import type { Bundle, RolloutStrategy, StageGate } from "@flotilla/shared/api";
import { createStore } from "@flotilla/shared/kube/cache";
import { keyOf } from "@flotilla/shared/kube/objects";
import { describe, test } from "vitest";
import { aBundle, workspace } from "../../testing/index.ts";
import { createAwaitedApps } from "./awaited-apps.ts";

/** A canary and prod, with these gates before prod. */
function strategy(...before: readonly StageGate[]): RolloutStrategy {
  return {
    stages: [
      { name: "canary", clusterName: "ams" },
      { name: "prod", before },
    ],
  };
}

function waitsFor(name: string, stage?: string): StageGate {
  const rollout = { kind: "HelmOp", name, ...(stage !== undefined && { stage }) } as const;
  return { name: `after-${name}`, rollout };
}

/** HelmOps by name, each with its strategy. */
function appsOf(strategies: Readonly<Record<string, RolloutStrategy>>) {
  const bundles = createStore<Bundle>();
  for (const [name, rolloutStrategy] of Object.entries(strategies)) {
    const labels = { "fleet.cattle.io/fleet-helm-name": name };
    bundles.set(aBundle({ rolloutStrategy }, { name, labels }));
  }
  const all = createAwaitedApps({
    bundles,
    strategies: { strategyOf: ({ spec }) => spec.rolloutStrategy ?? undefined },
  });
  return {
    problemOf: (name: string, stage = "") =>
      all.problemOf(workspace, { kind: "HelmOp", name, stage }),
    cycleOf(name: string) {
      const bundle = bundles.get(keyOf({ namespace: workspace, name }));
      assert.ok(bundle);
      return all.cycleOf(bundle);
    },
  };
}

describe("a gate that waits for an app", () => {
  // biome-ignore format: a table
  const rows: readonly (readonly [what: string, name: string, stage: string, problem: string | undefined])[] = [
    ["with stages has no problem", "base", "", undefined],
    ["and one of its stages has no problem", "base", "canary", undefined],
    ["that does not exist names it", "gone", "", "there is no HelmOp gone in namespace fleet-default that is deployed: create or correct it, or change the gate"],
    ["without stages names it", "plain", "", "the HelmOp plain has no stages, so nothing says when it is rolled out: give it stages, or remove the gate"],
    ["without that stage names both", "base", "prd", "the HelmOp base has no stage prd: correct rollout.stage of the gate"],
  ];
  for (const [what, name, stage, problem] of rows) {
    test(what, () => {
      assert.equal(appsOf({ base: strategy(), plain: {} }).problemOf(name, stage), problem);
    });
  }
});

describe("gates that wait for each other are named", () => {
  const field = "spec.rolloutStrategy.stages[1].before[0].rollout";
  const end = "gates that wait for each other never pass; remove one of them";

  test("where two apps do", () => {
    const apps = appsOf({ web: strategy(waitsFor("base")), base: strategy(waitsFor("web")) });

    assert.equal(
      apps.cycleOf("web"),
      `${field} waits for HelmOp base, which waits for HelmOp web: ${end}`,
    );
    assert.equal(
      apps.cycleOf("base"),
      `${field} waits for HelmOp web, which waits for HelmOp base: ${end}`,
    );
  });

  test("where three apps do", () => {
    const apps = appsOf({
      a: strategy(waitsFor("b", "prod")),
      b: strategy(waitsFor("c")),
      c: strategy(waitsFor("a")),
    });

    assert.equal(
      apps.cycleOf("a"),
      `${field} waits for HelmOp b, which waits for HelmOp c, which waits for HelmOp a: ${end}`,
    );
  });

  test("where an app waits for itself", () => {
    assert.equal(
      appsOf({ web: strategy(waitsFor("web")) }).cycleOf("web"),
      `${field} waits for HelmOp web, which it is a gate of: ${end}`,
    );
  });

  test("but not where one of them waits for a stage that comes before its gate", () => {
    const apps = appsOf({
      web: strategy(waitsFor("base")),
      base: strategy(waitsFor("web", "canary")),
    });

    assert.equal(apps.cycleOf("web"), undefined);
    assert.equal(apps.cycleOf("base"), undefined);
  });

  test("and not at an app that waits for one of them", () => {
    const apps = appsOf({
      web: strategy(waitsFor("base")),
      base: strategy(waitsFor("web")),
      shop: strategy(waitsFor("web")),
    });

    assert.equal(apps.cycleOf("shop"), undefined);
  });

  test("but not where an app waits for one that does not exist", () => {
    assert.equal(appsOf({ web: strategy(waitsFor("gone")) }).cycleOf("web"), undefined);
  });
});
