import assert from "node:assert/strict";
import { test } from "vitest";
import { parentsOf, withoutParents } from "./tree-paths.ts";

test("paths are listed apart from the directories that they lie in", () => {
  const paths = new Set([
    "charts/app",
    "charts/app/Chart.yaml",
    "charts/app/values.yaml",
    "charts",
    "docs",
  ]);

  assert.deepEqual(withoutParents(paths), [
    ["charts/app"],
    ["charts/app/Chart.yaml", "charts/app/values.yaml"],
    ["charts", "docs"],
  ]);
});

test("a path lies in each directory above it", () => {
  assert.deepEqual(parentsOf("a/b/c.yaml"), ["a", "a/b"]);
  assert.deepEqual(parentsOf("c.yaml"), []);
});
