import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { type Filter, filtered, type Listed } from "./filter.ts";

const row = (name: string, more: Partial<Listed> = {}): Listed => ({
  ...{ namespace: "ns", name, state: "Ready", texts: [], ...more },
});
const rows = [
  row("shop", { texts: ["chart-a", "1.0.0"], labels: { env: "prod", region: "eu" } }),
  row("cart", { state: "ErrApplied", texts: ["chart-b"], labels: { env: "test" } }),
  row("auth", { namespace: "other" }),
];
const all: Filter = { text: "", state: "", labels: "", namespace: "" };

describe("a list", () => {
  const cases: readonly (readonly [string, Partial<Filter>, readonly string[]])[] = [
    ["has the worst first, then is sorted by name", {}, ["cart", "auth", "shop"]],
    ["is filtered by words, all of which occur", { text: "SH chart-a" }, ["shop"]],
    ["is filtered by state", { state: "ErrApplied" }, ["cart"]],
    ["is filtered by namespace", { namespace: "other" }, ["auth"]],
    ["is filtered by labels", { labels: "env=prod, region" }, ["shop"]],
    ["is empty when nothing matches", { labels: "env=prod", text: "cart" }, []],
  ];
  for (const [name, filter, names] of cases)
    test(name, () => {
      assert.deepEqual(
        filtered(rows, { ...all, ...filter }).map((each) => each.name),
        names,
      );
    });
});
