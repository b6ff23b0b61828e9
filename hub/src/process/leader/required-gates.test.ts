/**
 * Gates that a Policy requires, by the controllers of leaders on an API server in memory: what a person who writes the app, or its
 * BundleRollouts, does to reach protected clusters without an approval.
 */
import assert from "node:assert/strict";
import {
  bundleDeployments,
  bundles,
  helmOps,
  policies,
  type RolloutStrategy,
} from "@flotilla/shared/api";
import { bundleRollouts, gates } from "@flotilla/shared/api/rollout";
import { findCondition } from "@flotilla/shared/conditions";
import { helmReleases } from "@flotilla/shared/flux";
import { describe, onTestFinished, test } from "vitest";
import { aBundle, aPolicy, createTestLeader, workspace } from "../../testing/index.ts";
import {
  applyFluxStep,
  applyStep,
  bundleStatusOf,
  createStagedFleet,
  type RepositoryState,
  repo,
  resolverOf,
  type StagedFleet,
  sourcesOf,
} from "./testing/index.ts";

const prod = { clusterSelector: { matchLabels: { env: "prod" } } };
const dev = { clusterSelector: { matchLabels: { env: "dev" } } };
const guard = aPolicy("guard", { rollout: { requiredGates: [{ ...prod, gate: "approval" }] } });
const approval = { name: "board", approval: {} } as const;

const fleetOfThree = { ams: { env: "dev" }, ber: { env: "prod" }, cgn: { env: "prod" } };

/** As the Policy wants it. */
const approved: RolloutStrategy = {
  stages: [
    { name: "dev", ...dev },
    { name: "prod", ...prod, before: [approval] },
  ],
};

/** A fleet with the Policy on which 1.2.3 is rolled out. */
async function started(strategy: RolloutStrategy = approved): Promise<StagedFleet> {
  const fleet = await createStagedFleet(strategy, fleetOfThree);
  onTestFinished(() => fleet.stop());
  fleet.leader.rest.put(policies, guard);
  for (let round = 0; round < 3; round += 1) {
    fleet.ready();
    await fleet.pass();
    if (fleet.status().reason === "GateWaiting") fleet.decide("board");
    await fleet.pass();
  }
  fleet.ready();
  await fleet.pass();
  assert.equal(fleet.status().phase, "Completed");
  return fleet;
}

/** Everything becomes ready, and time passes, so often that all would have been promoted. */
async function settle(fleet: StagedFleet): Promise<void> {
  for (let round = 0; round < 4; round += 1) {
    fleet.ready();
    await fleet.pass();
  }
}

function refusalOf(fleet: StagedFleet): string | undefined {
  const accepted = findCondition(bundleStatusOf(fleet)?.conditions, "Accepted");
  return accepted?.status === "False" && accepted.reason === "PolicyViolation"
    ? accepted.message
    : undefined;
}

const onlyDev = ["ams"];
const all = ["ams", "ber", "cgn"];

describe("an app with an approval before the protected clusters", () => {
  test("reaches them once somebody approves it", async () => {
    const fleet = await started();
    await fleet.publish("1.2.4");
    await settle(fleet);
    assert.deepEqual(fleet.having("1.2.4"), onlyDev);

    fleet.decide("board");
    await settle(fleet);

    assert.deepEqual(fleet.having("1.2.4"), all);
    assert.equal(refusalOf(fleet), undefined);
  });

  test("does not reach a cluster that becomes one of them later and was not approved", async () => {
    const fleet = await started();
    await fleet.publish("1.2.4");
    await settle(fleet);

    fleet.relabel("ams", { env: "prod" });
    fleet.add("dus", { env: "prod" });
    await settle(fleet);

    assert.deepEqual(fleet.having("1.2.4"), onlyDev);
    assert.deepEqual(fleet.having("1.2.3"), ["ber", "cgn", "dus"]);
  });
});

