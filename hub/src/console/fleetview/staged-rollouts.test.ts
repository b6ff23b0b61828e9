import assert from "node:assert/strict";
import type { RolloutStrategy } from "@flotilla/shared/api";
import type { BundleRollout, Gate, GateRecord, StageStatus } from "@flotilla/shared/api/rollout";
import { describe, test } from "vitest";
import {
  aBundle,
  aCluster,
  aDeployment,
  aHelmOp,
  aSchedule,
  workspace,
} from "../../testing/index.ts";
import { FleetDetails } from "./details.ts";
import { FleetView } from "./fleet-view.ts";
import { createShownCaches } from "./testing/index.ts";

const ref = { kind: "HelmOp", namespace: workspace, name: "web" } as const;
const at = "2026-01-01T11:00:00Z";
const nowMs = Date.parse("2026-01-01T12:00:00Z");
const content = "sha256:new";
const message = "waits for the approval board of stage rest";
const all = { gates: true, schedules: true };

const strategy: RolloutStrategy = {
  stages: [
    {
      name: "canary",
      clusterSelector: { matchLabels: { canary: "true" } },
      after: [{ name: "soak", soak: { for: "30m" } }],
    },
    {
      name: "rest",
      before: [{ name: "board", approval: {} }],
      after: [{ name: "smoke", external: {} }],
    },
  ],
};

const soak: GateRecord = {
  ...{ name: "soak", when: "After", type: "Soak", result: "Passed", reason: "Met" },
  ...{ gate: "web-7-canary-soak", digest: "sha256:s", startedAt: at },
  decision: { result: "Passed", by: "", at, digest: "sha256:s" },
};
const board: GateRecord = {
  ...{ name: "board", when: "Before", type: "Approval", result: "Waiting" },
  ...{ gate: "web-7-rest-board", uid: "uid-board", digest: "sha256:b", startedAt: at },
};
const counts = {
  ...{ total: 1, done: 0, inFlight: 0, failed: 0, pending: 0, offline: 0 },
  ...{ paused: 0, skipped: 0, offSchedule: 0, brokenBefore: 0 },
};
const canary: StageStatus = {
  ...{ name: "canary", phase: "Completed", ...counts, done: 1, startedAt: at, completedAt: at },
  gates: [soak],
};
const rest: StageStatus = {
  ...{ name: "rest", phase: "Gated", ...counts, total: 3, pending: 1, offline: 1, offSchedule: 1 },
  gates: [board],
};

function aRollout(
  number: number,
  status: Partial<NonNullable<BundleRollout["status"]>> = {},
): BundleRollout {
  return {
    metadata: { namespace: workspace, name: `web-${number}`, uid: `uid-${number}` },
    spec: {
      ...{ bundle: { name: "web", uid: "uid-bundle" }, app: { kind: "HelmOp", name: "web" } },
      ...{ number, revision: `sha256:${number}`, version: `1.0.${number}`, signature: "" },
      targets: [{ name: "all", deploymentID: content }],
    },
    status: {
      ...{ phase: "Waiting", reason: "GateWaiting", message, since: at, stage: "rest" },
      ...{ clusters: { ...counts, total: 4, done: 1 }, stages: [canary, rest] },
      ...status,
    },
  };
}

const gate: Gate = {
  metadata: { namespace: workspace, name: "web-7-rest-board", uid: "uid-board" },
  spec: {
    ...{ type: "Approval", app: { kind: "HelmOp", name: "web" }, gate: "board", when: "Before" },
    ...{ rollout: { name: "web-7", uid: "uid-7" }, stage: "rest", revision: "sha256:7" },
    ...{ version: "1.0.7", digest: "sha256:b", config: { ticket: "x".repeat(300) } },
    clusters: { count: 3, first: [`${workspace}/ber`] },
  },
};

