import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { getPriority } from "node:os";
import { describe, onTestFinished, test } from "vitest";
import { killGroup } from "./kill-group.ts";
import { createProcessWatch } from "./process-watch.ts";

const MiB = 1024 * 1024;
const roomy = { memoryBytes: 4096 * MiB, cpuMs: 60_000, fullPriorityCpuMs: 200 };

/** Runs a script that leads a process group until the test ends, and resolves once it prints something. */
async function start(
  script: string,
): Promise<{ readonly child: ChildProcess; readonly pid: number }> {
  const child = spawn(process.execPath, ["--eval", `console.log("ready"); ${script}`], {
    detached: true,
    stdio: ["ignore", "pipe", "ignore"],
  });
  onTestFinished(() => killGroup(child.pid, "SIGKILL"));
  await once(child.stdout, "data");
  assert.ok(child.pid !== undefined);
  return { child, pid: child.pid };
}

const hasAutogroups = existsSync(`/proc/${process.pid}/autogroup`);

/** What its session gets beside others; undefined if the kernel has no groups of sessions. */
async function niceOfSession({ pid }: { readonly pid: number }): Promise<number | undefined> {
  if (!hasAutogroups) return undefined;
  return Number((await readFile(`/proc/${pid}/autogroup`, "utf8")).split(" nice ")[1]);
}

const allocate = "const all = []; setInterval(() => all.push(Buffer.alloc(4e6, 1)), 1);";
const wait = "setInterval(() => undefined, 1e6);";

async function endOf({ child }: { readonly child: ChildProcess }): Promise<unknown> {
  const [, signal] = await once(child, "exit");
  return signal;
}

describe.runIf(process.platform === "linux")("a watched process", () => {
  test("is killed if it uses too much memory", async () => {
    const watch = createProcessWatch({ totalBytes: 4096 * MiB });
    const hog = await start(allocate);
    const ended = endOf(hog);
    const seen: string[] = [];

    watch.start(hog.pid, { ...roomy, memoryBytes: 200 * MiB }, (what) => seen.push(what));

    assert.equal(await ended, "SIGKILL");
    assert.deepEqual(seen, ["used more than 200 MiB of memory"]);
  });

  test("is killed if it uses too much processor time", async () => {
    const watch = createProcessWatch({ totalBytes: 4096 * MiB });
    const loop = await start("for (;;);");
    const ended = endOf(loop);
    const seen: string[] = [];

    watch.start(loop.pid, { ...roomy, cpuMs: 200 }, (what) => seen.push(what));

    assert.equal(await ended, "SIGKILL");
    assert.deepEqual(seen, ["used more than 0.2 s of processor time"]);
  });

  test("counts with what it starts, if that is to be limited, too", async () => {
    const watch = createProcessWatch({ totalBytes: 4096 * MiB });
    const nested = (script: string): string =>
      `require("node:child_process").spawn(process.execPath, ["--eval", ${JSON.stringify(script)}]); ${wait}`;
    const parents = [await start(nested(allocate)), await start(nested("for (;;);"))] as const;
    const ends = parents.map(endOf);
    const seen: string[] = [];
    const limits = [
      { ...roomy, memoryBytes: 300 * MiB, withChildren: true },
      { ...roomy, cpuMs: 400, withChildren: true },
    ];
    for (const [at, { pid }] of parents.entries())
      watch.start(pid, limits[at] ?? roomy, (what) => seen.push(what));
    assert.deepEqual(await Promise.all(ends), ["SIGKILL", "SIGKILL"]);
    assert.deepEqual(seen.sort(), [
      "used more than 0.4 s of processor time",
      "used more than 300 MiB of memory",
    ]);
  });

  test("has used the processor time of what it has started, too, once that has ended", async () => {
    const watch = createProcessWatch({ totalBytes: 4096 * MiB });
    const brief = "const until = performance.now() + 150; while (performance.now() < until);";
    const parent = await start(
      `const { spawnSync } = require("node:child_process"); for (;;) spawnSync(process.execPath, ["--eval", ${JSON.stringify(brief)}]);`,
    );
    const ended = endOf(parent);
    const seen: string[] = [];
    watch.start(parent.pid, { ...roomy, cpuMs: 400 }, (what) => seen.push(what));
    assert.equal(await ended, "SIGKILL");
    assert.deepEqual(seen, ["used more than 0.4 s of processor time"]);
  });

  test("that is the largest is killed if all together use too much, and the others continue", async () => {
    const watch = createProcessWatch({ totalBytes: 300 * MiB });
    const small = await start(wait);
    const hog = await start(allocate);
    const ended = endOf(hog);
    const seen: string[] = [];

    const watched = watch.start(small.pid, roomy, () => seen.push("small"));
    watch.start(hog.pid, roomy, (what) => seen.push(what));

    assert.equal(await ended, "SIGKILL");
    assert.match(seen.join(), /^used \d+ MiB of memory, the most of all processes, which together/);
    assert.equal(small.child.exitCode, null);
    watched.end();
  });

  test("is slow once it has used some processor time, gets what others leave, and counts until it ends", async () => {
    const watch = createProcessWatch({ totalBytes: 4096 * MiB });
    const counts: number[] = [];
    const isSlow = Promise.withResolvers<void>();
    watch.onSlow((count) => {
      counts.push(count);
      isSlow.resolve();
    });
    const loop = await start("for (;;);");
    const waiting = await start(wait);

    const watched = watch.start(loop.pid, roomy, () => undefined);
    const other = watch.start(waiting.pid, roomy, () => undefined);
    await isSlow.promise;

    assert.deepEqual([watched.isSlow, other.isSlow], [true, false]);
    assert.deepEqual([getPriority(loop.pid), getPriority(waiting.pid)], [15, getPriority()]);
    assert.deepEqual(
      await Promise.all([loop, waiting].map(niceOfSession)),
      hasAutogroups ? [5, 0] : [undefined, undefined],
    );
    for (const one of [watched, other]) one.end();
    assert.deepEqual(counts, [1, 0]);
  });

  test("is the first to be killed when the container has no more memory", async () => {
    const watch = createProcessWatch({ totalBytes: 4096 * MiB });
    const small = await start(wait);

    const watched = watch.start(small.pid, roomy, () => undefined);

    assert.equal((await readFile(`/proc/${small.pid}/oom_score_adj`, "utf8")).trim(), "1000");
    watched.end();
  });
});
