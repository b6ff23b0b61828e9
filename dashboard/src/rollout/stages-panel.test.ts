import assert from "node:assert/strict";
import type { Rollout, RolloutGate, RolloutStageView } from "@flotilla/shared/dashboard";
import type { FleetPlan } from "@flotilla/shared/plan";
import { createElement } from "react";
import { describe, test } from "vitest";
import { app as appOf, cluster, fleet } from "../fleet/testing/index.ts";
import { readPage } from "../testing/read-page.ts";
import { RolloutHistory, StagesPanel, Week } from "./index.ts";

const app = { kind: "HelmOp", namespace: "ns", name: "web" } as const;
const at = "2026-01-01T11:00:00Z";
const none = {
  ...{ total: 0, done: 0, inFlight: 0, failed: 0, pending: 0 },
  ...{ offline: 0, paused: 0, skipped: 0, offSchedule: 0 },
};
const board: RolloutGate = {
  ...{ name: "board", when: "Before", type: "Approval", result: "Waiting", startedAt: at },
  ...{ gate: "web-7-rest-board", uid: "uid", digest: `sha256:${"a".repeat(64)}` },
  ...{ version: "1.4.2", expiresAt: "2026-01-01T14:30:00Z", config: { ticket: "CHG" } },
  clusters: { count: 412, first: ["ns/ber", "ns/cgn"] },
  plan: { groups: 3, changed: 401, unchanged: 6, failing: 1, offline: 4 },
  actions: [
    {
      ...{ action: "approve", allowed: false, reason: "you may not update gates/approve" },
      ...{ effect: "1.4.2 may go to 412 clusters", command: "flotilla approve helmop web" },
    },
  ],
};

function stage(name: string, more: Partial<RolloutStageView> = {}): RolloutStageView {
  return {
    ...{
      name,
      phase: "Pending",
      ...none,
      gates: [],
      failing: [],
      missing: [],
      windows: [],
      ...more,
    },
  };
}

function rollout(more: Partial<Rollout> = {}): Rollout {
  return {
    ...{ name: "web-7", uid: "u", number: 7, version: "1.4.2", phase: "Waiting", ...none },
    ...{ message: "waits for the approval board of stage rest", since: at, stages: [] },
    ...{ total: 500, done: 88, pending: 400, offline: 12, actions: [], ...more },
  };
}

const read = (more: Partial<Rollout>) =>
  readPage(createElement(StagesPanel, { app, rollout: rollout(more) }), {
    fleet: fleet([appOf("web", "Ready")], [cluster("ber", "Ready")]),
  });

