import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { aBundle, aCluster, aDeployment, aSchedule, workspace } from "../../testing/index.ts";
import {
  all,
  aRollout,
  at,
  board,
  canary,
  content,
  gate,
  message,
  nowMs,
  ref,
  rest,
  setUp,
  setUpMapped,
  strategy,
} from "./testing/staged-app.ts";

describe("the staged rollout of an app", () => {
  test("has the sentence of its status, its stages, and the gates that are still to come", () => {
    const { current } = setUp().details.rollouts(ref, all, nowMs) ?? {};

    assert.deepEqual(
      [current?.name, current?.version, current?.phase, current?.message, current?.since],
      ["web-7", "1.0.7", "Waiting", message, at],
    );
    const gates = current?.stages.map(({ name, gates }) => [
      name,
      gates.map((each) => [each.name, each.when, each.type, each.result, each.startedAt]),
    ]);
    assert.deepEqual(gates, [
      ["canary", [["soak", "After", "Soak", "Passed", at]]],
      [
        "rest",
        [
          ["board", "Before", "Approval", "Waiting", at],
          ["smoke", "After", "External", "Waiting", undefined],
        ],
      ],
    ]);
  });

  test("has what a decision is about, cut, for those who may see Gates", () => {
    const { details } = setUp();
    const boardFor = (gates: boolean) =>
      details.rollouts(ref, { ...all, gates }, nowMs)?.current?.stages[1]?.gates[0];

    const seen = boardFor(true);
    const { clusters, config } = seen ?? {};
    assert.deepEqual(clusters, { count: 3, first: [`${workspace}/ber`] });
    assert.equal(config?.["ticket"]?.length, 200);
    assert.deepEqual([boardFor(false)?.clusters, boardFor(false)?.config], [undefined, undefined]);
  });

  test("shows nothing of a Gate that somebody else has made under its name", () => {
    const { details, gates } = setUp();
    gates.saw({ ...gate, metadata: { ...gate.metadata, uid: "uid-other" } });

    const shown = details.rollouts(ref, all, nowMs)?.current?.stages[1]?.gates[0];
    assert.equal(shown?.clusters, undefined);
  });

  test("names the clusters that a stage goes on without, and why", () => {
    const { current } = setUp().details.rollouts(ref, all, nowMs) ?? {};
    const [first, second] = current?.stages ?? [];

    assert.deepEqual(second?.missing, [
      { cluster: `${workspace}/cgn`, why: "offline" },
      { cluster: `${workspace}/dus`, why: "offSchedule" },
    ]);
    assert.deepEqual(first?.missing, []);
  });

  test("has the stages of the RolloutPolicy that its Bundle names", () => {
    const { details, bundles, rolloutPolicies } = setUp();
    const targets = [{ clusterSelector: {} }];
    bundles.saw(aBundle({ targets, rolloutStrategy: { policy: "careful" } }));
    rolloutPolicies.saw({
      metadata: { namespace: workspace, name: "careful" },
      spec: strategy,
    });

    const { current } = details.rollouts(ref, all, nowMs) ?? {};
    const [, second] = current?.stages ?? [];

    const { gates = [], missing = [] } = second ?? {};
    assert.deepEqual(
      [gates.map(({ name }) => name), missing.map(({ cluster }) => cluster)],
      [
        ["board", "smoke"],
        [`${workspace}/cgn`, `${workspace}/dus`],
      ],
    );
  });

  test("names clusters of the namespaces that mappings add", () => {
    const { details } = setUpMapped();

    const { current } = details.rollouts(ref, all, nowMs) ?? {};

    assert.deepEqual(
      current?.stages[1]?.missing.map(({ cluster }) => cluster),
      [`${workspace}/cgn`, `${workspace}/dus`, "team-a/par"],
    );
  });

  test("names clusters that have nothing of it yet, too", () => {
    const { details, clusters } = setUp();
    clusters.saw(aCluster("ein", { metadata: { labels: {} } }));

    const { current } = details.rollouts(ref, all, nowMs) ?? {};
    assert.deepEqual(
      current?.stages[1]?.missing.map(({ cluster }) => cluster),
      [`${workspace}/cgn`, `${workspace}/dus`, `${workspace}/ein`],
    );
  });

  test("has the windows that clusters of a stage wait for, for those who may see Schedules", () => {
    const { details, schedules } = setUp();
    schedules.saw(aSchedule("nights", { targets: { clusters: [{ clusterName: "dus" }] } }));
    schedules.saw(aSchedule("others", { targets: { clusters: [{ clusterName: "ams" }] } }));
    const windows = (seen: boolean) =>
      details
        .rollouts(ref, { ...all, schedules: seen }, nowMs)
        ?.current?.stages[1]?.windows.map(({ name, isOpen, changesAt }) => [
          name,
          isOpen,
          changesAt?.slice(0, 16),
        ]);

    assert.deepEqual(windows(true), [["nights", false, "2026-01-01T22:00"]]);
    assert.deepEqual(windows(false), []);
  });

  test("counts the clusters that a rollback gives back what they had", () => {
    const { details, deployments } = setUp();
    const promotion = { rollout: "web-7", at, from: "", wasReady: false };
    const metadata = { resourceVersion: "2" };
    deployments.saw(aDeployment("ber", { metadata, spec: { deploymentID: content, promotion } }));

    assert.deepEqual(details.rollouts(ref, all, nowMs)?.counts, { back: 1, kept: 1 });
  });

  test("has the rollouts before it with who decided what, the newest first", () => {
    const by = { result: "Passed", by: "alice", verified: true, at, message: "CHG-1" } as const;
    const decided = {
      ...board,
      result: "Passed",
      decision: { ...by, digest: "sha256:b" },
    } as const;
    const stages = [canary, { ...rest, gates: [decided] }];
    const other = aRollout(9);
    const foreign = { ...other, spec: { ...other.spec, bundle: { name: "web", uid: "uid-else" } } };
    const { details } = setUp([aRollout(6, { phase: "Completed", stages }), aRollout(7), foreign]);

    const history = details.rollouts(ref, all, nowMs)?.history;
    assert.deepEqual(
      history?.map(({ number, phase, decisions }) => [number, phase, decisions]),
      [
        [7, "Waiting", []],
        [6, "Completed", [{ ...by, stage: "rest", gate: "board" }]],
      ],
    );
  });
});

