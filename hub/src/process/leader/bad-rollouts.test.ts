/**
 * What can be wrong with a rollout, a row for each case: the object that it concerns names it, with the field and what to change, while
 * another app of the namespace is rolled out. By the controllers of a leader on an API server in memory, which has no schema: what a
 * definition refuses at once is refused by the hub, too. What is wrong in mid rollout is in `bad-changes.test.ts` beside this.
 */
import assert from "node:assert/strict";
import {
  bundleDeployments,
  bundles,
  type HelmOp,
  helmOps,
  type RolloutStage,
  type RolloutStrategy,
  type Schedule,
  type StageGate,
  type StageWindow,
  schedules,
} from "@flotilla/shared/api";
import { bundleNameLabel } from "@flotilla/shared/api/names";
import { findCondition } from "@flotilla/shared/conditions";
import { describe, onTestFinished, test } from "vitest";
import { aHelmOp, aSchedule, workspace } from "../../testing/index.ts";
import { createStagedFleet, type StagedClusters, type StagedFleet } from "./testing/index.ts";

/** Who says what is wrong: the message of Accepted, of Ready for a Schedule, and of the status of a BundleRollout. */
type Speaker = "HelmOp" | "Bundle" | "BundleRollout" | "Schedule";

interface Given {
  readonly strategy: RolloutStrategy;
  readonly spec?: Partial<HelmOp["spec"]>;
  readonly clusters?: StagedClusters;
  /** Objects beside it. */
  readonly schedules?: readonly Schedule[];
  readonly apps?: readonly HelmOp[];
  readonly offline?: readonly string[];
}

type Row = readonly [what: string, given: Given, speaker: Speaker, says: string];

const canary = { clusterSelector: { matchLabels: { canary: "true" } } };
const wrongSelector = { matchLabels: { "a b": "c" } };
const rest: RolloutStage = { name: "rest" };
const fleetOfThree: StagedClusters = { ams: { canary: "true" }, ber: {}, cgn: {} };
/** Where nothing else is said, windows are looked at by night. */
const now = "2026-03-01T22:20:00Z";

function stages(...list: readonly RolloutStage[]): Given {
  return { strategy: { stages: [...list] } };
}

function windows(...list: readonly StageWindow[]): Given {
  return stages({ name: "all", windows: [...list] });
}

function gate(fields: Omit<StageGate, "name">, when: "before" | "after" = "before"): Given {
  return stages({ name: "canary", ...canary, [when]: [{ name: "gate", ...fields }] }, rest);
}

function app(name: string, rolloutStrategy: RolloutStrategy = {}): HelmOp {
  const targets = [{ clusterSelector: {} }];
  return aHelmOp({ targets, rolloutStrategy }, { name, uid: `uid-${name}` });
}

function waitsFor(name: string): RolloutStage {
  return { name: "all", before: [{ name: "first", rollout: { kind: "HelmOp", name } }] };
}

const inField = (field: string, problem: string) => `spec.rolloutStrategy.${field} ${problem}`;
const badLabel = 'cannot be used: "a b" cannot be the name of a label';
const noNights = (effect: string) =>
  `is nights, and there is no Schedule nights in namespace fleet-default: create it, or change the field; until then ${effect}`;
const order = "and both say an order or a pace: remove one of them";

