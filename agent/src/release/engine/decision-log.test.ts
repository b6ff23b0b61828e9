import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { DecisionLog, type ReleaseDecision } from "./decision-log.ts";
import { createLoggedDecisions } from "./testing/index.ts";

const owner = { id: "web", name: "web", uid: "u" };
const release = { namespace: "shop", name: "app" };

const upgrade: ReleaseDecision = {
  ...{ state: "outOfSync", reasons: ["ChartChanged", "ValuesChanged"], action: "upgrade" },
};
const blocked = (...waitsFor: readonly string[]): ReleaseDecision => ({
  ...{ state: "absent", reasons: ["NotInstalled"], action: "blocked", waitsFor },
});
const inSync: ReleaseDecision = { state: "inSync", reasons: [], action: "none" };
const stop: ReleaseDecision = { state: "failed", reasons: ["ReleaseFailed"], action: "stop" };

const shownUpgrade = "info outOfSync (ChartChanged, ValuesChanged): upgrade";
const shownBlocked = "absent (NotInstalled): blocked by db";

describe("a decision", () => {
  const rows: readonly (readonly [
    what: string,
    decisions: readonly ReleaseDecision[],
    lines: readonly string[],
  ])[] = [
    [
      "that changes a release is logged each time, because each is an attempt",
      [upgrade, upgrade],
      [shownUpgrade, shownUpgrade],
    ],
    [
      "that changes nothing is only a detail",
      [inSync, inSync],
      ["debug inSync: none", "debug inSync: none"],
    ],
    [
      "that prevents a change is logged once, and then only as a detail",
      [blocked("db"), blocked("db"), blocked("db")],
      [`info ${shownBlocked}`, `debug ${shownBlocked}`, `debug ${shownBlocked}`],
    ],
    [
      "that prevents a change is logged again when it waits for others",
      [blocked("db", "cache"), blocked("db")],
      [`info absent (NotInstalled): blocked by db, cache`, `info ${shownBlocked}`],
    ],
    [
      "that prevents a change is logged again after another decision",
      [stop, upgrade, stop],
      ["info failed (ReleaseFailed): stop", shownUpgrade, "info failed (ReleaseFailed): stop"],
    ],
  ];
  for (const [what, decisions, lines] of rows)
    test(what, () => {
      const logged = createLoggedDecisions();
      const log = new DecisionLog(logged.log);

      for (const decision of decisions) log.decided(owner, release, decision);

      assert.deepEqual(logged.lines, lines);
    });

  test("about one release does not hide that about another one", () => {
    const logged = createLoggedDecisions();
    const log = new DecisionLog(logged.log);

    log.decided(owner, release, stop);
    log.decided({ ...owner, id: "api", name: "api" }, release, stop);

    assert.deepEqual(logged.decisions.length, 2);
    assert.ok(logged.lines.every((line) => line.startsWith("info")));
  });

  test("about a release that was withdrawn is new", () => {
    const logged = createLoggedDecisions();
    const log = new DecisionLog(logged.log);
    log.decided(owner, release, stop);

    log.forget("web");
    log.decided(owner, release, stop);

    assert.ok(logged.lines.every((line) => line.startsWith("info")));
  });
});