/** A canary that has the revision, and three clusters that wait at a gate: one is ready, one offline, one off schedule. */
function setUp(rollouts: readonly BundleRollout[] = [aRollout(7)]) {
  const caches = createShownCaches();
  const view = new FleetView(caches);
  const details = new FleetDetails({ ...caches, version: "0.3.0" });
  caches.helmOps.saw(aHelmOp());
  caches.bundles.saw(aBundle({ targets: [{ clusterSelector: {} }], rolloutStrategy: strategy }));
  const names = { ams: "true", ber: "", cgn: "", dus: "" };
  for (const [name, isCanary] of Object.entries(names)) {
    const deployment = aDeployment(name, {
      spec: {
        deploymentID: isCanary === "true" ? content : "sha256:old",
        ...(isCanary === "true" && {
          promotion: { rollout: "web-7", at, from: "sha256:old", wasReady: true },
        }),
      },
    });
    const agent = { epoch: 1, connected: name !== "cgn" };
    const own = aCluster(name).status;
    caches.clusters.saw(
      aCluster(name, {
        metadata: { labels: { canary: isCanary } },
        status: {
          ...own,
          agent,
          ...(name === "dus" && { scheduled: true, activeSchedule: false }),
        },
      }),
    );
    caches.deployments.saw(deployment);
  }
  caches.gates.saw(gate);
  for (const rollout of rollouts) caches.rollouts.saw(rollout);
  return { ...caches, view, details };
}

/** With the cluster `par` of `team-a`, a namespace that a mapping adds. */
function setUpMapped() {
  const fleet = setUp();
  fleet.workspaces.saw({ metadata: { name: "team-a" } });
  const metadata = { namespace: workspace, name: "all" };
  fleet.mappings.saw({ metadata, bundleSelector: {}, namespaceSelector: {} });
  fleet.clusters.saw(aCluster("par", { metadata: { namespace: "team-a", labels: {} } }));
  return fleet;
}

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

describe("the fleet", () => {
  const everything = { key: "all", sees: () => true };
  const without = (kind: string) => ({ key: kind, sees: (each: string) => each !== kind });

  test("has apps whose rollout waits for a decision, for those who may see BundleRollouts", () => {
    const { view } = setUp();

    const [seen] = view.fleet(everything).apps;
    assert.deepEqual(
      [seen?.isStaged, seen?.rollout?.decides, seen?.rollout?.message, seen?.rollout?.since],
      [true, true, message, at],
    );
    const [hidden] = view.fleet(without("BundleRollout")).apps;
    assert.deepEqual([hidden?.isStaged, hidden?.rollout], [undefined, undefined]);
  });

  test("needs no decision about a rollout that goes on by itself, or has ended", () => {
    const decides = (status: Parameters<typeof aRollout>[1]) =>
      setUp([aRollout(7, status)]).view.fleet(everything).apps[0]?.rollout?.decides;
    const soaking = { ...rest, gates: [{ ...board, type: "Soak" }] } as const;

    assert.equal(decides({ stages: [soaking] }), false);
    assert.equal(decides({ phase: "Progressing" }), false);
    assert.equal(decides({ phase: "Halted" }), true);
    assert.equal(decides({ phase: "Completed", reason: "AllStagesCompleted" }), undefined);
  });

  test("needs a decision where clusters came late to one that is completed", () => {
    const { view } = setUp([aRollout(7, { phase: "Completed", reason: "GateWaiting" })]);

    assert.equal(view.fleet(everything).apps[0]?.rollout?.decides, true);
  });

  test("changes with rollouts, Gates and Schedules", () => {
    const { view, rollouts, gates, schedules } = setUp();
    const typesAfter = (
      change: () => void,
      scope: Parameters<typeof view.fleet>[0] = everything,
    ) => {
      const { position } = view;
      change();
      return view.changesSince(position, scope)?.map(({ type }) => type);
    };

    const halted = aRollout(7, { phase: "Halted" });
    const newer = { ...halted, metadata: { ...halted.metadata, resourceVersion: "2" } };
    assert.deepEqual(
      typesAfter(() => rollouts.saw(newer)),
      ["app"],
    );
    assert.deepEqual(
      typesAfter(() => gates.missed(`${workspace}/web-7-rest-board`)),
      ["app"],
    );
    assert.deepEqual(
      typesAfter(() => schedules.saw(aSchedule("nights"))),
      ["schedules"],
    );
    assert.deepEqual(
      typesAfter(() => schedules.saw(aSchedule("days")), without("Schedule")),
      [],
    );
  });
});