describe("without an approval before the protected clusters", () => {
  const rows: readonly (readonly [what: string, strategy: RolloutStrategy, why: RegExp])[] = [
    [
      "an app without stages",
      {},
      /^spec\.rolloutStrategy has no stages, and reaches clusters fleet-default\/ber, fleet-default\/cgn: clusters with env=prod need an approval .* \(Policy guard\)/,
    ],
    ["an app with limits alone", { maxUnavailable: 1 }, /has no stages/],
    ["an app with limits of failures alone", { onFailure: "Rollback" }, /has no stages/],
    [
      "a stage of another name that takes them first",
      { stages: [{ name: "first", clusterName: "ber" }, ...(approved.stages ?? [])] },
      /^stage first of spec\.rolloutStrategy reaches cluster fleet-default\/ber without an approval before it: .*add before: \[\{name: approval, approval: \{\}\}\] to the stage/,
    ],
    [
      "a wave of some of all clusters",
      { stages: [{ name: "wave", clusterSelector: {}, upTo: 2 }, ...(approved.stages ?? [])] },
      /^stage wave .* reaches cluster fleet-default\/ber /,
    ],
    [
      "an approval after the stage",
      { stages: [{ name: "all", after: [approval] }] },
      /^stage all /,
    ],
    [
      "an approval before another stage",
      { stages: [{ name: "dev", ...dev, before: [approval] }, { name: "rest" }] },
      /^stage rest /,
    ],
    [
      "another gate",
      { stages: [{ name: "all", before: [{ name: "ci", external: {} }] }] },
      /^stage all /,
    ],
  ];
  test.each(rows)("%s is not accepted, and nothing is promoted", async (_, strategy, why) => {
    const fleet = await started();
    fleet.setStrategy(strategy);
    await fleet.publish("1.2.4");
    await settle(fleet);

    assert.match(refusalOf(fleet) ?? "", why);
    assert.deepEqual(fleet.having("1.2.4"), []);
    const [helmOp] = fleet.leader.rest.all(helmOps);
    assert.match(
      findCondition(helmOp?.status?.conditions, "Ready")?.message ?? "",
      why.source.startsWith("^") ? new RegExp(why.source.slice(1)) : why,
    );
  });

  test("a Bundle that was applied by hand gets nowhere", async () => {
    const fleet = await started();
    const { rest } = fleet.leader;
    const helm = { repo, chart: "web", version: "~1.2" };
    const metadata = { namespace: workspace, name: "applied", uid: "uid-applied", labels: {} };
    rest.put(bundles, aBundle({ helm, targets: [{ clusterSelector: {} }] }, metadata));
    await settle(fleet);

    const status = rest.peek(bundles, metadata)?.status;
    assert.equal(findCondition(status?.conditions, "Accepted")?.reason, "PolicyViolation");
    const made = rest.all(bundleDeployments).filter(({ metadata: of }) => of.name === "applied");
    assert.deepEqual(made, []);
  });
});

test("a HelmRelease without the approval reaches nothing", async () => {
  const repository: RepositoryState = { version: "1.2.3", isUp: true, requests: 0 };
  const leader = createTestLeader(resolverOf(repository), sourcesOf(repository));
  onTestFinished(() => leader.stop());
  const all = { requiredGates: [{ gate: "approval" }] } as const;
  leader.rest.put(policies, aPolicy("guard", { rollout: all }));
  applyStep(leader, repository, { kind: "cluster", name: "paris", presence: "join" });
  applyFluxStep(leader, repository, { kind: "source", spec: { interval: "1m" } });
  applyFluxStep(leader, repository, { kind: "release", name: "web", spec: {} });
  await leader.pass(10_000);

  const [release] = leader.rest.all(helmReleases);
  assert.match(
    findCondition(release?.status?.conditions, "Ready")?.message ?? "",
    /spec\.rolloutStrategy has no stages, and reaches cluster fleet-default\/paris: .*\(Policy guard\)/,
  );
  assert.deepEqual(leader.rest.all(bundleDeployments), []);
});

