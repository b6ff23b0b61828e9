/**
 * Values that the hub reads (`valuesFrom` of a HelmRelease) in rollouts with stages, by the controllers of a leader on an API server in
 * memory: a change of an object goes through the stages, and each cluster has the values of its content.
 */
import assert from "node:assert/strict";
import { type BundleDeployment, bundleDeployments, bundles } from "@flotilla/shared/api";
import { clusterLabel } from "@flotilla/shared/api/names";
import { bundleRollouts } from "@flotilla/shared/api/rollout";
import { findCondition } from "@flotilla/shared/conditions";
import { type DeploymentContent, unpackContent } from "@flotilla/shared/content";
import type { HelmReleaseSpec } from "@flotilla/shared/flux";
import { onTestFinished, test } from "vitest";
import { createContentStore } from "../../rules/content/content-store.ts";
import { createTestLeader, type TestLeader, workspace } from "../../testing/index.ts";
import {
  applyFluxStep,
  type FluxStep,
  type RepositoryState,
  resolverOf,
  sourcesOf,
} from "./testing/index.ts";

const stages = {
  stages: [
    { name: "canary", clusterName: "paris" },
    { name: "rest", before: [{ name: "board", approval: {} }] },
  ],
};
const valuesFrom = [{ kind: "Secret", name: "settings", valuesKey: "values.yaml" }] as const;

interface Fleet {
  readonly leader: TestLeader;
  put(values: string | undefined): Promise<void>;
  release(spec: Partial<HelmReleaseSpec>): Promise<void>;
  /** The values of the content that a cluster is to have: of its own, or "sent" where the hub sends the object. */
  valuesIn(cluster: string): Promise<string | undefined>;
  ready(): Promise<void>;
}

async function start(spec: Partial<HelmReleaseSpec>): Promise<Fleet> {
  const repository: RepositoryState = { version: "1.2.3", isUp: true, requests: 0 };
  const leader = createTestLeader(resolverOf(repository), sourcesOf(repository));
  onTestFinished(() => leader.stop());
  const { rest } = leader;
  const apply = (step: FluxStep) => applyFluxStep(leader, repository, step);
  for (const name of ["paris", "rome"]) apply({ kind: "cluster", name, presence: "join" });
  apply({ kind: "source", spec: { interval: "1m" } });
  const fleet: Fleet = {
    leader,
    async put(values) {
      leader.putSecret(
        workspace,
        "settings",
        values === undefined ? undefined : { "values.yaml": values },
      );
      await leader.pass(10_000);
    },
    async release(own) {
      apply({ kind: "release", name: "web", spec: own });
      await leader.pass(10_000);
    },
    async valuesIn(cluster) {
      const content = await contentIn(leader, cluster);
      const [source] = content?.hubValues ?? [];
      if (source === undefined) return undefined;
      const { data } = source.object ?? {};
      return data === undefined
        ? "sent"
        : Buffer.from(data["values.yaml"] ?? "", "base64").toString();
    },
    async ready() {
      for (const each of rest.all(bundleDeployments)) {
        const appliedDeploymentID = each.spec.deploymentID;
        if (appliedDeploymentID !== "")
          rest.put(bundleDeployments, { ...each, status: { appliedDeploymentID, ready: true } });
      }
      await leader.pass(10_000);
    },
  };
  await fleet.put("size: 1");
  await fleet.release(spec);
  return fleet;
}

function deploymentIn({ rest }: TestLeader, cluster: string): BundleDeployment | undefined {
  return rest
    .all(bundleDeployments)
    .find(({ metadata }) => metadata.labels?.[clusterLabel] === cluster);
}

async function contentIn(
  leader: TestLeader,
  cluster: string,
): Promise<DeploymentContent | undefined> {
  const deploymentId = deploymentIn(leader, cluster)?.spec.deploymentID ?? "";
  if (deploymentId === "") return undefined;
  const { rest, clock } = leader;
  const stored = createContentStore({
    rest,
    stored: leader.caches.contents.store,
    namespace: "flotilla-system",
    clock,
  });
  return await unpackContent({ deploymentId, bytes: await stored.read(deploymentId) });
}

