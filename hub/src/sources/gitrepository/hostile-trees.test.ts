/** What files of a repository that is made to stop the hub cost its event loop, with real runs of git and real readers. */
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createFairSemaphore } from "@flotilla/shared/concurrency";
import { createProcessWatch } from "@flotilla/shared/process";
import { accessToGit, createGitClient } from "@flotilla/shared/source/git";
import { createRepository, startGitHttpServer } from "@flotilla/shared/source/git/testing";
import { cpuMs } from "@flotilla/shared/time/testing";
import { parseHelmYaml } from "@flotilla/shared/yaml";
import { test } from "vitest";
import { createChartReader } from "../../base/reader/chart-reader.ts";
import { createTreeFiles } from "./tree-files.ts";

const MiB = 1024 * 1024;
const heavyChart = `name: heavy\nversion: 1.0.0\nkeywords: [${"b,".repeat(30_000)}c]\n`;
const valuesFiles = Array.from({ length: 100 }, (_, at) => `values/${at}.yaml`);

test("no turn of the event loop takes half as long as reading its Chart.yaml would", async (t) => {
  const root = await mkdtemp(join(tmpdir(), "git-hostile-"));
  const server = await startGitHttpServer(root);
  const watch = createProcessWatch({ totalBytes: 512 * MiB });
  // A slow machine decides nothing.
  const limits = { memoryBytes: 256 * MiB, cpuMs: 100_000, fullPriorityCpuMs: 50 };
  const slow = { watch, limits, timeoutMs: 150_000 };
  t.onTestFinished(async () => {
    await server[Symbol.asyncDispose]();
    await rm(root, { recursive: true, force: true });
  });
  const repository = await createRepository(root, "hostile.git");
  const commit = await repository.commit({
    "heavy/Chart.yaml": heavyChart,
    "huge/Chart.yaml": "- a\n".repeat(2 * MiB),
    // One blob for Git: a KiB that would take a hundred megabytes.
    ...Object.fromEntries(valuesFiles.map((path) => [path, "\n".repeat(MiB)])),
  });
  const url = server.url("hostile.git");
  const git = createGitClient({
    ...{ dir: join(root, ".tmp"), userAgent: "test", egress: { allowLoopback: true } },
  });
  const request = { access: accessToGit(url), timeoutMs: 150_000, namespace: "apps" };

  /** What reading both charts costs the event loop, ms. */
  const longestTurn = async (): Promise<number> => {
    const budget = createFairSemaphore({ capacity: 64 * MiB, share: 32 * MiB });
    const files = createTreeFiles({ git, budget });
    await using reader = openReader(slow);
    const read = async (chart: string) => {
      const path = `${chart}/Chart.yaml`;
      const paths = { contents: [path], listed: valuesFiles };
      const found = await files.read({ uid: "u-1", url, commit }, paths, request);
      assert.ok(valuesFiles.every(found.has));
      const file = found.content(path);
      return file?.kind === "file" ? await reader.readChart({ chart: file.text }) : undefined;
    };

    const turns = measureTurns();
    const [heavy, huge] = await Promise.allSettled([read("heavy"), read("huge")]);
    const longestMs = turns.stop();

    assert.equal(heavy.status, "fulfilled");
    assert.deepEqual(heavy.value, { name: "heavy", version: "1.0.0", repositories: [] });
    assert.ok(huge.status === "rejected");
    assert.match(String(huge.reason), /has 8388608 bytes, more than the limit of 262144$/);
    return longestMs;
  };

  // The garbage of others is collected in one of them, perhaps.
  const longestMs = Math.min(await longestTurn(), await longestTurn());
  const readingMs = cpuMs(() => parseHelmYaml(heavyChart, { name: "Chart.yaml" }));
  assert.ok(longestMs < readingMs / 2, `${longestMs} ms, reading takes ${readingMs} ms`);
});

function openReader(options: Parameters<typeof createChartReader>[0]) {
  const reader = createChartReader(options);
  return { ...reader, [Symbol.asyncDispose]: reader.close };
}

/** The longest turn of the event loop of this thread, in ms of processor time. */
function measureTurns(): { stop(): number } {
  let last = process.threadCpuUsage();
  let longestMs = 0;
  let isRunning = true;
  const turn = (): void => {
    const { user, system } = process.threadCpuUsage(last);
    last = process.threadCpuUsage();
    longestMs = Math.max(longestMs, (user + system) / 1_000);
    if (isRunning) setImmediate(turn);
  };
  setImmediate(turn);
  return {
    stop() {
      isRunning = false;
      return longestMs;
    },
  };
}