describe("a Policy that appears after the app", () => {
  test("leaves what is deployed, and holds new revisions until the strategy has the gate", async () => {
    const fleet = await createStagedFleet({}, fleetOfThree);
    onTestFinished(() => fleet.stop());
    await settle(fleet);
    const before = all.map((name) => fleet.deployment(name)?.spec.deploymentID);

    fleet.leader.rest.put(policies, guard);
    await fleet.publish("1.2.4");
    await settle(fleet);
    assert.match(refusalOf(fleet) ?? "", /no stages/);
    assert.deepEqual(
      all.map((name) => fleet.deployment(name)?.spec.deploymentID),
      before,
    );

    fleet.setStrategy(approved);
    await settle(fleet);
    assert.equal(refusalOf(fleet), undefined);
    assert.deepEqual(fleet.having("1.2.4"), onlyDev);
    fleet.decide("board");
    await settle(fleet);
    assert.deepEqual(fleet.having("1.2.4"), all);
  });

  test("that cannot be used holds everything, and says so", async () => {
    const fleet = await started();
    const broken = {
      clusterSelector: { matchLabels: { "not a label": "x" } },
      gate: "approval",
    } as const;
    fleet.leader.rest.put(policies, aPolicy("broken", { rollout: { requiredGates: [broken] } }));
    await fleet.publish("1.2.4");
    await settle(fleet);

    assert.match(refusalOf(fleet) ?? "", /^rollout\.requiredGates of Policy broken cannot be used/);
    assert.deepEqual(fleet.having("1.2.4"), []);
  });
});

describe("who may write BundleRollouts and not approve reaches no protected cluster", () => {
  /** 1.2.4 waits for its approval. */
  async function waiting(): Promise<StagedFleet> {
    const fleet = await started();
    await fleet.publish("1.2.4");
    await settle(fleet);
    assert.equal(fleet.status().reason, "GateWaiting");
    return fleet;
  }

  test("by passing over the stage, and taking that back", async () => {
    const fleet = await waiting();
    fleet.command({ skipStages: ["prod"] });
    await settle(fleet);
    assert.deepEqual(fleet.having("1.2.4"), onlyDev);
    fleet.command({ skipStages: [] });
    await settle(fleet);

    assert.deepEqual(fleet.having("1.2.4"), onlyDev);
  });

  test("by skipping the clusters that wait with them", async () => {
    const fleet = await waiting();
    fleet.command({ skip: ["fleet-default/ber"] });
    await settle(fleet);

    assert.deepEqual(fleet.having("1.2.4"), onlyDev);
  });

  test("by going on after a rejection", async () => {
    const fleet = await waiting();
    fleet.decide("board", "Failed");
    await settle(fleet);
    assert.equal(fleet.status().phase, "Halted");
    fleet.command({ resume: "now" });
    await settle(fleet);

    assert.equal(fleet.status().reason, "GateWaiting");
    assert.deepEqual(fleet.having("1.2.4"), onlyDev);
  });

  test("by deleting the Gate", async () => {
    const fleet = await waiting();
    for (const { metadata } of fleet.gates()) fleet.leader.rest.remove(gates, metadata);
    await settle(fleet);

    assert.deepEqual(fleet.having("1.2.4"), onlyDev);
    assert.equal(fleet.status().reason, "GateWaiting");
  });

  test("by deleting the BundleRollout", async () => {
    const fleet = await waiting();
    fleet.leader.rest.remove(bundleRollouts, fleet.current().metadata);
    await settle(fleet);

    assert.deepEqual(fleet.having("1.2.4"), onlyDev);
    assert.equal(fleet.status().reason, "GateWaiting");
  });

  test("by taking it back: each cluster gets what it had, and a new one what was approved before", async () => {
    const fleet = await waiting();
    fleet.command({ state: "RolledBack" });
    await settle(fleet);
    fleet.add("dus", { env: "prod" });
    await settle(fleet);

    assert.deepEqual(fleet.having("1.2.4"), []);
    assert.deepEqual(fleet.having("1.2.3"), [...all, "dus"]);
  });

  test("by a newer revision that starts at once", async () => {
    const fleet = await started({ ...approved, onNewRevision: "Restart" });
    await fleet.publish("1.2.4");
    await settle(fleet);
    await fleet.publish("1.2.5");
    await settle(fleet);

    assert.deepEqual(fleet.having("1.2.5"), onlyDev);
    assert.deepEqual(fleet.having("1.2.3"), ["ber", "cgn"]);
  });

  test("by pausing the app, and resuming it", async () => {
    const fleet = await waiting();
    const { rest } = fleet.leader;
    const setPaused = (paused: boolean) => {
      const helmOp = rest.peek(helmOps, { namespace: workspace, name: "web" });
      assert.ok(helmOp);
      rest.put(helmOps, { ...helmOp, spec: { ...helmOp.spec, paused } });
    };
    setPaused(true);
    await settle(fleet);
    setPaused(false);
    await settle(fleet);

    assert.deepEqual(fleet.having("1.2.4"), onlyDev);
    assert.equal(fleet.status().reason, "GateWaiting");
  });
});

