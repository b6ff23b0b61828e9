import assert from "node:assert/strict";
import { buffer } from "node:stream/consumers";
import { gzipSync } from "node:zlib";
import { pack } from "tar-stream";
import { describe, test } from "vitest";
import { chartFactsOf } from "../../base/reader/chart-facts.ts";
import type { ReadChart } from "../../base/reader/chart-reader.ts";
import { chartFileOfArchive, readChartFile } from "./chart-file.ts";

const readText: ReadChart = (task) => Promise.resolve(chartFactsOf(task));

test("a Chart.yaml needs a name and a version", async () => {
  const read = (chart: string) => readChartFile(readText, { chart }, "charts/a/Chart.yaml");

  assert.deepEqual(await read("name: a\nversion: 1.2.3\n"), {
    name: "a",
    version: "1.2.3",
    repositories: [],
  });
  for (const text of [
    "name: a",
    "name: a/b\nversion: 1.0.0\n",
    "name: a\nversion: latest\n",
    "[",
    "- a",
  ])
    await assert.rejects(read(text), { reason: "InvalidChartReference", stalls: true });
});

test("a Chart.yaml that cannot be read within the limits stalls the chart, with what was exceeded", async () => {
  const problem = "the process that reads its Chart.yaml used more than 5 s of processor time";

  await assert.rejects(
    readChartFile(() => Promise.resolve({ problem }), { chart: "" }, "a of commit 1"),
    {
      reason: "InvalidChartReference",
      message: `the chart at a of commit 1 cannot be used: ${problem}`,
      stalls: true,
    },
  );
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

  test("is missed in an archive without one, and in a file that is not an archive", async () => {
    const other = await packed([["app/values.yaml", "a: 1"]]);

    await assert.rejects(
      chartFileOfArchive(other, "app.tgz"),
      /app\.tgz .* it has no Chart\.yaml$/,
    );
    await assert.rejects(chartFileOfArchive(Buffer.from("no"), "app.tgz"), /not a packaged chart/);
    await assert.rejects(
      chartFileOfArchive(gzipSync(Buffer.alloc(1024, 1)), "app.tgz"),
      /not a packaged chart \(\.tgz\): /,
    );
  });

  // Each is a few KiB that a tenant commits.
  test("is not read when it has more than 256 KiB, however large it says that it is", async () => {
    const bomb = await packed([["app/Chart.yaml", "a".repeat(60 * 1024 * 1024)]]);
    const before = process.memoryUsage().arrayBuffers;

    await assert.rejects(chartFileOfArchive(bomb, "bomb.tgz"), {
      message: "the chart at bomb.tgz cannot be used: its Chart.yaml has more than 256 KiB",
    });
    assert.ok(process.memoryUsage().arrayBuffers - before < 16 * 1024 * 1024);
  });

  test("is not looked for beyond what a chart has", async () => {
    const late = await packed([
      ["app/data", "a".repeat(65 * 1024 * 1024)],
      ["app/Chart.yaml", "right"],
    ]);

    await assert.rejects(chartFileOfArchive(late, "late.tgz"), /not within the first 64 MiB/);
  });

  test("is enough: what follows it is not unpacked", async () => {
    const rest = await packed([
      ["app/Chart.yaml", "right"],
      ["app/data", "a".repeat(80 * 1024 * 1024)],
    ]);

    assert.equal(await chartFileOfArchive(rest, "app.tgz"), "right");
  });
});

async function packed(files: readonly (readonly [name: string, text: string])[]) {
  const archive = pack();
  for (const [name, content] of files) archive.entry({ name }, content);
  archive.finalize();
  return gzipSync(await buffer(archive));
}
