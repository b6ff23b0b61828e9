import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { createMatrix } from "./matrix.ts";

describe("the matrix", () => {
  test("has a character for each wanted cluster, and an index for its version", () => {
    const matrix = createMatrix();
    matrix.set("ns/web", "ns/a", { state: "Ready", version: "1.1.0" });
    matrix.set("ns/web", "ns/b", { state: "ErrApplied", version: "1.0.0" });
    matrix.set("ns/web", "ns/c", { state: "Pending", version: "" });

    const row = matrix.rowsFor(["ns/b", "ns/none", "ns/a", "ns/c"]);

    assert.deepEqual(row("ns/web"), {
      states: "e.rp",
      versions: ["1.0.0", "1.1.0"],
      versionOf: "0.1.",
    });
    assert.deepEqual(row("ns/other"), { states: "....", versions: [], versionOf: "...." });
  });

  test("follows changes, and forgets a Bundle with its last release", () => {
    const matrix = createMatrix();
    matrix.set("ns/web", "ns/a", { state: "Pending", version: "" });
    matrix.set("ns/web", "ns/a", { state: "Ready", version: "2" });

    assert.deepEqual(matrix.cell("ns/web", "ns/a"), { state: "Ready", version: "2" });
    assert.deepEqual(matrix.clustersOf(["ns/web"]), ["ns/a"]);
    matrix.set("ns/web", "ns/a", undefined);
    assert.equal(matrix.cell("ns/web", "ns/a"), undefined);
    assert.deepEqual([...matrix.bundles()], []);
    assert.deepEqual(matrix.clustersOf(["ns/web"]), []);
  });

  test("grows with the clusters", () => {
    const matrix = createMatrix();
    const clusters = Array.from({ length: 300 }, (_, index) => `ns/c${index}`);
    for (const cluster of clusters) matrix.set("ns/web", cluster, { state: "Ready", version: "1" });
    matrix.set("ns/api", "ns/c299", { state: "Modified", version: "1" });

    assert.equal(matrix.rowsFor(clusters)("ns/web").states, "r".repeat(300));
    assert.equal(matrix.rowsFor(clusters)("ns/api").states, `${".".repeat(299)}m`);
  });

  test("removes versions that no cluster has any more when a row has 1,000", () => {
    const matrix = createMatrix();
    matrix.set("ns/web", "ns/a", { state: "Ready", version: "1" });
    for (let patch = 0; patch < 2_500; patch += 1) {
      matrix.set("ns/web", "ns/b", { state: "Ready", version: `1.0.${patch}` });
      assert.equal(matrix.cell("ns/web", "ns/b")?.version, `1.0.${patch}`);
    }
    assert.equal(matrix.cell("ns/web", "ns/a")?.version, "1");
  });

  test("shows a version as none only while 1,000 others are in use", () => {
    const matrix = createMatrix();
    for (let cluster = 0; cluster <= 1_000; cluster += 1)
      matrix.set("ns/web", `ns/c${cluster}`, { state: "Ready", version: `1.0.${cluster}` });
    assert.deepEqual(matrix.cell("ns/web", "ns/c999"), { state: "Ready", version: "1.0.999" });
    assert.deepEqual(matrix.cell("ns/web", "ns/c1000"), { state: "Ready", version: "" });

    matrix.set("ns/web", "ns/c0", { state: "Ready", version: "2" });
    assert.deepEqual(matrix.cell("ns/web", "ns/c0"), { state: "Ready", version: "2" });
  });
});
