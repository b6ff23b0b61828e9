import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { silentLog } from "@flotilla/shared/log";
import { describe, type TestContext, test } from "vitest";
import { isSameProcess, startOfProcess } from "./process-start.ts";
import { createRunJournal, type RunJournal } from "./run-journal.ts";

const entry = {
  deployment: "web",
  namespace: "apps",
  release: "web",
  revision: 3,
  rollsBack: false,
};

async function journalDir(t: TestContext): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), "flotilla-journal-"));
  t.onTestFinished(() => rm(dir, { recursive: true, force: true }));
  return dir;
}

/** The journal as an agent reads it when it starts. */
async function openJournal(dir: string): Promise<RunJournal> {
  const journal = createRunJournal(dir, silentLog());
  await journal.recover();
  return journal;
}

async function sleeper(t: TestContext): Promise<{ child: ChildProcess; pid: number }> {
  const child = spawn("sleep", ["600"], { detached: true, stdio: "ignore" });
  t.onTestFinished(() => void child.kill("SIGKILL"));
  await once(child, "spawn");
  assert.ok(child.pid !== undefined);
  return { child, pid: child.pid };
}

describe("the journal of Helm runs", () => {
  test("has its entry after a restart, until the run ends", async (t) => {
    const dir = await journalDir(t);
    const journal = await openJournal(dir);
    await journal.begin(entry);

    const restarted = await openJournal(dir);
    assert.deepEqual(restarted.get("web"), entry);
    assert.equal(restarted.get("shop"), undefined);

    await restarted.end("web");
    assert.equal((await openJournal(dir)).get("web"), undefined);
    assert.deepEqual(await readdir(dir), []);
  });

  test("creates its directory", async (t) => {
    const journal = await openJournal(join(await journalDir(t), "deeper", "runs"));

    await journal.begin(entry);

    assert.deepEqual(journal.get("web"), entry);
  });

  test("kills a process that still runs after a restart", async (t) => {
    const dir = await journalDir(t);
    const { child, pid } = await sleeper(t);
    const journal = await openJournal(dir);
    await journal.begin(entry);
    await journal.started("web", pid);
    const ended = once(child, "exit");

    const restarted = await openJournal(dir);

    assert.deepEqual(await ended, [null, "SIGKILL"]);
    assert.equal(restarted.get("web")?.revision, 3);
  });

  test("does not kill another process with the same PID", async (t) => {
    const dir = await journalDir(t);
    const { child, pid } = await sleeper(t);
    const journal = await openJournal(dir);
    const process = { pid, startedAt: "earlier" };
    await journal.begin({ ...entry, process });

    const restarted = await openJournal(dir);

    assert.deepEqual(restarted.get("web")?.process, process);
    assert.notEqual(await startOfProcess(pid), undefined);
    assert.equal(child.exitCode ?? child.signalCode, null);
  });

  test("keeps the entry of an ended process, whose lock may remain", async (t) => {
    const dir = await journalDir(t);
    const { child, pid } = await sleeper(t);
    const journal = await openJournal(dir);
    await journal.begin(entry);
    await journal.started("web", pid);
    const ended = once(child, "exit");
    child.kill("SIGKILL");
    await ended;

    assert.equal((await openJournal(dir)).get("web")?.revision, 3);
  });

  test("deletes only entries that cannot be read", async (t) => {
    const dir = await journalDir(t);
    await (await openJournal(dir)).begin(entry);
    await writeFile(join(dir, "broken.json"), "{");
    await writeFile(join(dir, "init.json"), '{"deployment":"x","process":{"pid":1}}');

    const journal = await openJournal(dir);

    assert.deepEqual(journal.get("web"), entry);
    assert.equal((await readdir(dir)).length, 1);
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
