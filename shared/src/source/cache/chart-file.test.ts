import assert from "node:assert/strict";
import { access, mkdtemp, readdir, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { it } from "vitest";
import { accessTo } from "../access.ts";
import { writeChartFile } from "./chart-file.ts";
import { createTestClient } from "../testing/test-client.ts";
import { send, startTestServer } from "../testing/test-server.ts";

it("a full disk gives one clear sentence and leaves nothing", async (test) => {
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
  // A link, because what is left of a failed download is removed.
  await symlink("/dev/full", partPath);

  const answer = await client.open(pin, accessTo(pin), { timeoutMs: 10_000 });
  await assert.rejects(
    writeChartFile(answer, pin, { partPath, pathOf: () => join(dir, "x.tgz"), maxBytes: 1000 }),
    {
      code: "CHART_CACHE",
      message: `chart ${server.origin}/x.tgz could not be kept: the disk is full`,
    },
  );

  assert.deepEqual(await readdir(dir), []);
});
