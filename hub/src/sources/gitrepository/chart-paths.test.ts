import assert from "node:assert/strict";
import { test } from "vitest";
import { chartPaths, isCheckedOut, placeOf } from "./chart-paths.ts";

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

test("the paths of a chart are those from the root, without what has no meaning in them", () => {
  const { chart, valuesFiles } = chartPaths(
    { chart: "./charts//app/", valuesFiles: ["/environments/prod.yaml"] },
    "x",
  );

  assert.equal(chart, "charts/app");
  assert.deepEqual([...valuesFiles], [["/environments/prod.yaml", "environments/prod.yaml"]]);
  assert.equal(chartPaths({ chart: "./" }, "x").chart, ".");
});

test("a path that leaves the repository stalls the HelmChart", () => {
  const tree = "commit 1 of https://x";
  assert.throws(() => chartPaths({ chart: "../../app" }, tree), {
    reason: "InvalidChartReference",
    stalls: true,
    message:
      "the chart at ../../app of commit 1 of https://x cannot be used: its path leaves the repository",
  });
  assert.throws(() => chartPaths({ chart: "a", valuesFiles: ["a/../../b.yaml"] }, tree), {
    reason: "ValuesFilesError",
    condition: "BuildFailed",
    stalls: true,
    message: /a\/\.\.\/\.\.\/b\.yaml cannot be read from commit 1 of https:\/\/x/,
  });
});

test("a file outside of the directories of sparseCheckout is not there", () => {
  const sparseCheckout = ["./charts/app", "common/"];

  assert.ok(isCheckedOut({ sparseCheckout }, "charts/app/Chart.yaml"));
  assert.ok(isCheckedOut({ sparseCheckout }, "common/values.yaml"));
  assert.ok(!isCheckedOut({ sparseCheckout }, "charts/application/Chart.yaml"));
  assert.ok(isCheckedOut({}, "anything"));
  assert.ok(isCheckedOut({ sparseCheckout: ["."] }, "anything"));
});
