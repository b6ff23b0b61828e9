import assert from "node:assert/strict";
import { test } from "vitest";
import { placeOf } from "./charts.ts";

const hash = "0123456789abcdef0123456789abcdef01234567";

test("a file of an include is read from the repository that it comes from", () => {
  const tree = { url: "https://x", commit: hash };
  const pin = {
    include: [
      { ...tree, fromPath: "charts", toPath: "vendor/charts" },
      { ...tree, fromPath: "", toPath: "base" },
    ],
  };

  assert.deepEqual(placeOf(pin, "app/Chart.yaml"), { include: undefined, path: "app/Chart.yaml" });
  assert.deepEqual(placeOf(pin, "vendor/charts/a/Chart.yaml"), {
    include: 0,
    path: "charts/a/Chart.yaml",
  });
  assert.deepEqual(placeOf(pin, "base/values.yaml"), { include: 1, path: "values.yaml" });
  assert.deepEqual(placeOf(pin, "baseline/x"), { include: undefined, path: "baseline/x" });
});
