/** Chart.yaml as tenants may write it, read by the real child process. */
import assert from "node:assert/strict";
import { createProcessWatch } from "@flotilla/shared/process";
import { describe, type TestContext, test } from "vitest";
import { createChartReader } from "./chart-reader.ts";

const MiB = 1024 * 1024;

function setUp(t: TestContext, options: Partial<Parameters<typeof createChartReader>[0]> = {}) {
  const started: number[] = [];
  const watch = createProcessWatch({ totalBytes: 512 * MiB });
  const reader = createChartReader({
    watch: {
      ...watch,
      start(pid, ...rest) {
        started.push(pid);
        return watch.start(pid, ...rest);
      },
    },
    ...options,
  });
  t.onTestFinished(() => reader.close());
  return { reader, started };
}

const head = "name: app\nversion: 1.0.0\n";
const dependencies =
  'dependencies: [{name: a, version: 1.x, repository: "https://a.example.com"}]\n';
/** Large enough to be read by a child process. */
const comments = "# long\n".repeat(2_000);

describe("a Chart.yaml", () => {
  test("that is short is read without a process", async (t) => {
    const { reader, started } = setUp(t);

    assert.deepEqual(await reader.readChart({ chart: head + dependencies }), {
      name: "app",
      version: "1.0.0",
      repositories: ["https://a.example.com"],
    });
    assert.deepEqual(started, []);
  });

  test("that is long is read by a process, once, with its requirements.yaml", async (t) => {
    const { reader, started } = setUp(t);
    const task = { chart: `${head}${comments}`, requirements: dependencies };
    const expected = { name: "app", version: "1.0.0", repositories: ["https://a.example.com"] };

    assert.deepEqual(await reader.readChart(task), expected);
    assert.deepEqual(await reader.readChart(task), expected);
    assert.equal(started.length, 1);
  });

  test("that takes too long ends its process, is not read again, and others are read", async (t) => {
    const { reader, started } = setUp(t, {
      limits: { memoryBytes: 512 * MiB, cpuMs: 300, fullPriorityCpuMs: 50 },
    });
    const hostile = { chart: `${head}l: [${"b,".repeat(2 * MiB)}c]\n` };
    const problem = "the process that reads its Chart.yaml used more than 0.3 s of processor time";

    assert.deepEqual(await reader.readChart(hostile), { problem });
    assert.deepEqual(await reader.readChart(hostile), { problem });
    assert.equal(started.length, 1);
    assert.equal("name" in (await reader.readChart({ chart: head })), true);
  });

  test.each([
    ["is not YAML", "name: [", { repositories: [] }],
    ["is a list", "- a", { repositories: [] }],
    [
      "has a name that is not text",
      "name: 1\nversion: 1.0.0",
      { version: "1.0.0", repositories: [] },
    ],
    [
      "has a version of a thousand digits",
      `name: a\nversion: ${"1".repeat(2_000)}.0.0`,
      { name: "a", repositories: [] },
    ],
  ])("that %s has nothing else", async (_, chart, expected) => {
    const reader = createChartReader({ watch: createProcessWatch({ totalBytes: MiB }) });

    assert.deepEqual(await reader.readChart({ chart }), expected);
  });
});
