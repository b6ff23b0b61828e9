/** The output of `flotilla` when no fleet runs, and for invalid input. */
import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { openJournal } from "@flotilla/local/process";
import { fleetPaths, writeFleetState } from "@flotilla/local/state";
import { allCrds } from "@flotilla/shared/api/crd";
import { gateDecisionObjects } from "@flotilla/shared/api/rollout/admission";
import { rolloutCrds } from "@flotilla/shared/api/rollout/crd";
import { afterAll, describe, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { commandsIn } from "../harness/flotilla-command.ts";

const flotilla = await commandsIn({ onTestFinished: afterAll });

describe("when no fleet runs", () => {
  test("status as JSON ends with 1 and names no kubeconfig", async () => {
    const { code, stdout } = await flotilla.run("status", "-o", "json");

    const shown = JSON.parse(stdout) as Record<string, unknown>;
    assert.equal(code, 1);
    assert.deepEqual(Object.keys(shown), ["error"]);
  });

  test("commands that need one print how to start it", async () => {
    for (const args of [
      ["status"],
      ["kubectl", "get", "pods"],
      ["charts", "publish", "."],
      ["reconcile", "helmop", "web"],
      ["schedule", "next"],
      ["schedule", "check", "nights"],
      ["rotate-authority"],
    ]) {
      const { code, stdout, stderr } = await flotilla.run(...args);

      assert.equal(code, 1, args.join(" "));
      assert.equal(stdout, "");
      assert.match(
        stderr,
        /^flotilla: no fleet is running in \S+; start one with `flotilla up`\n$/,
      );
    }
  });

  test("expressions of schedules are checked, and what is wrong with one ends with 1", async () => {
    const right = await flotilla.run("schedule", "check", "0 0 0 1 1 ? 2999", "--duration", "1h");
    assert.equal(right.code, 0, right.stderr);
    assert.match(
      right.stdout,
      /^2999-01-01T00:00:00\+00:00 +2999-01-01T00:00:00Z +2999-01-01T01:/m,
    );

    const wrong = await flotilla.run("schedule", "check", "0 0 25 * * ?");
    assert.equal(wrong.code, 1);
    assert.equal(wrong.stderr, "flotilla: the hour 25 is not between 0 and 23\n");
  });

  test("down does nothing", async () => {
    assert.deepEqual(await flotilla.run("down"), {
      code: 0,
      stdout: "No fleet is running.\n",
      stderr: "",
    });
  });
});

test("a fleet whose processes have ended is not running, even when their ids are reused", async (t) => {
  const stale = await commandsIn(t);
  const paths = fleetPaths(stale.dir);
  const foreign = {
    name: "hub",
    pid: process.pid,
    startedAt: "another boot:1",
    logFile: "/nowhere",
    layer: 0,
  };
  await writeFleetState(paths, {
    version: 1,
    provider: "embedded",
    startedAt: "2026-01-01T00:00:00Z",
    kubeconfig: "/nowhere",
    clusters: [],
    addresses: {},
    processes: [foreign],
  });
  openJournal(paths.journal).watch(foreign);

  const status = await stale.run("status", "-o", "json");
  const down = await stale.run("down");

  assert.equal(status.code, 1);
  assert.match(status.stdout, /is no longer running/);
  assert.doesNotMatch(status.stdout, /kubeconfig/);
  assert.equal(down.stdout, "No fleet is running.\n");
});

describe("invalid input is reported in one line with code 1:", () => {
  const cases: readonly (readonly [string, readonly string[], RegExp])[] = [
    ["an unknown command", ["upp"], /^error: unknown command 'upp'\n\(Did you mean up\?\)/],
    ["an unknown flag", ["up", "--cluster=2"], /^error: unknown option '--cluster=2'/],
    ["too many clusters", ["up", "--clusters=1000"], /expected a whole number from 1 to 50/],
    [
      "a time that is none",
      ["reconcile", "helmop", "web", "--timeout=soon"],
      /expected a duration such as 90s/,
    ],
    ["an unknown provider", ["up", "--provider=minikube"], /Allowed choices are embedded, kind/],
  ];
  for (const [what, args, message] of cases) {
    test(what, async () => {
      const { code, stdout, stderr } = await flotilla.run(...args);

      assert.equal(code, 1);
      assert.equal(stdout, "");
      assert.match(stderr, message);
    });
  }

  test("a folder that cannot be created", async (t) => {
    const blocked = await commandsIn(t);
    await writeFile(blocked.dir, "");

    const { code, stderr } = await blocked.run("up", "--detach");

    assert.equal(code, 1);
    assert.match(stderr, /^flotilla: [^\n]*fleet[^\n]*\n$/);
    assert.doesNotMatch(stderr, /at \w+ \(/);
  });

  test("kind without a Docker engine, with an alternative", async (t) => {
    const kind = await commandsIn(t);
    await mkdir(kind.dir);

    const { code, stderr } = await kind.run("up", "--detach", "--provider", "kind");

    if (code === 0) return t.skip("a Docker engine answers here");
    assert.equal(code, 1);
    assert.match(
      stderr,
      /^flotilla: create clusters with kind: [^\n]*; use --provider embedded, which needs no Docker\n$/,
    );
  });
});

test("crds prints every kind as YAML, and who may decide about Gates", async () => {
  const { code, stdout } = await flotilla.run("crds");

  const printed: unknown[] = parseAllDocuments(stdout).map((document) => document.toJS());
  assert.equal(code, 0);
  const { policy, binding } = gateDecisionObjects;
  const expected = [...allCrds(), ...rolloutCrds(), policy, binding];
  assert.deepEqual(printed, JSON.parse(JSON.stringify(expected)));
});

test("a reader that ends before the output does is not an error", async () => {
  const reading = flotilla.start("crds");
  reading.child.stdout?.destroy();

  const { code, stderr } = await reading.ended;

  // As a program that SIGPIPE ends.
  assert.deepEqual([code, stderr], [141, ""]);
});