function newest({ rest }: TestLeader) {
  return rest
    .all(bundleRollouts)
    .toSorted((a, b) => a.spec.number - b.spec.number)
    .at(-1);
}

/** The values of both clusters are those of now. */
async function rolledOut(): Promise<Fleet> {
  const fleet = await start({
    valuesFrom: [...valuesFrom],
    rolloutStrategy: { stages: [{ name: "canary", clusterName: "paris" }, { name: "rest" }] },
  });
  await fleet.ready();
  await fleet.ready();
  assert.equal(newest(fleet.leader)?.status?.phase, "Completed");
  await fleet.release({ valuesFrom: [...valuesFrom], rolloutStrategy: stages });
  return fleet;
}

test("a change of an object goes through the stages, and later clusters keep the values of before", async () => {
  const fleet = await rolledOut();
  assert.deepEqual(
    [await fleet.valuesIn("paris"), await fleet.valuesIn("rome")],
    ["size: 1", "size: 1"],
  );

  await fleet.put("size: 2");
  await fleet.ready();

  assert.deepEqual(
    [await fleet.valuesIn("paris"), await fleet.valuesIn("rome")],
    ["size: 2", "size: 1"],
  );
  assert.equal(newest(fleet.leader)?.status?.reason, "GateWaiting");
  for (const { spec } of fleet.leader.rest.all(bundleDeployments))
    assert.equal(spec.referencedObjects, undefined);
});

test("an object that is changed back is a rollback, without gates", async () => {
  const fleet = await rolledOut();
  await fleet.put("size: 2");
  await fleet.ready();

  await fleet.put("size: 1");

  assert.equal(await fleet.valuesIn("paris"), "size: 1");
});

test("an object that is deleted stops the rollout by name, and what is deployed stays, until it is there again", async () => {
  const fleet = await rolledOut();
  await fleet.put("size: 2");

  await fleet.put(undefined);
  await fleet.leader.pass(10_000);
  const bundle = () => fleet.leader.rest.all(bundles).find(({ metadata }) => metadata.name !== "");
  const accepted = () => findCondition(bundle()?.status?.conditions, "Accepted");
  assert.equal(accepted()?.status, "False");
  assert.equal(
    accepted()?.message,
    "there is no Secret fleet-default/settings, which valuesFrom references: its values belong to what is rolled out in stages, so nothing is promoted until it can be read",
  );
  assert.deepEqual(
    [await fleet.valuesIn("paris"), await fleet.valuesIn("rome")],
    ["size: 2", "size: 1"],
  );
  await fleet.put("size: 2");

  assert.equal(accepted()?.status, "True");
});

test("without stages agents get the object itself, as before", async () => {
  const fleet = await start({ valuesFrom: [...valuesFrom] });

  assert.equal(await fleet.valuesIn("paris"), "sent");
  const id = deploymentIn(fleet.leader, "paris")?.spec.deploymentID;
  assert.deepEqual(deploymentIn(fleet.leader, "paris")?.spec.referencedObjects, [
    "Secret/fleet-default/settings#values.yaml",
  ]);
  await fleet.put("size: 2");

  assert.equal(deploymentIn(fleet.leader, "paris")?.spec.deploymentID, id);
});

test("an optional object that does not exist has no values, and is another revision when it appears", async () => {
  const optional = valuesFrom.map((each) => ({ ...each, optional: true }));
  const fleet = await start({ valuesFrom: optional, rolloutStrategy: stages });
  await fleet.put(undefined);
  await fleet.ready();
  const before = newest(fleet.leader)?.spec.revision;
  await fleet.put("size: 3");

  assert.notEqual(before, undefined);
  assert.notEqual(
    newest(fleet.leader)?.status?.next?.revision ?? newest(fleet.leader)?.spec.revision,
    before,
  );
});
