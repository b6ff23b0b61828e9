import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { describe, test } from "vitest";
import { createProcessWatch } from "./process-watch.ts";

const MiB = 1024 * 1024;
const roomy = { memoryBytes: 4096 * MiB, cpuMs: 60_000 };

/** Runs a script that leads a process group, and resolves once it prints something. */
async function start(
  script: string,
): Promise<{ readonly child: ChildProcess; readonly pid: number }> {
  const child = spawn(process.execPath, ["--eval", `console.log("ready"); ${script}`], {
    detached: true,
    stdio: ["ignore", "pipe", "ignore"],
  });
  await once(child.stdout, "data");
  assert.ok(child.pid !== undefined);
  return { child, pid: child.pid };
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

  test("that is the largest is killed if all together use too much, and the others continue", async () => {
    const watch = createProcessWatch({ totalBytes: 300 * MiB });
    const small = await start(wait);
    const hog = await start(allocate);
    const ended = endOf(hog);
    const seen: string[] = [];

    const endWatch = watch.start(small.pid, roomy, () => seen.push("small"));
    watch.start(hog.pid, roomy, (what) => seen.push(what));

    assert.equal(await ended, "SIGKILL");
    assert.match(seen.join(), /^used \d+ MiB of memory, the most of all processes, which together/);
    assert.equal(small.child.exitCode, null);
    endWatch();
    small.child.kill("SIGKILL");
  });

  test("is the first to be killed when the container has no more memory", async () => {
    const watch = createProcessWatch({ totalBytes: 4096 * MiB });
    const small = await start(wait);

    const endWatch = watch.start(small.pid, roomy, () => undefined);

    assert.equal((await readFile(`/proc/${small.pid}/oom_score_adj`, "utf8")).trim(), "1000");
    endWatch();
    small.child.kill("SIGKILL");
  });
});