describe("the stages of a rollout", () => {
  test("say what is waited for, and since when, and how far it is", () => {
    const { text } = read({ next: { version: "1.4.3", since: at } });

    assert.match(text, /Stages Waiting ?web-7, version 1\.4\.2, 88 of 500 clusters done, /);
    assert.match(text, /waits for the approval board of stage rest since 1h/);
    assert.match(text, /1\.4\.3 waits for its end, since 1h\./);
  });

  test("have their numbers and gates, in order", () => {
    const passed: RolloutGate = {
      ...{ name: "soak", when: "After", type: "Soak", result: "Passed", startedAt: at },
      ...{ decision: { result: "Passed", by: "", verified: true, at }, actions: [] },
    };
    const later: RolloutGate = {
      ...{ name: "smoke", when: "After", type: "External", result: "Waiting", actions: [] },
    };
    const { text } = read({
      stages: [
        stage("canary", { phase: "Completed", total: 2, done: 2, gates: [passed] }),
        stage("rest", { phase: "Gated", total: 9, failed: 1, pending: 8, gates: [board, later] }),
      ],
    });

    assert.match(
      text,
      /canary Completed ?2 of 2 clusters done soak ?Soak, passed ?1h ago board ?Approval, waiting 1h/,
    );
    assert.match(
      text,
      /rest At its gate ?0 of 9 clusters done, 1 failed, 8 pending smoke ?External/,
    );
    assert.match(text, /its turn comes later/);
  });

  test("have what a decision is about, in numbers, and name the clusters", () => {
    const { text, links, buttons } = read({ stages: [stage("rest", { gates: [board] })] });

    assert.match(text, /board: May 1\.4\.2 go to 412 clusters\?/);
    assert.match(text, /412 clusters ber, cgn and 410 more/);
    assert.match(
      text,
      /Plan 3 groups of changes in 401 clusters, none in 6, would fail in 1, 4 co/,
    );
    assert.match(text, /ticket CHG Digest sha256:a+…/);
    assert.match(text, /Fails without a decision in 2h/);
    assert.equal(links["ber"], "/clusters/ns/ber/releases/HelmOp/ns/web");
    assert.ok(buttons.includes("Approve"));
  });

  test("show of a plan which groups of clusters change, and how, object by object", () => {
    const plan: FleetPlan = {
      total: 412,
      groups: [
        {
          ...{ result: "changes", counts: { create: 1, update: 2, replace: 0, delete: 0 } },
          clusters: { count: 400, first: ["ns/ber", "ns/cgn"] },
          ...{ diffs: 1, remarks: [], hooks: 0, failures: 0 },
          text: "# Secret shop/db: update\n-*** (live)\n+*** (desired)\n# Service shop/web: create\n+kind: Service\n",
        },
        {
          ...{ result: "fails", counts: { create: 0, update: 0, replace: 0, delete: 0 } },
          clusters: { count: 1, first: ["ns/dus"] },
          ...{ diffs: 2, remarks: [], hooks: 0, failures: 1, message: "field is immutable" },
        },
      ],
      ...{ others: { groups: 1, clusters: 2 }, unchanged: { count: 6, first: ["ns/ess"] } },
      unknown: [
        {
          ...{ reason: "Offline", message: "its agent is offline" },
          clusters: { count: 4, first: ["ns/fra"] },
        },
      ],
      notAsked: 0,
    };
    const { text, links } = readPage(
      createElement(StagesPanel, {
        app,
        rollout: rollout({ stages: [stage("rest", { gates: [board] })] }),
      }),
      {
        fleet: fleet([appOf("web", "Ready")], [cluster("ber", "Ready")]),
        details: { "/api/v1/apps/HelmOp/ns/web/gates/web-7-rest-board/plan": plan },
      },
    );

    assert.match(
      text,
      /Changes \(1 to create, 2 to update\) in 400 clusters: ber, cgn and 398 more/,
    );
    assert.match(text, /Secret shop\/db: update-\*\*\* \(live\) \+\*\*\* \(desired\)/);
    assert.match(text, /Service shop\/web: create\+kind: Service/);
    assert.match(text, /Would fail at 1 object in 1 cluster: dus \(2 different diffs .* field is/);
    assert.match(text, /1 group more in 2 clusters/);
    assert.match(text, /Nothing would change in 6 clusters: ess and 5 more/);
    assert.match(text, /Not known for 4 clusters: fra and 3 more: its agent is offline/);
    assert.equal(links["ber"], "/clusters/ns/ber/releases/HelmOp/ns/web");
  });

  test("name the clusters that fail and those that are missing, each with a link", () => {
    const { text, links } = read({
      stages: [
        stage("rest", {
          failed: 12,
          failing: [{ cluster: "ns/ber", message: "2 pods crash", since: at }],
          missing: [{ cluster: "ns/cgn", why: "offline" }],
        }),
      ],
      unassigned: { count: 2, first: ["ns/x", "ns/y"] },
      kept: { count: 1, first: ["ns/z"] },
    });

    assert.match(text, /12 clusters failing ber in rest, since 1h: 2 pods crash and 2 more/);
    assert.match(text, /Missing cgn in rest, offline/);
    assert.match(text, /2 clusters in no stage: x, y/);
    assert.match(text, /1 cluster had nothing before and keeps the revision: z/);
    // It has no release yet.
    assert.equal(links["cgn"], "/clusters/ns/cgn");
  });
});

test("the history says how each rollout ended and who decided what", () => {
  const by = { result: "Passed", by: "alice", verified: false, at, message: "CHG-1" } as const;
  const { text } = readPage(
    createElement(RolloutHistory, {
      records: [
        {
          ...{ name: "web-6", number: 6, version: "1.4.1", phase: "RolledBack", done: 3, total: 9 },
          ...{ message: "clusters have got back", startedAt: at, endedAt: at },
          decisions: [{ ...by, stage: "rest", gate: "board" }],
        },
      ],
    }),
  );

  assert.match(text, /6: 1\.4\.1, Rolled back ?started 1h ago, ended 1h ago 3 of 9 done; clusters/);
  assert.match(text, /board of rest: passed by alice \(not verified\), 1h ago: CHG-1/);
});

test("windows say in words whether they are open, and what is wrong with them", () => {
  const nights = {
    ...{ name: "nights", schedule: true, deny: false, expression: "0 0 22 * * ?", duration: "4h" },
    ...{ location: "UTC", isOpen: false, changesAt: "2026-01-01T22:30:00Z", isCut: false },
    ...{ spans: [], clusters: { count: 12, first: ["ber"] } },
  };
  const wrong = { ...nights, name: "wrong", problem: "the duration is missing" };
  const { text } = readPage(createElement(Week, { windows: [nights, wrong] }));

  assert.match(text, /nights0 0 22 \* \* \?, for 4h, UTCClosed, opens in 10h/);
  assert.match(text, /For 12 clusters: ber, …/);
  assert.match(text, /Never open: the duration is missing/);
});
