import assert from "node:assert/strict";
import { access, mkdtemp, readdir, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { it } from "vitest";
import { accessTo } from "../index.ts";
import { createTestClient, send, startTestServer } from "../testing/index.ts";
import { writeChartFile } from "./chart-file.ts";

it("a full disk is reported, and no file is left", async (test) => {
  const hasFullDevice = await access("/dev/full").then(
    () => true,
    () => false,
  );
  if (!hasFullDevice) return test.skip("this system has no device that is always full");
  const dir = await mkdtemp(join(tmpdir(), "chart-file-"));
  test.onTestFinished(() => rm(dir, { recursive: true }));
  await using server = await startTestServer((_, response) =>
    send(response, 200, gzipSync("a chart")),
  );
  await using client = createTestClient();
  const pin = { kind: "tarball", url: `${server.origin}/x.tgz` } as const;
  const partPath = join(dir, "part");
  // A link, because the partial file of a failed download is removed.
  await symlink("/dev/full", partPath);

  await assert.rejects(
    writeChartFile(pin, { partPath, pathOf: () => join(dir, "x.tgz") }, (write) =>
      client.fetch(pin, write, { access: accessTo(pin), timeoutMs: 10_000, maxBytes: 1000 }),
    ),
    {
      code: "CHART_CACHE",
      message: `cache chart ${server.origin}/x.tgz: the disk is full`,
    },
  );

  assert.deepEqual(await readdir(dir), []);
});
