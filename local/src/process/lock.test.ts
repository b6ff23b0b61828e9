import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "vitest";
import { testDir } from "../testing/index.ts";
import { withLock } from "./lock.ts";

const lockModule = new URL("./lock.ts", import.meta.url).href;

/** A second process that acquires the lock, prints "held" and runs `then`. */
async function holder(
  t: TestContext,
  lock: string,
  then: string,
): Promise<{ readonly exited: Promise<unknown>; readonly goOn: () => void }> {
  const program = `
    const { withLock } = await import(${JSON.stringify(lockModule)});
    await withLock(${JSON.stringify(lock)}, async () => { console.log("held"); ${then} });
  `;
  const child = spawn(process.execPath, ["--input-type=module", "-e", program], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  t.onTestFinished(() => void child.kill("SIGKILL"));
  const exited = once(child, "exit");
  await once(child.stdout, "data");
  return { exited, goOn: () => void child.stdin.write("on\n") };
}

test("waits for a lock that another process holds", async (t) => {
  const dir = await testDir(t);
  const lock = join(dir, "lock");
  const marker = join(dir, "marker");
  const { goOn } = await holder(
    t,
    lock,
    `
    await new Promise((resolve) => process.stdin.once("data", resolve));
    process.stdin.destroy();
    (await import("node:fs")).writeFileSync(${JSON.stringify(marker)}, "done");
  `,
  );
  const waits: number[] = [];

  const seen = await withLock(lock, () => readFile(marker, "utf8"), {
    onWait(other) {
      waits.push(other.pid);
      goOn();
    },
  });

  assert.equal(seen, "done");
  assert.equal(waits.length, 1);
  assert.notEqual(waits[0], process.pid);
});

test("acquires the lock of a killed process at once", async (t) => {
  const lock = join(await testDir(t), "lock");
  const { exited } = await holder(t, lock, 'process.kill(process.pid, "SIGKILL");');
  await exited;

  const waits: number[] = [];
  const result = await withLock(lock, () => Promise.resolve("acquired"), {
    onWait: (other) => waits.push(other.pid),
  });

  assert.equal(result, "acquired");
  assert.deepEqual(waits, []);
});

test("acquires the lock of a process whose pid was reused", async (t) => {
  const lock = join(await testDir(t), "lock");
  await writeFile(
    lock,
    JSON.stringify({ pid: process.pid, startedAt: "another-boot:1", nonce: "old" }),
  );

  assert.equal(await withLock(lock, () => Promise.resolve("acquired")), "acquired");
});

test("many waiters for the lock of an ended holder acquire it one at a time", async (t) => {
  const dir = await testDir(t);
  const lock = join(dir, "lock");
  await writeFile(
    lock,
    JSON.stringify({ pid: process.pid, startedAt: "another-boot:1", nonce: "old" }),
  );
  let inside = 0;
  let most = 0;
  const enter = () =>
    withLock(lock, async () => {
      inside++;
      most = Math.max(most, inside);
      await new Promise(setImmediate);
      inside--;
    });

  await Promise.all(Array.from({ length: 6 }, enter));

  assert.equal(most, 1);
  assert.deepEqual(await readdir(dir), [], "no file of the lock remains");
});

test("releases the lock when the work fails, and a waiter can be cancelled", async (t) => {
  const lock = join(await testDir(t), "lock");
  await assert.rejects(
    withLock(lock, () => Promise.reject(new Error("no"))),
    /no/,
  );

  await withLock(lock, async () => {
    const cancel = new AbortController();
    const waiting = withLock(lock, () => Promise.resolve(), {
      signal: cancel.signal,
      onWait: () => cancel.abort(),
    });
    await assert.rejects(waiting, { name: "AbortError" });
  });
});