describe("a release in a cluster", () => {
  const rows: readonly (readonly [string, string, string | undefined, string | undefined])[] = [
    ["that has the revision waits for nothing", "ams", "canary", undefined],
    ["whose stage is at a gate says what the rollout says", "ber", "rest", message],
  ];
  test.each(rows)("%s", (_, name, stage, waits) => {
    const { details } = setUp();
    const [release] =
      details.cluster(
        { namespace: workspace, name },
        { sees: () => true, seesRollouts: () => true, seesSchedules: true, nowMs },
      )?.releases ?? [];

    assert.deepEqual([release?.rollout?.stage, release?.rollout?.waits], [stage, waits]);
  });

  test("whose stage has not begun says which one is before it", () => {
    const first = { ...canary, phase: "Soaking" } as const;
    const later = { ...rest, phase: "Pending", gates: [] } as const;
    const soaking = { stage: "canary", message: "stage canary soaks", stages: [first, later] };
    const { details } = setUp([aRollout(7, soaking)]);
    const viewer = { sees: () => true, seesRollouts: () => true, seesSchedules: true, nowMs };

    const found = details.cluster({ namespace: workspace, name: "ber" }, viewer)?.releases[0];
    assert.equal(found?.rollout?.waits, "stage rest comes after stage canary: stage canary soaks");
  });

  test("that is still to come is named with its stage, and why it waits", () => {
    const { details, clusters } = setUp();
    clusters.saw(aCluster("ein", { metadata: { labels: {} } }));
    const awaited = (sees: boolean) =>
      details.cluster(
        { namespace: workspace, name: "ein" },
        { sees: () => true, seesRollouts: () => sees, seesSchedules: true, nowMs },
      )?.awaited;

    const rollout = { number: 7, stage: "rest", waits: message };
    assert.deepEqual(awaited(true), { count: 1, first: [{ app: ref, rollout }] });
    assert.deepEqual(awaited(false), { count: 0, first: [] });
  });

  test("that is still to come is named where a mapping brings it, too", () => {
    const { details } = setUpMapped();

    const viewer = { sees: () => true, seesRollouts: () => true, seesSchedules: true, nowMs };

    const par = details.cluster({ namespace: "team-a", name: "par" }, viewer);
    assert.deepEqual(par?.awaited.first[0]?.app, ref);
  });

  test("has nothing of a rollout that the user may not see, and no windows", () => {
    const { details, schedules } = setUp();
    schedules.saw(aSchedule("nights"));
    const shown = (sees: boolean) =>
      details.cluster(
        { namespace: workspace, name: "ber" },
        { sees: () => true, seesRollouts: () => sees, seesSchedules: sees, nowMs },
      );

    assert.equal(shown(true)?.windows.length, 1);
    assert.deepEqual([shown(false)?.windows, shown(false)?.releases[0]?.rollout], [[], undefined]);
  });
});
