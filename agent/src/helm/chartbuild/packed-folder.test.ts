/** Charts from a tar archive of their folder, as the relay of a run of helmfile packs it. */
import assert from "node:assert/strict";
import { buffer } from "node:stream/consumers";
import { pack } from "tar-stream";
import { describe, test } from "vitest";
import { buildLimits } from "./chart-files.ts";
import { readPackedFolder } from "./read-archive.ts";

async function archiveOf(files: Readonly<Record<string, string>>): Promise<Buffer> {
  const tar = pack();
  for (const [name, text] of Object.entries(files)) tar.entry({ name }, text);
  tar.finalize();
  return await buffer(tar);
}

describe("a packed folder", () => {
  test("has its files by their paths, without what .helmignore names", async () => {
    const archive = await archiveOf({
      ".helmignore": "*.md\nci/\n",
      "Chart.yaml": "name: a",
      "README.md": "text",
      "ci/values.yaml": "a: 1",
      "templates/a.yaml": "a",
      "templates/notes.md": "text",
    });

    const files = await readPackedFolder(archive, "read the chart", buildLimits);

    assert.deepEqual([...files.keys()].sort(), [".helmignore", "Chart.yaml", "templates/a.yaml"]);
    assert.equal(files.get("templates/a.yaml")?.toString(), "a");
  });

  const hostile: readonly (readonly [what: string, path: string])[] = [
    ["a path that leads out", "../a"],
    ["an absolute path", "/etc/passwd"],
    ["a path that leads out in the middle", "a/../../b"],
  ];
  for (const [what, path] of hostile)
    test(`is refused with ${what}`, async () => {
      const archive = await archiveOf({ [path]: "x" });
      await assert.rejects(readPackedFolder(archive, "read the chart", buildLimits), {
        code: "CHART_BUILD",
      });
    });

  test("is refused if it has more than a chart may have", async () => {
    const archive = await archiveOf({ a: "x".repeat(10), b: "x".repeat(10) });
    await assert.rejects(
      readPackedFolder(archive, "read the chart", { ...buildLimits, chartBytes: 15 }),
      {
        code: "CHART_BUILD",
      },
    );
  });

  test("is refused if it is no archive", async () => {
    await assert.rejects(readPackedFolder(Buffer.alloc(600, "x"), "read the chart", buildLimits), {
      code: "CHART_BUILD",
    });
  });
});
