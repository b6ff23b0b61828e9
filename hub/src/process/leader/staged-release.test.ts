/** [3.5] What a HelmRelease shows of its staged rollout. */
import assert from "node:assert/strict";
import { bundles } from "@flotilla/shared/api";
import { findCondition } from "@flotilla/shared/conditions";
import { type HelmReleaseSpec, helmReleases } from "@flotilla/shared/flux";
import { onTestFinished, test } from "vitest";
import { createTestLeader, workspace } from "../../testing/index.ts";
import {
  applyFluxStep,
  applyStep,
  type RepositoryState,
  resolverOf,
  sourcesOf,
} from "./testing/index.ts";

const rolloutStrategy: NonNullable<HelmReleaseSpec["rolloutStrategy"]> = {
  stages: [
    { name: "canary", clusterName: "paris" },
    { name: "rest", before: [{ name: "board", approval: {} }] },
  ],
};

async function started() {
  const repository: RepositoryState = { version: "1.2.3", isUp: true, requests: 0 };
  const leader = createTestLeader(resolverOf(repository), sourcesOf(repository));
  onTestFinished(() => leader.stop());
  for (const name of ["paris", "rome"])
    applyStep(leader, repository, { kind: "cluster", name, presence: "join" });
  applyFluxStep(leader, repository, { kind: "source", spec: { interval: "1m" } });
  applyFluxStep(leader, repository, { kind: "release", name: "web", spec: { rolloutStrategy } });
  await leader.pass(10_000);
  return {
    leader,
    async ready() {
      applyStep(leader, repository, { kind: "agents", report: "ready" });
      await leader.pass(5_000);
    },
    async fail() {
      applyStep(leader, repository, { kind: "agents", report: "failed" });
      await leader.pass(20 * 60_000);
    },
    status: () => leader.rest.all(helmReleases)[0]?.status,
    bundle: () =>
      leader.rest.peek(bundles, { namespace: workspace, name: "helmrelease-web" })?.status,
    rolledOut() {
      const condition = findCondition(
        leader.rest.all(helmReleases)[0]?.status?.conditions,
        "RolledOut",
      );
      return [condition?.status, condition?.reason, condition?.message];
    },
  };
}

test("[3.5] a HelmRelease has status.rollout and RolledOut=Unknown while its rollout progresses", async () => {
  const fleet = await started();

  const { rollout } = fleet.status() ?? {};
  assert.ok(rollout !== undefined);
  assert.deepEqual(
    [rollout.phase, rollout.stage, rollout.done, rollout.total],
    ["Progressing", "canary", 0, 2],
  );
  assert.deepEqual(rollout, fleet.bundle()?.rollout);
  assert.deepEqual(fleet.rolledOut(), ["Unknown", "Progressing", rollout.message]);
});

test("[3.5] a HelmRelease has RolledOut=Unknown with the sentence while its rollout waits", async () => {
  const fleet = await started();
  await fleet.ready();

  const { rollout } = fleet.status() ?? {};
  assert.ok(rollout !== undefined);
  assert.deepEqual(
    [rollout.phase, rollout.stage, rollout.done, rollout.total],
    ["Waiting", "rest", 1, 2],
  );
  assert.deepEqual(fleet.rolledOut(), ["Unknown", "Waiting", rollout.message]);
  assert.match(rollout.message ?? "", /^waits for the approval board/);
});

test("[3.5] a HelmRelease has RolledOut=False with the sentence when its rollout is halted", async () => {
  const fleet = await started();
  await fleet.fail();

  const { rollout } = fleet.status() ?? {};
  assert.ok(rollout !== undefined);
  assert.equal(rollout.phase, "Halted");
  assert.deepEqual(fleet.rolledOut(), ["False", "Halted", rollout.message]);
});
