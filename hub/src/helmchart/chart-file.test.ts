import assert from "node:assert/strict";
import { buffer } from "node:stream/consumers";
import { gzipSync } from "node:zlib";
import { pack } from "tar-stream";
import { describe, test } from "vitest";
import { chartFileOfArchive, parseChartFile } from "./chart-file.ts";

test("a Chart.yaml needs a name and a version", () => {
  assert.deepEqual(parseChartFile("name: a\nversion: 1.2.3\n", "x"), {
    name: "a",
    version: "1.2.3",
  });
  for (const text of [
    "name: a",
    "name: a/b\nversion: 1.0.0\n",
    "name: a\nversion: latest\n",
    "[",
    "- a",
  ])
    assert.throws(() => parseChartFile(text, "charts/a/Chart.yaml"), {
      reason: "InvalidChartReference",
      stalls: true,
    });
});

describe("Chart.yaml of a packaged chart", () => {
  const rows: readonly (readonly [string, readonly (readonly [name: string, text: string])[]])[] = [
    ["is that of its first directory", [["app/Chart.yaml", "right"]]],
    [
      "is not that of a dependency",
      [
        ["app/charts/other/Chart.yaml", "wrong"],
        ["app/Chart.yaml", "right"],
      ],
    ],
    [
      "is not a file whose long path ends in the same way",
      [
        [`app/${"deep/".repeat(24)}x/Chart.yaml`, "wrong"],
        ["./app/Chart.yaml", "right"],
      ],
    ],
  ];
  for (const [what, files] of rows)
    test(what, async () => {
      assert.equal(await chartFileOfArchive(await packed(files), "app.tgz"), "right");
    });

  test("is missed in an archive without one, and in a file that is no archive", async () => {
    const other = await packed([["app/values.yaml", "a: 1"]]);

    await assert.rejects(
      chartFileOfArchive(other, "app.tgz"),
      /app\.tgz .* it has no Chart\.yaml$/,
    );
    await assert.rejects(chartFileOfArchive(Buffer.from("no"), "app.tgz"), /no packaged chart/);
    await assert.rejects(
      chartFileOfArchive(gzipSync(Buffer.alloc(1024, 1)), "app.tgz"),
      /it cannot be unpacked: /,
    );
  });
});

async function packed(files: readonly (readonly [name: string, text: string])[]) {
  const archive = pack();
  for (const [name, content] of files) archive.entry({ name }, content);
  archive.finalize();
  return gzipSync(await buffer(archive));
}