const rows: Readonly<Record<string, readonly Row[]>> = {
  "invalid selectors": [
    [
      "of a stage",
      stages({ name: "a", clusterSelector: wrongSelector }, rest),
      "HelmOp",
      inField("stages[0].clusterSelector", badLabel),
    ],
    [
      "of groups",
      stages({ name: "a", clusterGroupSelector: wrongSelector }, rest),
      "HelmOp",
      inField("stages[0].clusterGroupSelector", badLabel),
    ],
    [
      "of a partition",
      { strategy: { partitions: [{ clusterSelector: wrongSelector }] } },
      "HelmOp",
      inField("partitions[0].clusterSelector", badLabel),
    ],
    [
      "of a Schedule",
      {
        ...stages(rest),
        schedules: [
          aSchedule("nights", { targets: { clusters: [{ clusterSelector: wrongSelector }] } }),
        ],
      },
      "Schedule",
      `spec.targets.clusters[0].clusterSelector ${badLabel}; its clusters are not changed until this is corrected, except while another Schedule of theirs is active`,
    ],
  ],
  partitions: [
    [
      "together with stages",
      { strategy: { stages: [rest], partitions: [{ clusterSelector: {} }] } },
      "HelmOp",
      inField("partitions", `is set together with stages, maxFailures or onFailure, ${order}`),
    ],
    [
      "that overlap",
      { strategy: { partitions: [{ ...canary }, { clusterSelector: {} }] } },
      "Bundle",
      "spec.rolloutStrategy.partitions[0] and spec.rolloutStrategy.partitions[1] take the cluster ams: it is updated with the first and counts in both; narrow one of them if that is not meant",
    ],
    [
      "that miss clusters",
      { strategy: { partitions: [{ ...canary }] } },
      "Bundle",
      "none of spec.rolloutStrategy.partitions takes 2 clusters (ber, cgn): nothing is deployed there",
    ],
  ],
  numbers: [
    [
      "percentages that are none, of stages",
      { strategy: { stages: [rest], maxUnavailable: "ten%" } },
      "HelmOp",
      inField(
        "maxUnavailable",
        'is "ten%": write a whole number, or a percentage that ends with %',
      ),
    ],
    [
      "percentages that are none, of one stage",
      stages({ name: "all", maxUnavailable: "ten%" }),
      "HelmOp",
      inField("stages[0].maxUnavailable", 'is "ten%": set a whole number, or a share such as 10%'),
    ],
    [
      "percentages that are none, of partitions",
      { strategy: { maxUnavailable: "ten%" } },
      "HelmOp",
      inField(
        "maxUnavailable",
        'is "ten%": write a whole number, or a percentage that ends with %',
      ),
    ],
    [
      "maxUnavailable: 0 of stages",
      { strategy: { stages: [rest], maxUnavailable: 0 } },
      "HelmOp",
      inField(
        "maxUnavailable",
        "is 0, with which no cluster could be promoted: set 1 or more, or pause the app",
      ),
    ],
    [
      "maxUnavailable: 0 of partitions, which Fleet has as well",
      { strategy: { maxUnavailable: 0 } },
      "Bundle",
      "spec.rolloutStrategy.maxUnavailable is 0: clusters that are available are never updated",
    ],
  ],
  "the list of stages": [
    [
      "two of one name",
      stages({ name: "a", ...canary }, { name: "a" }),
      "HelmOp",
      inField("stages[1].name", "is a, the name of an earlier stage: give it another name"),
    ],
    [
      "seventeen",
      stages(...Array.from({ length: 17 }, (_, at) => ({ name: `s${at}`, ...canary }))),
      "HelmOp",
      inField("stages", "has 17 entries, more than the limit of 16: join some"),
    ],
    [
      "forty-two gates in all",
      stages(
        ...Array.from({ length: 14 }, (_, at) => ({
          name: `s${at}`,
          ...canary,
          before: [1, 2, 3].map((gate) => ({ name: `g${gate}`, approval: {} })),
        })),
      ),
      "HelmOp",
      inField(
        "stages",
        "have 42 gates together, more than the limit of 40, which a BundleRollout has room for: join some",
      ),
    ],
    [
      "one before others that matches everything",
      stages({ name: "a", clusterSelector: {} }, rest),
      "HelmOp",
      inField(
        "stages[0]",
        "takes every cluster that is left, so that the stages after it get none: give it criteria or upTo, or make it the last one",
      ),
    ],
    [
      "one that matches nothing",
      stages({ name: "a", clusterName: "gone" }, rest),
      "BundleRollout",
      "stage a matches none of 3 clusters: correct its selector, or set allowEmpty",
    ],
    [
      "one that is offline altogether",
      { ...stages({ name: "a", ...canary }, rest), offline: ["ams"] },
      "BundleRollout",
      "stage a: 0 of 1 done, fleet-default/ams offline since 2025-12-24T18:00:00Z: connect or resume enough of them, or change minSuccess",
    ],
    [
      "clusters in none",
      stages({ name: "a", ...canary }),
      "Bundle",
      "none of the stages of rolloutStrategy takes 2 clusters: fleet-default/ber, fleet-default/cgn; nothing is promoted there: add a stage without criteria at the end, or change a selector",
    ],
  ],
  windows: [
    [
      "that overlap themselves",
      windows({ cron: "0 0 * * * ?", duration: "2h" }),
      "HelmOp",
      inField(
        "stages[0].windows[0]",
        "cannot be used: duration is too long and overlaps with the next execution time: it is 2h, and two starts are only 1h apart; correct it",
      ),
    ],
    [
      "that are never open",
      windows({ cron: "0 0 0 30 2 ?", duration: "1h" }),
      "HelmOp",
      inField(
        "stages[0].windows[0]",
        'cannot be used: "0 0 0 30 2 ?" has no start, so that the window is never open; correct it',
      ),
    ],
    [
      "that are never open together",
      windows(
        { cron: "0 0 22 * * ?", duration: "1h" },
        { cron: "0 0 20 * * ?", duration: "4h", deny: true },
      ),
      "HelmOp",
      inField(
        "stages[0].windows",
        "are never open: whenever one of them permits changes, one with deny is open, too; change one of them",
      ),
    ],
    [
      "that are never open together, of Schedules",
      {
        ...windows({ schedule: "nights" }, { cron: "0 0 20 * * ?", duration: "4h", deny: true }),
        schedules: [aSchedule("nights", { targets: { clusters: [] } })],
      },
      "BundleRollout",
      "stage all: window 0 0 20 * * ? denies changes, and whenever another one permits changes one with deny is open, too: the windows are never open together, change one of them; 3 clusters wait for it",
    ],
    [
      "that are never open together with the Schedule of a cluster",
      {
        ...windows({ cron: "0 0 8 * * ?", duration: "10h" }),
        schedules: [aSchedule("nights", { targets: { clusters: [{ clusterName: "ams" }] } })],
      },
      "BundleRollout",
      "stage all: window 0 0 8 * * ? opens at 2026-03-02T08:00:00Z; 3 clusters wait for it; the windows of the stage are never open together with the Schedules of fleet-default/ams: change one of them, or skip the cluster",
    ],
    [
      "with a wrong expression",
      windows({ cron: "0 0 25 * * ?", duration: "1h" }),
      "HelmOp",
      inField(
        "stages[0].windows[0]",
        "cannot be used: the hour 25 is not between 0 and 23; correct it",
      ),
    ],
    [
      "with a wrong zone",
      windows({ cron: "0 0 22 * * ?", duration: "1h", location: "Mars/Base" }),
      "HelmOp",
      inField(
        "stages[0].windows[0]",
        'cannot be used: the location "Mars/Base" is not the name of a time zone, such as Europe/Berlin or UTC; correct it',
      ),
    ],
    [
      "of a Schedule with a wrong expression",
      {
        ...windows({ schedule: "nights" }),
        schedules: [aSchedule("nights", { schedule: "0 0 25 * * ?", targets: { clusters: [] } })],
      },
      "BundleRollout",
      "stage all: the Schedule nights is invalid, so window nights stays closed: the hour 25 is not between 0 and 23; correct it; 3 clusters wait for it",
    ],
    [
      "of a Schedule that is never open",
      {
        ...stages(rest),
        schedules: [
          aSchedule("nights", { schedule: "0 0 0 1 1 ? 2020", targets: { clusters: [] } }),
        ],
      },
      "Schedule",
      "spec.schedule has no further start; its clusters are not changed, except while another Schedule of theirs is active",
    ],
  ],
  "what does not exist": [
    [
      "the Schedule of a later stage",
      stages({ name: "canary", ...canary }, { ...rest, windows: [{ schedule: "nights" }] }),
      "Bundle",
      inField("stages[1].windows[0].schedule", noNights("it permits none")),
    ],
    [
      "the app of a gate of a later stage",
      stages({ name: "canary", ...canary }, { ...waitsFor("base"), name: "rest" }),
      "Bundle",
      inField(
        "stages[1].before[0].rollout",
        "cannot pass: there is no HelmOp base in namespace fleet-default that is deployed: create or correct it, or change the gate",
      ),
    ],
    [
      "a Schedule",
      windows({ schedule: "nights" }),
      "BundleRollout",
      "stage all: there is no Schedule nights in namespace fleet-default, so window nights stays closed: create it, or change the strategy; 3 clusters wait for it",
    ],
    [
      "the Schedule of a gate",
      gate({ window: { schedule: "nights" } }),
      "BundleRollout",
      "waits for the window gate of stage canary: there is no Schedule nights in namespace fleet-default, so window nights stays closed: create it, or change the strategy",
    ],
    [
      "a RolloutPolicy",
      { strategy: { policy: "rings" } },
      "Bundle",
      "there is no RolloutPolicy rings in namespace fleet-default: create it, or change spec.rolloutStrategy.policy; until then nothing changes",
    ],
    [
      "the app of a gate",
      gate({ rollout: { kind: "HelmOp", name: "base" } }),
      "BundleRollout",
      "waits for the rollout of another app, gate gate (until 2026-03-02T22:20:00Z) of stage canary: there is no HelmOp base in namespace fleet-default that is deployed: create or correct it, or change the gate",
    ],
    [
      "stages of the app of a gate",
      { ...gate({ rollout: { kind: "HelmOp", name: "base" } }), apps: [app("base")] },
      "BundleRollout",
      "waits for the rollout of another app, gate gate (until 2026-03-02T22:20:00Z) of stage canary: the HelmOp base has no stages, so nothing says when it is rolled out: give it stages, or remove the gate",
    ],
    [
      "the stage that a gate names",
      {
        ...gate({ rollout: { kind: "HelmOp", name: "base", stage: "prd" } }),
        apps: [app("base", { stages: [rest] })],
      },
      "BundleRollout",
      "waits for the rollout of another app, gate gate (until 2026-03-02T22:20:00Z) of stage canary: the HelmOp base has no stage prd: correct rollout.stage of the gate",
    ],
  ],
  gates: [
    [
      "that wait for each other",
      { ...stages(waitsFor("base")), apps: [app("base", { stages: [waitsFor("web")] })] },
      "Bundle",
      inField(
        "stages[0].before[0].rollout",
        "waits for HelmOp base, which waits for HelmOp web: gates that wait for each other never pass; remove one of them",
      ),
    ],
    [
      "with config over 4 KiB",
      gate({ external: { config: { a: "x".repeat(4_096) } } }),
      "HelmOp",
      inField(
        "stages[0].before[0].external.config",
        "has 4097 bytes, more than the limit of 4096: put the rest into an object that it names",
      ),
    ],
    [
      "for tests where no tests run",
      gate({ test: {} }, "after"),
      "HelmOp",
      inField(
        "stages[0].after[0].test",
        "waits for tests, and no tests run: set spec.test.enable, or remove the gate",
      ),
    ],
  ],
  sizes: [
    [
      "targets beyond 256 KiB with stages",
      {
        ...stages(rest),
        spec: {
          targets: [
            ...Array.from({ length: 900 }, (_, at) => ({
              clusterSelector: { matchLabels: { site: `site-${at}`, ...longLabels() } },
              doNotDeploy: true,
            })),
            { clusterSelector: {} },
          ],
        },
      },
      "Bundle",
      "spec.targets have 325837 bytes of criteria and references, more than the 262144 that a staged rollout can pin: select several clusters with one target, or divide it into several objects",
    ],
  ],
};

