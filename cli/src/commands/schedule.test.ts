import assert from "node:assert/strict";
import { bundles, clusters, type RolloutStrategy, schedules } from "@flotilla/shared/api";
import { bundleRollouts } from "@flotilla/shared/api/rollout";
import { KubeStatusError } from "@flotilla/shared/kube/client";
import { createMemoryApiServer, type MemoryApiServer } from "@flotilla/shared/kube/testing";
import { zoneOf } from "@flotilla/shared/quartz";
import { describe, test } from "vitest";
import { aRollout } from "../rollout/testing/index.ts";
import { nextText } from "./schedule.ts";

const namespace = "fleet-default";
const at = { nowMs: Date.parse("2026-03-28T12:00:00Z"), here: zoneOf("UTC"), count: 1 };
const withWindows: RolloutStrategy = {
  stages: [
    { name: "canary", clusterName: "ams" },
    { name: "rest", windows: [{ schedule: "nights" }] },
  ],
};

/** The Clusters paris and ams, the Schedule nights for none of them, and a rollout that progresses. */
function start(rolloutStrategy: RolloutStrategy = {}): MemoryApiServer {
  const rest = createMemoryApiServer();
  for (const name of ["paris", "ams"])
    rest.put(clusters, { metadata: { namespace, name }, spec: {} });
  const spec = { schedule: "0 0 22 * * ?", duration: "4h", targets: { clusters: [] } };
  rest.put(schedules, { metadata: { namespace, name: "nights" }, spec });
  const targets = [{ clusterSelector: {} }];
  rest.put(bundles, { metadata: { namespace, name: "web" }, spec: { targets, rolloutStrategy } });
  rest.put(bundleRollouts, aRollout({}));
  return rest;
}

describe("the windows of a cluster are shown", () => {
  for (const words of [["paris"], ["cluster/paris"], ["clusters.fleet.cattle.io", "paris"]])
    test(`for ${words.join(" ")}`, async () => {
      const text = await nextText(start(), words, { namespace, at });

      assert.match(text, /^cluster {4}fleet-default\/paris\nnow {8}open: no Schedule is for it/);
    });
});

test("a name alone means a Schedule where there is one", async () => {
  const rest = start();
  rest.put(clusters, { metadata: { namespace, name: "nights" }, spec: {} });

  assert.match(await nextText(rest, ["nights"], { namespace, at }), /^SCHEDULE /);
});

test("what does not exist is named with its kind", async () => {
  const next = (word: string) => nextText(start(), [word], { namespace, at });

  await assert.rejects(next("schedule/paris"), {
    code: "OBJECT_NOT_FOUND",
    message: /^read Schedule fleet-default\/paris: not found/,
  });
  await assert.rejects(next("gone"), {
    code: "CLUSTER_NOT_FOUND",
    message: /^read Cluster fleet-default\/gone: not found/,
  });
});

test("windows of a stage are shown for the clusters that it takes", async () => {
  const rest = start(withWindows);

  const line = /^rollout {4}web-7, stage rest: closed: of nights none is active; opens at /m;
  assert.match(await nextText(rest, ["paris"], { namespace, at }), line);
  assert.doesNotMatch(await nextText(rest, ["ams"], { namespace, at }), /^rollout/m);
});

test("a rollout that has ended has no windows", async () => {
  const rest = start(withWindows);
  rest.put(bundleRollouts, aRollout({ status: { phase: "Completed" } }));

  assert.doesNotMatch(await nextText(rest, ["paris"], { namespace, at }), /^rollout/m);
});

test("who may not read what is rolled out sees the Schedules", async () => {
  const rest = start(withWindows);
  rest.beforeRead = (read) => {
    if (read.startsWith("bundles"))
      throw new KubeStatusError("forbidden", { status: 403, reason: "Forbidden" });
  };

  assert.match(
    await nextText(rest, ["paris"], { namespace, at }),
    /^rollout {4}you may not read which stages take it$/m,
  );
});