describe("an approval is of what the stage took when it was given", () => {
  test("so a stage that takes other clusters afterwards has none", async () => {
    const strategy: RolloutStrategy = {
      stages: [
        { name: "dev", ...dev, before: [approval] },
        { name: "prod", ...prod, before: [{ name: "prod-board", approval: {} }] },
      ],
    };
    const fleet = await createStagedFleet(strategy, fleetOfThree);
    onTestFinished(() => fleet.stop());
    fleet.leader.rest.put(policies, guard);
    await fleet.pass();
    fleet.decide("board");
    await settle(fleet);
    assert.deepEqual(fleet.having("1.2.3"), onlyDev);

    fleet.setStrategy({ stages: [{ name: "dev", before: [approval] }] });
    await settle(fleet);

    assert.equal(refusalOf(fleet), undefined);
    assert.deepEqual(fleet.having("1.2.3"), onlyDev);
    const accepted = findCondition(bundleStatusOf(fleet)?.conditions, "Accepted");
    assert.match(
      accepted?.message ?? "",
      /a Policy requires an approval before 2 clusters: fleet-default\/ber, fleet-default\/cgn; .*delete the BundleRollout web-1/,
    );
  });

  test("so a gate that was passed as something else does not count", async () => {
    const ci = { name: "board", external: {} } as const;
    const fleet = await createStagedFleet(
      { stages: [{ name: "all", before: [ci], maxUnavailable: 1 }] },
      fleetOfThree,
    );
    onTestFinished(() => fleet.stop());
    fleet.decide("board");
    await fleet.pass();
    fleet.leader.rest.put(policies, guard);
    fleet.setStrategy({ stages: [{ name: "all", before: [approval], maxUnavailable: 1 }] });
    await settle(fleet);

    assert.deepEqual(fleet.having("1.2.3"), onlyDev);
    assert.match(fleet.status().message ?? "", /began without the approval that a Policy requires/);
  });

  test("so the first protected cluster does not get a version that nobody approved, not even the one before", async () => {
    const fleet = await createStagedFleet(approved, { ams: { env: "dev" } });
    onTestFinished(() => fleet.stop());
    fleet.leader.rest.put(policies, guard);
    await settle(fleet);
    assert.equal(fleet.status().phase, "Completed");
    await fleet.publish("1.2.4");

    fleet.add("ber", { env: "prod" });
    await settle(fleet);

    assert.deepEqual(fleet.having("1.2.3"), []);
    assert.deepEqual(fleet.having("1.2.4"), onlyDev);
    fleet.decide("board");
    await settle(fleet);
    assert.deepEqual(fleet.having("1.2.4"), ["ams", "ber"]);
  });
});