/** Nearly as long as labels can be. */
function longLabels(): Readonly<Record<string, string>> {
  return Object.fromEntries(["a", "b", "c", "d"].map((name) => [name, "x".repeat(60)]));
}

for (const [what, cases] of Object.entries(rows))
  describe(`${what}:`, () => {
    test.each(cases)("%s", async (_, given, speaker, says) => {
      const fleet = await begin(given);

      assert.equal(saidBy(fleet, speaker), says);
      assert.equal(othersOf(fleet), 3, "another app is not deployed everywhere");
    });
  });

test("gates that wait for each other go on once one of them is removed, and those for an app once it is there", async () => {
  const fleet = await begin({
    ...stages(waitsFor("base")),
    apps: [app("base", { stages: [waitsFor("web")] })],
  });
  assert.deepEqual(fleet.rollouts(), []);

  const { rest } = fleet.leader;
  const base = rest.peek(helmOps, { namespace: workspace, name: "base" });
  assert.ok(base);
  const later = { ...base.spec, rolloutStrategy: { stages: [waitsFor("later")] } };
  rest.put(helmOps, { ...base, spec: later });
  await fleet.pass();
  assert.match(
    saidBy(fleet, "BundleRollout") ?? "",
    /: the HelmOp base has not completed its rollout$/,
  );
  const ofBase = () => fleet.rollouts().find(({ spec }) => spec.app.name === "base")?.status;
  assert.match(ofBase()?.message ?? "", /: there is no HelmOp later in namespace fleet-default /);

  rest.put(helmOps, app("later", { stages: [{ name: "all" }] }));
  await fleet.pass();
  assert.match(ofBase()?.message ?? "", /: the HelmOp later has not completed its rollout$/);
});

