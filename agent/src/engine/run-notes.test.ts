import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { silentLog } from "@flotilla/shared/log/log.ts";
import { describe, type TestContext, test } from "vitest";
import { isSameProcess, startOfProcess } from "./process-start.ts";
import { createRunNotes, type RunNotes } from "./run-notes.ts";

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

/** The notes as an agent finds them that starts now. */
async function notesOf(dir: string): Promise<RunNotes> {
  const notes = createRunNotes(dir, silentLog());
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

describe("notes of the runs under way", () => {
  test("are found by the next agent, until the run ended", async (t) => {
    const dir = await folder(t);
    const notes = await notesOf(dir);
    await notes.begin(note);

    const found = await notesOf(dir);
    assert.deepEqual(found.of("web"), note);
    assert.equal(found.of("shop"), undefined);

    await found.end("web");
    assert.equal((await notesOf(dir)).of("web"), undefined);
    assert.deepEqual(await readdir(dir), []);
  });

  test("make their folder", async (t) => {
    const notes = await notesOf(join(await folder(t), "deeper", "runs"));

    await notes.begin(note);

    assert.deepEqual(notes.of("web"), note);
  });

  test("have the next agent end the process that still runs", async (t) => {
    const dir = await folder(t);
    const { child, pid } = await sleeper(t);
    const notes = await notesOf(dir);
    await notes.begin(note);
    await notes.started("web", pid);
    const ended = once(child, "exit");

    const found = await notesOf(dir);

    assert.deepEqual(await ended, [null, "SIGKILL"]);
    assert.equal(found.of("web")?.revision, 3);
  });

  test("leave another process alone that has got the same id", async (t) => {
    const dir = await folder(t);
    const { child, pid } = await sleeper(t);
    const notes = await notesOf(dir);
    const process = { pid, startedAt: "earlier" };
    await notes.begin({ ...note, process });

    const found = await notesOf(dir);

    assert.deepEqual(found.of("web")?.process, process);
    assert.notEqual(await startOfProcess(pid), undefined);
    assert.equal(child.exitCode ?? child.signalCode, null);
  });

  test("of a process that is gone are kept for its lock", async (t) => {
    const dir = await folder(t);
    const { child, pid } = await sleeper(t);
    const notes = await notesOf(dir);
    await notes.begin(note);
    await notes.started("web", pid);
    const ended = once(child, "exit");
    child.kill("SIGKILL");
    await ended;

    assert.equal((await notesOf(dir)).of("web")?.revision, 3);
  });

  test("that cannot be read are dropped, and the others are not", async (t) => {
    const dir = await folder(t);
    await (await notesOf(dir)).begin(note);
    await writeFile(join(dir, "broken.json"), "{");
    await writeFile(join(dir, "init.json"), '{"deployment":"x","process":{"pid":1}}');

    const notes = await notesOf(dir);

    assert.deepEqual(notes.of("web"), note);
    assert.equal((await readdir(dir)).length, 1);
  });
});

describe("a process by its start", () => {
  test("is the same one as long as it lives", async (t) => {
    const { pid } = await sleeper(t);
    const startedAt = (await startOfProcess(pid)) ?? "";

    assert.ok(await isSameProcess({ pid, startedAt }));
    assert.ok(!(await isSameProcess({ pid, startedAt: `${startedAt}0` })));
    assert.equal(await startOfProcess(2 ** 30), undefined);
  });
});
