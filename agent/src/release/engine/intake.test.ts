import assert from "node:assert/strict";
import type { DeploymentKey } from "@flotilla/proto";
import { createMemoryApiServer } from "@flotilla/shared/kube/testing";
import { silentLog } from "@flotilla/shared/log";
import { describe, test } from "vitest";
import { createAssignmentStorage } from "../../state/assignment/assignment-storage.ts";
import { createAssignments } from "../../state/assignment/assignments.ts";
import type { InventoryRelease } from "../../state/inventory/inventory-secret.ts";
import { createIntake } from "./intake.ts";

const deployment = { name: "web", uid: "u" };
const lost = { deploymentId: "sha256:1", content: Buffer.from("content") };
const release: InventoryRelease = {
  ...{ namespace: "apps", name: "web", uid: "u", deploymentId: "sha256:0", revisions: [] },
  ...{ keepResources: false, deleteCRDResources: false },
};

interface Options {
  readonly isComplete?: boolean;
  readonly known?: readonly InventoryRelease[];
}

function setUp({ isComplete = false, known = [] }: Options = {}) {
  const log = silentLog();
  const storage = createAssignmentStorage({ rest: createMemoryApiServer(), log });
  const assignments = createAssignments({ storage, log });
  const confirmed: DeploymentKey[] = [];
  const done = () => Promise.resolve();
  const intake = createIntake({
    assignments,
    inventory: { releasesOf: () => known },
    documents: { isComplete, setComplete: done },
    referenced: {
      ...{ load: done, observed: () => [], get: () => undefined, onChange: () => undefined },
      ...{ set: () => Promise.resolve(true), remove: done },
    },
    clusterInfo: {
      ...{ load: done, digest: undefined, get: () => undefined, onChange: () => undefined },
      set: () => Promise.resolve(true),
    },
    withdrawn: { withdraw: done, cancel: () => undefined, removeUnreferenced: done },
    outbox: { withdrawn: (key) => void confirmed.push(key) },
    statuses: { states: () => [] },
  });
  return { intake, assignments, confirmed };
}

describe("a withdrawal of a deployment that the agent does not have", () => {
  test("is stored to look for its release if the inventory may be incomplete", async () => {
    const { intake, assignments, confirmed } = setUp();

    assert.equal(await intake.withdraw(deployment, { lost }), true);

    const { content, deploymentId } = lost;
    const stored = { owner: deployment, deploymentId, content, paused: false, withdrawing: true };
    assert.deepEqual(assignments.get("web"), { ...stored, lost: true });
    assert.deepEqual(confirmed, []);
  });

  test("is confirmed if the inventory is complete and has no release of it", async () => {
    const { intake, assignments, confirmed } = setUp({ isComplete: true });

    assert.equal(await intake.withdraw(deployment, { lost }), true);

    assert.equal(assignments.get("web"), undefined);
    assert.deepEqual(confirmed, [deployment]);
  });

  test("uninstalls what is in the inventory, without looking for it", async () => {
    const { intake, assignments, confirmed } = setUp({ known: [release] });

    await intake.withdraw(deployment, { lost });

    assert.equal(assignments.get("web")?.deploymentId, "sha256:0");
    assert.equal(assignments.get("web")?.lost, undefined);
    assert.deepEqual(confirmed, []);
  });

  test("is stored to look for its release if the inventory has that of an earlier deployment", async () => {
    const { intake, assignments } = setUp({ known: [{ ...release, uid: "earlier" }] });

    await intake.withdraw(deployment, { lost });

    assert.equal(assignments.get("web")?.lost, true);
  });

  test("is confirmed if the hub sends no content, as no agent has ever reported on it", async () => {
    const { intake, confirmed } = setUp();

    await intake.withdraw(deployment);

    assert.deepEqual(confirmed, [deployment]);
  });

  test("is confirmed if its release is to stay installed", async () => {
    const { intake, assignments, confirmed } = setUp({ known: [release] });

    await intake.withdraw(deployment, { keepsRelease: true });

    assert.equal(assignments.get("web"), undefined);
    assert.deepEqual(confirmed, [deployment]);
  });

  test("leaves a deployment of that name with another UID alone", async () => {
    const { intake, assignments } = setUp();
    const other = { name: "web", uid: "other" };
    await intake.assign({ deployment: other, ...lost, paused: false });

    await intake.withdraw(deployment, { lost });

    assert.deepEqual(assignments.get("web")?.owner, other);
    assert.equal(assignments.get("web")?.withdrawing, false);
  });
});
