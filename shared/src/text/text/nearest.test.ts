import assert from "node:assert/strict";
import { test } from "vitest";
import { nearest } from "./nearest.ts";

const known = ["version", "values", "valuesFrom", "repo", "releaseName", "chart"];

const cases: readonly (readonly [name: string, near: readonly string[]])[] = [
  ["vesion", ["version"]],
  ["verison", ["version"]],
  ["Version", ["version"]],
  ["value", ["values"]],
  ["releasname", ["releaseName"]],
  ["rpeo", ["repo"]],
  ["interval", []],
  ["x", []],
  ["v".repeat(10_000), []],
  ["", []],
];
for (const [name, near] of cases) {
  test(`near ${name.slice(0, 20) || "nothing"} is ${near.join() || "nothing"}`, () => {
    assert.deepEqual(nearest(name, known), near);
  });
}

test("several are returned nearest first, up to the limit", () => {
  assert.deepEqual(nearest("web", ["wob", "web-app", "webs", "web", "wab"], 3), [
    "web",
    "wob",
    "webs",
  ]);
});
