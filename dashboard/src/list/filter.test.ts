import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { type Filter, filtered, inStates, type Listed, toggled } from "./filter.ts";

const row = (name: string, more: Partial<Listed> = {}): Listed => ({
  ...{ namespace: "ns", name, state: "Ready", labels: {}, texts: [], ...more },
});
const rows = [
  row("shop", { texts: ["chart-a", "1.0.0"], labels: { env: "prod", region: "eu" } }),
  row("cart", { state: "ErrApplied", texts: ["chart-b"], labels: { env: "test" } }),
  row("auth", { namespace: "other", state: "Pending" }),
];
const all: Filter = { text: "", labels: "", namespace: "" };
const namesOf = (listed: readonly Listed[]) => listed.map(({ name }) => name);

describe("a list", () => {
  const cases: readonly (readonly [string, Partial<Filter>, readonly string[]])[] = [
    ["has the worst first, then is sorted by name", {}, ["cart", "auth", "shop"]],
    ["is filtered by words, all of which occur", { text: "SH chart-a" }, ["shop"]],
    ["is filtered by namespace", { namespace: "other" }, ["auth"]],
    ["is filtered by labels", { labels: "env=prod, region" }, ["shop"]],
    ["is empty when nothing matches", { labels: "env=prod", text: "cart" }, []],
  ];
  for (const [name, filter, names] of cases)
    test(name, () => {
      assert.deepEqual(namesOf(filtered(rows, { ...all, ...filter })), names);
    });

  const states: readonly (readonly [string, string, readonly string[]])[] = [
    ["has every state by default", "", ["shop", "cart", "auth"]],
    ["is filtered by state", "ErrApplied", ["cart"]],
    ["is filtered by several states", "ErrApplied,Pending", ["cart", "auth"]],
    ["is empty for a state that nothing is in", "NotReady", []],
  ];
  for (const [name, chosen, names] of states)
    test(name, () => {
      assert.deepEqual(namesOf(inStates(rows, chosen)), names);
    });

  test("has what is suspended by its own chip, with the states that are chosen beside it", () => {
    const given = [
      { name: "held", state: "OutOfSync", suspended: true },
      { name: "ready", state: "Ready", suspended: false },
      { name: "failed", state: "ErrApplied" },
    ] as const;
    const shown = (chosen: string) => inStates(given, chosen).map(({ name }) => name);
    assert.deepEqual(shown("suspended"), ["held"]);
    assert.deepEqual(shown("suspended,Ready"), ["held", "ready"]);
    assert.equal(toggled("Ready", "suspended"), "Ready,suspended");
  });

  test("gets and loses a state of its filter by the same click", () => {
    const both = toggled(toggled("", "Ready"), "Pending");
    assert.equal(both, "Ready,Pending");
    assert.equal(toggled(both, "Ready"), "Pending");
    assert.equal(toggled("Pending", "Pending"), "");
  });
});
