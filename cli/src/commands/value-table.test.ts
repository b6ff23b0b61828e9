import assert from "node:assert/strict";
import { test } from "vitest";
import { valueTable } from "./value-table.ts";

test("values are listed with their origins, those of Secrets masked, long ones shortened", () => {
  const origin = { kind: "Secret", name: "db", key: "values.yaml" };
  const entries = [
    { path: "a.b", value: 1, origin: { kind: "chart" } },
    { path: "c", value: "x".repeat(100), origin: { kind: "spec" } },
    { path: "d", value: null, origin: { kind: "target", name: "target europe" } },
    { path: "e", masked: true, origin },
    { path: "f", masked: true, origin: { ...origin, namespace: "shop" } },
  ];

  const lines = valueTable(entries.map((entry) => `${JSON.stringify(entry)}\n`).join("")).split(
    "\n",
  );

  assert.deepEqual(
    lines.map((line) => line.split(/\s{2,}/)),
    [
      ["VALUE", "IS", "FROM"],
      ["a.b", "1", "the chart"],
      ["c", `"${"x".repeat(79)}…`, "values"],
      ["d", "null", "target europe"],
      ["e", "***", "Secret db of the hub, values.yaml"],
      ["f", "***", "Secret shop/db, values.yaml"],
      [""],
    ],
  );
});

test("a release without values has no table", () => {
  assert.equal(valueTable(""), "no values\n");
});
