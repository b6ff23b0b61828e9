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

const note = {
  deployment: "web",
  namespace: "apps",
  release: "web",
  revision: 3,
  rollsBack: false,
};

async function folder(t: TestContext): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), "flotilla-notes-"));
  t.onTestFinished(() => rm(dir, { recursive: true, force: true }));
  return dir;
}

/** The journal as the next agent reads it. */
async function notesOf(dir: string): Promise<RunJournal> {
  const notes = createRunJournal(dir, silentLog());
  await notes.recover();
  return notes;
}

async function sleeper(t: TestContext): Promise<{ child: ChildProcess; pid: number }> {
  const child = spawn("sleep", ["600"], { detached: true, stdio: "ignore" });
  t.onTestFinished(() => void child.kill("SIGKILL"));
  await once(child, "spawn");
  assert.ok(child.pid !== undefined);
  return { child, pid: child.pid };
}

describe("the journal of Helm runs", () => {
  test("is read by the next agent, until the run has ended", async (t) => {
    const dir = await folder(t);
    const notes = await notesOf(dir);
    await notes.begin(note);

    const found = await notesOf(dir);
    assert.deepEqual(found.get("web"), note);
    assert.equal(found.get("shop"), undefined);

    await found.end("web");
    assert.equal((await notesOf(dir)).get("web"), undefined);
    assert.deepEqual(await readdir(dir), []);
  });

  test("creates its directory", async (t) => {
    const notes = await notesOf(join(await folder(t), "deeper", "runs"));

    await notes.begin(note);

    assert.deepEqual(notes.get("web"), note);
  });

  test("makes the next agent kill the process that still runs", async (t) => {
    const dir = await folder(t);
    const { child, pid } = await sleeper(t);
    const notes = await notesOf(dir);
    await notes.begin(note);
    await notes.started("web", pid);
    const ended = once(child, "exit");

    const found = await notesOf(dir);

    assert.deepEqual(await ended, [null, "SIGKILL"]);
    assert.equal(found.get("web")?.revision, 3);
  });

  test("does not kill another process with the same id", async (t) => {
    const dir = await folder(t);
    const { child, pid } = await sleeper(t);
    const notes = await notesOf(dir);
    const process = { pid, startedAt: "earlier" };
    await notes.begin({ ...note, process });

    const found = await notesOf(dir);

    assert.deepEqual(found.get("web")?.process, process);
    assert.notEqual(await startOfProcess(pid), undefined);
    assert.equal(child.exitCode ?? child.signalCode, null);
  });

  test("keeps the entry of an ended process for its lock", async (t) => {
    const dir = await folder(t);
    const { child, pid } = await sleeper(t);
    const notes = await notesOf(dir);
    await notes.begin(note);
    await notes.started("web", pid);
    const ended = once(child, "exit");
    child.kill("SIGKILL");
    await ended;

    assert.equal((await notesOf(dir)).get("web")?.revision, 3);
  });

  test("drops unreadable entries, and no others", async (t) => {
    const dir = await folder(t);
    await (await notesOf(dir)).begin(note);
    await writeFile(join(dir, "broken.json"), "{");
    await writeFile(join(dir, "init.json"), '{"deployment":"x","process":{"pid":1}}');

    const notes = await notesOf(dir);

    assert.deepEqual(notes.get("web"), note);
    assert.equal((await readdir(dir)).length, 1);
  });
});

describe("a process identified by its start time", () => {
  test("is the same one as long as it runs", async (t) => {
    const { pid } = await sleeper(t);
    const startedAt = (await startOfProcess(pid)) ?? "";

    assert.ok(await isSameProcess({ pid, startedAt }));
    assert.ok(!(await isSameProcess({ pid, startedAt: `${startedAt}0` })));
    assert.equal(await startOfProcess(2 ** 30), undefined);
  });
});
