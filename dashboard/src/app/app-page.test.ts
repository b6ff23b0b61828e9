import assert from "node:assert/strict";
import type {
  App,
  AppDetail,
  ResponseOf,
  Rollout,
  RolloutRecord,
} from "@flotilla/shared/dashboard";
import { createElement } from "react";
import { describe, test } from "vitest";
import { app, fleet } from "../fleet/testing/index.ts";
import { readPage } from "../testing/read-page.ts";
import { AppPage } from "./app-page.tsx";

const ref = { kind: "HelmOp", namespace: "ns", name: "web" } as const;
const path = "/api/v1/apps/HelmOp/ns/web";

interface Staged {
  readonly inFleet?: App;
  readonly rollouts?: ResponseOf<"rollouts">;
}

function page(
  state: AppDetail["state"],
  more: Partial<AppDetail> = {},
  { inFleet = app("web", state), rollouts }: Staged = {},
) {
  const detail: AppDetail = {
    ...inFleet,
    charts: [{ repo: "https://charts.example.com", chart: "web", constraint: "~1.2" }],
    polling: { failures: 0 },
    actions: [],
    conditions: [],
    events: [],
    yaml: "kind: HelmOp",
    ...more,
  };
  return readPage(createElement(AppPage, ref), {
    // Without clusters there is no map, and without targets no table: only a browser draws them.
    fleet: fleet([inFleet], []),
    details: { [path]: detail, [`${path}/rollouts`]: rollouts },
  });
}

describe("the page of an app", () => {
  test("says on how many clusters it is ready, and why it is not on the others", () => {
    const { text } = page("NotReady", { ready: 1, message: "2 pods crash" });

    assert.match(text, /HelmOp web Not ready ?ready on 1 of 2 clusters/);
    assert.match(text, /2 pods crash/);
  });

  test("names clusters instead of the message where it knows some", () => {
    const examples = [
      { cluster: "ns/paris", state: "NotReady", message: "image not found" } as const,
    ];
    const { text } = page("NotReady", { message: "2 pods crash", examples });

    assert.match(text, /paris: image not found and 1 more/);
    assert.doesNotMatch(text, /2 pods crash/);
  });

  test("has no message of an app that is ready", () => {
    assert.doesNotMatch(page("Ready", { message: "an old one" }).text, /an old one/);
  });

  test("has what the clusters have answered to a request, as a sentence or a list", () => {
    assert.match(page("Ready", { lastRequest: ["done"] }).text, /Last request: done\./);
    assert.match(page("Ready", { lastRequest: ["a", "b"] }).text, /Last request: a b /);
    assert.doesNotMatch(page("Ready").text, /Last request/);
  });

  const repo = "https://charts.example.com";
  const charts: readonly (readonly [what: string, Partial<AppDetail>, RegExp])[] = [
    ["not resolved", {}, /Chart web from \S+ Constraint ~1\.2 Resolved to not resolved yet/],
    [
      "the newest version of an address",
      { charts: [{ repo: `${repo}/web.tgz`, chart: "", constraint: "", version: "1.2.3" }] },
      /Chart https:\S+web\.tgz Constraint the newest version Resolved to 1\.2\.3/,
    ],
    [
      "polled without success",
      { polling: { failures: 3, interval: "1m", last: "2026-01-01T11:59:00Z", error: "404" } },
      /Polled every 1m Last poll .*failed: 404/,
    ],
    [
      "polled again after failures",
      { polling: { failures: 3, next: "2026-01-01T12:01:00Z" } },
      /Next poll .*after 3 failures/,
    ],
  ];
  for (const [what, more, expected] of charts)
    test(`says of a chart that it is ${what}`, () => {
      assert.match(page("Ready", more).text, expected);
    });

  test("has the stages of its rollout and the history, where it has staged rollouts", () => {
    const inFleet = { ...app("web", "Ready"), isStaged: true };
    const counts = {
      ...{ total: 2, done: 1, inFlight: 1, failed: 0, pending: 0 },
      ...{ offline: 0, paused: 0, skipped: 0, offSchedule: 0 },
    };
    const current: Rollout = {
      ...{ name: "web-7", uid: "u", number: 7, phase: "Progressing", message: "1 in flight" },
      ...{ ...counts, stages: [], actions: [] },
    };
    const record: RolloutRecord = {
      ...{ name: "web-6", number: 6, phase: "Completed", message: "" },
      ...{ done: 1, total: 2, decisions: [] },
    };
    const { text } = page("Ready", {}, { inFleet, rollouts: { current, history: [record] } });

    assert.match(text, /Stages In progress ?web-7, 1 of 2 clusters done, 1 in flight 1 in flight/);
    assert.match(text, /Staged rollouts 6, Completed ?1 of 2 done/);
    assert.doesNotMatch(page("Ready").text, /Stages/);
  });

  test("has a button for each action", () => {
    const actions = [
      { action: "poll", allowed: true, command: "flotilla poll web" },
      { action: "suspend", allowed: false, reason: "you may not", command: "flotilla suspend" },
    ] as const;
    const { buttons, text } = page("Ready", { actions: [...actions] });

    assert.deepEqual(buttons.slice(0, 2), ["Poll now", "Suspend"]);
    assert.doesNotMatch(text, /flotilla poll web/);
  });
});