async function begin(given: Given): Promise<StagedFleet> {
  const fleet = await createStagedFleet(given.strategy, given.clusters ?? fleetOfThree, {
    spec: given.spec ?? {},
    offline: given.offline ?? [],
    begin({ clock, rest }) {
      clock.setWallTime(Date.parse(now));
      for (const schedule of given.schedules ?? []) rest.put(schedules, schedule);
      for (const each of [app("other"), ...(given.apps ?? [])]) rest.put(helmOps, each);
    },
  });
  onTestFinished(() => fleet.stop());
  await fleet.pass();
  return fleet;
}

function saidBy(fleet: StagedFleet, speaker: Speaker): string | undefined {
  const { rest } = fleet.leader;
  const web = { namespace: workspace, name: "web" };
  switch (speaker) {
    case "HelmOp":
      return findCondition(rest.peek(helmOps, web)?.status?.conditions, "Accepted")?.message;
    case "Bundle":
      return findCondition(rest.peek(bundles, web)?.status?.conditions, "Accepted")?.message;
    case "Schedule":
      return findCondition(rest.all(schedules)[0]?.status?.conditions, "Ready")?.message;
    case "BundleRollout":
      return fleet.rollouts().find(({ spec }) => spec.app.name === "web")?.status?.message;
  }
}

/** The clusters that have the other app. */
function othersOf({ leader }: StagedFleet): number {
  return leader.rest
    .all(bundleDeployments)
    .filter(
      ({ metadata, spec }) =>
        metadata.labels?.[bundleNameLabel] === "other" && spec.deploymentID !== "",
    ).length;
}
