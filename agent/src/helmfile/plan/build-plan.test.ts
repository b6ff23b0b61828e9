import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { buildPlan, type PlanFacts, type PlannedUpgrade } from "./build-plan.ts";
import type { ListedRelease } from "./helmfile-output.ts";
import { planDigest, valuesDigest } from "./helmfile-plan.ts";

const listed = (name: string, change: Partial<ListedRelease> = {}): ListedRelease => ({
  name,
  namespace: "apps",
  enabled: true,
  installed: true,
  ...change,
});

const upgraded = (name: string, change: Partial<PlannedUpgrade> = {}): PlannedUpgrade => ({
  name,
  namespace: "apps",
  chart: { name: "app", version: "1.0.0", digest: `sha256:${"0".repeat(64)}` },
  values: "hmac-sha256:00",
  options: { timeout: "5m" },
  ...change,
});

const built = (
  name: string,
  needs: readonly string[] = [],
  namespace: string | undefined = "apps",
) => ({
  name,
  namespace,
  needs,
});

const facts: PlanFacts = {
  listed: [listed("a"), listed("b")],
  built: [built("a"), built("b", ["apps/a"])],
  upgrades: [upgraded("a"), upgraded("b")],
  helmfile: "v1.7.4",
  defaultNamespace: "default",
};

function planned(change: Partial<PlanFacts>) {
  const result = buildPlan({ ...facts, ...change });
  assert.equal(result.kind, "planned", JSON.stringify(result));
  return result.plan;
}

describe("a plan", () => {
  test("has the releases in the order of their names, with what they need", () => {
    const { releases, removed } = planned({});
    assert.deepEqual(
      releases.map(({ namespace, name, needs }) => [namespace, name, needs]),
      [
        ["apps", "a", []],
        ["apps", "b", ["apps/a"]],
      ],
    );
    assert.deepEqual(removed, []);
  });

  test("does not depend on the order in which helmfile did it", () => {
    const reversed = planned({
      listed: facts.listed.toReversed(),
      built: facts.built.toReversed(),
      upgrades: facts.upgrades.toReversed(),
    });
    assert.equal(planDigest(reversed), planDigest(planned({})));
  });

  const changes: readonly (readonly [what: string, change: Partial<PlannedUpgrade>])[] = [
    ["a chart", { chart: { name: "app", version: "1.0.0", digest: `sha256:${"1".repeat(64)}` } }],
    ["a version", { chart: { name: "app", version: "1.0.1", digest: `sha256:${"0".repeat(64)}` } }],
    ["values", { values: "hmac-sha256:01" }],
    ["an option", { options: { timeout: "6m" } }],
  ];
  for (const [what, change] of changes)
    test(`has another digest with another ${what}`, () => {
      const changed = planned({ upgrades: [upgraded("a", change), upgraded("b")] });
      assert.notEqual(planDigest(changed), planDigest(planned({})));
    });

  test("gives releases without a namespace the one of the Helmfile, in their needs, too", () => {
    const { releases } = planned({
      listed: [listed("a", { namespace: "" }), listed("b", { namespace: "" })],
      built: [built("a", [], undefined), built("b", ["a"], "")],
      upgrades: [upgraded("a", { namespace: undefined }), upgraded("b", { namespace: "" })],
    });
    assert.deepEqual(
      releases.map(({ namespace, needs }) => [namespace, needs]),
      [
        ["default", []],
        ["default", ["default/a"]],
      ],
    );
  });

  const needs: readonly (readonly [need: string, id: string])[] = [
    ["a", "default/a"],
    ["apps/a", "apps/a"],
    ["prod/apps/a", "apps/a"],
    ["prod//a", "default/a"],
  ];
  for (const [need, id] of needs)
    test(`understands the need ${need}`, () => {
      const { releases } = planned({ built: [built("a"), built("b", [need, need])] });
      assert.deepEqual(releases[1]?.needs, [id]);
    });

  test("names what is not to be installed, and leaves out what its condition leaves out", () => {
    const { removed } = planned({
      listed: [
        ...facts.listed,
        listed("gone", { installed: false }),
        listed("off", { enabled: false }),
        listed("both", { enabled: false, installed: false }),
      ],
    });
    assert.deepEqual(removed, [{ namespace: "apps", name: "gone" }]);
  });
});

describe("what helmfile did is no plan", () => {
  const rows: readonly (readonly [what: string, change: Partial<PlanFacts>, why: RegExp])[] = [
    ["without a release", { listed: [], upgrades: [] }, /^the helmfile has no release/],
    [
      "if none of its releases is to be installed",
      { listed: [listed("a", { installed: false })], upgrades: [] },
      /^no release of the helmfile is to be installed/,
    ],
    [
      "with one release twice",
      { listed: [listed("a"), listed("a", { installed: false }), listed("b")] },
      /^the helmfile has release apps\/a twice$/,
    ],
    [
      "if Helm was to upgrade what is not listed",
      { listed: [listed("a")] },
      /^helm was to upgrade release apps\/b, which helmfile does not list$/,
    ],
    [
      "if Helm was to upgrade one twice",
      { upgrades: [...facts.upgrades, upgraded("a")] },
      /^helm was to upgrade release apps\/a twice$/,
    ],
    [
      "if a listed release was not upgraded",
      { upgrades: [upgraded("a")] },
      /^helmfile lists release apps\/b and did not upgrade it$/,
    ],
    [
      "with releases of two clusters",
      { upgrades: [upgraded("a", { kubeContext: "x" }), upgraded("b", { kubeContext: "y" })] },
      /^its releases have 2 kubeContexts/,
    ],
  ];
  for (const [what, change, why] of rows)
    test(what, () => {
      const result = buildPlan({ ...facts, ...change });
      assert.match(result.kind === "invalid" ? result.why : "planned", why);
    });
});

describe("the digest of values", () => {
  const key = Buffer.from("key");

  test("is equal for equal values in another order", () => {
    assert.equal(
      valuesDigest({ a: 1, b: [{ c: 2, d: 3 }] }, key),
      valuesDigest({ b: [{ d: 3, c: 2 }], a: 1 }, key),
    );
  });

  test("is another with another key", () => {
    assert.notEqual(valuesDigest({ a: 1 }, key), valuesDigest({ a: 1 }, Buffer.from("other")));
  });
});
