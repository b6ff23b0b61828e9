import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { AppError } from "@flotilla/shared/errors";
import { test } from "vitest";
import { testDir } from "../testing/index.ts";
import { endProcess, waitUntilEnded } from "./end-process.ts";
import { identityOf, isAlive } from "./identity.ts";
import { exitError } from "./process-errors.ts";
import { startReaper } from "./reaper.ts";
import { type ProcessSpec, startProcess } from "./start-process.ts";

const sleeper = { name: "sleeper", command: "/bin/sleep", args: ["60"], layer: 0 };

function script(code: string): Pick<ProcessSpec, "name" | "command" | "args" | "layer"> {
  return { name: "script", command: process.execPath, args: ["-e", code], layer: 0 };
}

test("stop ends a process with SIGTERM, and a second stop does nothing", async (t) => {
  const running = await startProcess({ ...sleeper, logFile: join(await testDir(t), "log") });
  assert.equal(await isAlive(running.identity), true);

  await running.stop();
  await running.stop();

  assert.deepEqual(await running.exited, { code: null, signal: "SIGTERM" });
  assert.equal(await isAlive(running.identity), false);
});

test("ends a process that was stopped without waiting for the grace period", async (t) => {
  const running = await startProcess({ ...sleeper, logFile: join(await testDir(t), "log") });
  process.kill(running.identity.pid, "SIGSTOP");

  assert.equal(await endProcess(running.identity, { graceMs: 60_000 }), "ended");
});

test("kills a process that ignores SIGTERM after the grace period, with its children", async (t) => {
  const ignoring = `
    process.on("SIGTERM", () => {});
    const child = require("child_process").spawn("/bin/sleep", ["60"], { stdio: "ignore" });
    child.once("spawn", () => console.log(child.pid));
  `;
  const leader = spawn(process.execPath, ["-e", ignoring], {
    detached: true,
    stdio: ["ignore", "pipe", "ignore"],
  });
  t.onTestFinished(() => void leader.kill("SIGKILL"));
  const [printed] = await once(leader.stdout, "data");
  const child = await identityOf(Number(printed));
  const identity = await identityOf(leader.pid ?? 0);
  assert.ok(identity !== undefined && child !== undefined);

  assert.equal(await endProcess(identity, { graceMs: 50 }), "killed");
  assert.equal(await waitUntilEnded(child, 5_000), true);
});

test("does not end a process that reuses a recorded pid", async (t) => {
  const other = await startProcess({ ...sleeper, logFile: join(await testDir(t), "log") });
  t.onTestFinished(() => other.stop());
  const recorded = { pid: other.identity.pid, startedAt: "another-boot:1" };

  assert.equal(await endProcess(recorded), "not-running");
  assert.equal(await isAlive(other.identity), true);
});

test("the identity of a process is stable while it runs, and undefined afterwards", async (t) => {
  const running = await startProcess({ ...sleeper, logFile: join(await testDir(t), "log") });

  assert.deepEqual(await identityOf(running.identity.pid), running.identity);
  await running.stop();
  assert.equal(await identityOf(running.identity.pid), undefined);
});

test("the error of an early exit has the last lines of the log and says by its code that the port was taken", async (t) => {
  const running = await startProcess({
    ...script('console.error("listen: address already in use"); process.exit(3)'),
    logFile: join(await testDir(t), "log"),
  });
  await running.exited;

  const error = await exitError(running);

  assert.match(
    error.message,
    /^script exited with code 3; its log .* ends with:\nlisten: address already in use$/,
  );
  assert.equal(error.code, "PORT_IN_USE");
});

test("the error of a missing program names it", async (t) => {
  const logFile = join(await testDir(t), "log");
  await assert.rejects(
    startProcess({ name: "etcd of hub", command: "/nowhere/etcd", args: [], layer: 0, logFile }),
    (error) => {
      assert.ok(error instanceof AppError);
      assert.match(error.message, /^start etcd of hub \(\/nowhere\/etcd\): .*ENOENT/);
      return true;
    },
  );
});

test("a process inherits no environment variables", async (t) => {
  const logFile = join(await testDir(t), "log");
  const running = await startProcess({
    ...script("process.exit(Object.keys(process.env).length)"),
    env: { ONE: "1" },
    logFile,
  });

  assert.deepEqual(await running.exited, { code: 1, signal: null });
});

test("the reaper ends watched processes when its parent is killed", async (t) => {
  const running = await startProcess({ ...sleeper, logFile: join(await testDir(t), "log") });
  t.onTestFinished(() => running.stop());
  const program = `
    const { startReaper } = await import(${JSON.stringify(new URL("./reaper.ts", import.meta.url).href)});
    startReaper().watch(${JSON.stringify(running.record)});
    process.kill(process.pid, "SIGKILL");
  `;
  const child = spawn(process.execPath, ["--input-type=module", "-e", program], {
    stdio: "ignore",
  });
  await once(child, "exit");

  assert.equal(await waitUntilEnded(running.identity, 10_000), true);
});

test("a released reaper ends no process", async (t) => {
  const running = await startProcess({ ...sleeper, logFile: join(await testDir(t), "log") });
  t.onTestFinished(() => running.stop());
  const reaper = startReaper();
  reaper.watch(running.record);

  await reaper.release();

  assert.equal(await isAlive(running.identity), true);
});
