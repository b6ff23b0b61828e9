import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { silentLog } from "@flotilla/shared/log";
import { describe, type TestContext, test } from "vitest";
import { createProcessRecords, type ProcessRecords } from "./process-records.ts";
import { isSameProcess, startOfProcess } from "./process-start.ts";

async function recordsDir(t: TestContext): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), "flotilla-processes-"));
  t.onTestFinished(() => rm(dir, { recursive: true, force: true }));
  return join(dir, "deeper", "runs");
}

/** The records as an agent reads them when it starts. */
async function open(dir: string): Promise<ProcessRecords> {
  const records = createProcessRecords(dir, silentLog());
  await records.recover();
  return records;
}

async function sleeper(t: TestContext): Promise<{ child: ChildProcess; pid: number }> {
  const child = spawn("sleep", ["600"], { detached: true, stdio: "ignore" });
  t.onTestFinished(() => void child.kill("SIGKILL"));
  await once(child, "spawn");
  assert.ok(child.pid !== undefined);
  return { child, pid: child.pid };
}

describe("a recorded process", () => {
  test("is killed by the next agent if it still runs, and its record deleted", async (t) => {
    const dir = await recordsDir(t);
    const { child, pid } = await sleeper(t);
    await (await open(dir)).started(pid);
    const ended = once(child, "exit");

    await open(dir);

    assert.deepEqual(await ended, [null, "SIGKILL"]);
    assert.deepEqual(await readdir(dir), []);
  });

  test("is not killed once it has ended and another one has its PID", async (t) => {
    const dir = await recordsDir(t);
    const { child, pid } = await sleeper(t);
    await mkdir(dir, { recursive: true });
    const record = { process: { pid, startedAt: "earlier" } };
    await writeFile(join(dir, `${pid}.json`), JSON.stringify(record));

    await open(dir);

    assert.notEqual(await startOfProcess(pid), undefined);
    assert.equal(child.exitCode ?? child.signalCode, null);
  });

  test("has no record any more when it has ended", async (t) => {
    const dir = await recordsDir(t);
    const { pid } = await sleeper(t);
    const records = await open(dir);
    await records.started(pid);
    assert.deepEqual(await readdir(dir), [`${pid}.json`]);

    await records.ended(pid);

    assert.deepEqual(await readdir(dir), []);
  });

  test("is killed by the entry in the journal of version 0.1.0, too", async (t) => {
    const dir = await recordsDir(t);
    const { child, pid } = await sleeper(t);
    await mkdir(dir, { recursive: true });
    const process = { pid, startedAt: await startOfProcess(pid) };
    await writeFile(join(dir, "0a.json"), JSON.stringify({ deployment: "web", process }));
    const ended = once(child, "exit");

    await open(dir);

    assert.deepEqual(await ended, [null, "SIGKILL"]);
  });

  test("with a record that cannot be read keeps no agent from starting", async (t) => {
    const dir = await recordsDir(t);
    await mkdir(dir, { recursive: true });
    await writeFile(join(dir, "broken.json"), "{");
    await writeFile(join(dir, "init.json"), '{"process":{"pid":1,"startedAt":"1"}}');

    await open(dir);

    assert.deepEqual(await readdir(dir), []);
  });
});

describe("a process identified by its start time", () => {
  test("is the same while it runs", async (t) => {
    const { pid } = await sleeper(t);
    const startedAt = (await startOfProcess(pid)) ?? "";

    assert.ok(await isSameProcess({ pid, startedAt }));
    assert.ok(!(await isSameProcess({ pid, startedAt: `${startedAt}0` })));
    assert.equal(await startOfProcess(2 ** 30), undefined);
  });
});
