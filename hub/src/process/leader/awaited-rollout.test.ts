/** [3.4] The gate `rollout` by the controllers of leaders: an app goes on once another has completed a stage, or its rollout. */
import assert from "node:assert/strict";
import {
  bundleDeployments,
  helmOps,
  type RolloutStrategy,
  type StageGate,
} from "@flotilla/shared/api";
import { bundleNameLabel, clusterLabel } from "@flotilla/shared/api/names";
import { bundleRollouts } from "@flotilla/shared/api/rollout";
import { describe, onTestFinished, test } from "vitest";
import { aHelmOp } from "../../testing/index.ts";
import { createStagedFleet, repo, type StagedFleet } from "./testing/index.ts";

const canary = { name: "canary", clusterSelector: { matchLabels: { canary: "true" } } };
const canaryThenRest: RolloutStrategy = { stages: [canary, { name: "rest" }] };

function waitsFor(rollout: NonNullable<StageGate["rollout"]>): RolloutStrategy {
  return { stages: [{ name: "all", before: [{ name: "base-first", rollout }] }] };
}

/** The app `web`, whose only stage waits for the app `base`, which reaches ams first, then ber. */
async function started(rollout: NonNullable<StageGate["rollout"]>): Promise<StagedFleet> {
  const base = aHelmOp(
    {
      helm: { repo, chart: "base", version: "~1.2" },
      pollingInterval: "15s",
      targets: [{ clusterSelector: {} }],
      rolloutStrategy: canaryThenRest,
    },
    { name: "base", uid: "uid-base" },
  );
  const fleet = await createStagedFleet(
    waitsFor(rollout),
    { ams: { canary: "true" }, ber: {} },
    { begin: ({ rest }) => void rest.put(helmOps, base) },
  );
  onTestFinished(() => fleet.stop());
  return fleet;
}

/** The agents of these clusters report that what is desired of the app `base` is ready. */
async function baseReady(fleet: StagedFleet, ...names: readonly string[]): Promise<void> {
  const { rest } = fleet.leader;
  for (const deployment of rest.all(bundleDeployments)) {
    const { labels = {} } = deployment.metadata;
    if (labels[bundleNameLabel] !== "base" || !names.includes(labels[clusterLabel] ?? "")) continue;
    const { deploymentID } = deployment.spec;
    if (deploymentID === "") continue;
    const status = { appliedDeploymentID: deploymentID, ready: true };
    rest.put(bundleDeployments, { ...deployment, status });
  }
  await fleet.pass();
}

function phasesOf({ leader }: StagedFleet, app: string) {
  const rollout = leader.rest
    .all(bundleRollouts)
    .filter(({ spec }) => spec.app.name === app)
    .toSorted((a, b) => a.spec.number - b.spec.number)
    .at(-1);
  return [
    rollout?.status?.phase,
    ...(rollout?.status?.stages ?? []).map(({ name, phase }) => `${name} ${phase}`),
  ];
}

const base = { kind: "HelmOp", name: "base" } as const;

describe("[3.4] a gate for the rollout of another app", () => {
  test("lets the app go on once the whole rollout of the other is completed", async () => {
    const fleet = await started(base);
    await baseReady(fleet, "ams");
    assert.deepEqual(phasesOf(fleet, "base"), [
      ...["Progressing", "canary Completed", "rest Progressing"],
    ]);
    assert.deepEqual(fleet.having("1.2.3"), []);
    assert.match(fleet.status().message ?? "", /HelmOp base has not completed its rollout/);

    await baseReady(fleet, "ber");

    assert.equal(phasesOf(fleet, "base")[0], "Completed");
    assert.deepEqual(fleet.having("1.2.3"), ["ams", "ber"]);
    const [gate] = fleet.status().stages?.[0]?.gates ?? [];
    assert.deepEqual(
      [gate?.result, gate?.decision?.message],
      ["Passed", "the rollout of HelmOp base has come so far"],
    );
  });

  test("lets the app go on once the named stage of the other is completed", async () => {
    const fleet = await started({ ...base, stage: "canary" });
    assert.deepEqual(fleet.having("1.2.3"), []);
    assert.match(fleet.status().message ?? "", /HelmOp base has not completed its stage canary/);

    await baseReady(fleet, "ams");

    assert.equal(phasesOf(fleet, "base")[0], "Progressing");
    assert.deepEqual(fleet.having("1.2.3"), ["ams", "ber"]);
  });

  test("waits for a later stage that is named, though an earlier one is completed", async () => {
    const fleet = await started({ ...base, stage: "rest" });

    await baseReady(fleet, "ams");

    assert.deepEqual(fleet.having("1.2.3"), []);
  });

  test("lets it go on after a new leader, which has not seen the other complete", async () => {
    const fleet = await started(base);
    await baseReady(fleet, "ams");
    await fleet.leader.drop();

    await baseReady(fleet, "ber");

    assert.deepEqual(fleet.having("1.2.3"), ["ams", "ber"]);
  });

  test("waits for the newest rollout of the other: an earlier one that is completed says nothing", async () => {
    const fleet = await started(base);
    await baseReady(fleet, "ams");
    await baseReady(fleet, "ber");
    fleet.ready();
    await fleet.pass();
    assert.equal(fleet.status().phase, "Completed");

    await fleet.publish("1.2.4");

    assert.deepEqual(phasesOf(fleet, "base"), [
      ...["Progressing", "canary Progressing", "rest Pending"],
    ]);
    assert.deepEqual(fleet.having("1.2.4"), []);
    await baseReady(fleet, "ams");
    await baseReady(fleet, "ber");
    assert.deepEqual(fleet.having("1.2.4"), ["ams", "ber"]);
  });
});
