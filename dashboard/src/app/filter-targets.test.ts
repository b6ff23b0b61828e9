import assert from "node:assert/strict";
import type { Target } from "@flotilla/shared/dashboard";
import { describe, test } from "vitest";
import { filterTargets, type ShownTarget, type TargetFilter } from "./filter-targets.ts";

const target = (name: string, more: Partial<Target> = {}): Target => ({
  ...{ namespace: "ns", name, isTarget: true, why: "target all", ...more },
});
const targets = [
  target("paris", { state: "Ready", version: "1.1.0" }),
  target("lyon", { state: "ErrApplied", version: "1.10.0", message: "Helm failed" }),
  target("nantes", { state: "Pending" }),
  target("lille", { isTarget: false, why: "no target matches" }),
];
const labelsOf = ({ name }: ShownTarget) => (name === "paris" ? ["env=prod"] : []);

describe("the clusters of an app", () => {
  const cases: readonly (readonly [string, Partial<TargetFilter>, readonly string[]])[] = [
    ["are its targets, the worst first", {}, ["lyon", "nantes", "paris"]],
    ["are those that are none", { show: "out" }, ["lille"]],
    ["are all", { show: "all" }, ["lyon", "nantes", "lille", "paris"]],
    ["are those with exactly this version", { version: "1.1.0" }, ["paris"]],
    ["are those where nothing is installed yet", { version: "none" }, ["nantes"]],
    ["are found by words in any case", { text: "HELM ly" }, ["lyon"]],
    ["are found by a label", { text: "env=prod" }, ["paris"]],
  ];
  for (const [name, filter, names] of cases)
    test(name, () => {
      const all = { show: "in", version: "", text: "" };
      const shown = filterTargets(targets, labelsOf, { ...all, ...filter });
      assert.deepEqual(
        shown.map((each) => each.name),
        names,
      );
    });
});
