import assert from "node:assert/strict";
import { agentNamespace } from "@flotilla/shared/api/names";
import { secrets } from "@flotilla/shared/kube/objects";
import { createMemoryApiServer } from "@flotilla/shared/kube/testing";
import { silentLog } from "@flotilla/shared/log";
import { describe, test } from "vitest";
import { createInventory } from "./inventory.ts";
import { type FailedAttempts, inventoryName } from "./inventory-secret.ts";

const place = { namespace: "apps", name: "web" };
const release = {
  ...place,
  uid: "1",
  deploymentId: "sha256:a",
  keepResources: false,
  deleteCRDResources: false,
};
const revision = (number: number) => ({
  revision: number,
  content: `content ${number}`,
  digest: "d",
});
const copy = { kind: "ConfigMap", namespace: "apps", name: "settings", uid: "u-1" } as const;

async function setUp() {
  const rest = createMemoryApiServer();
  const start = () => createInventory({ rest, log: silentLog() });
  const inventory = start();
  assert.equal(await inventory.load(), false);
  await inventory.storeKey();
  const restarted = async () => {
    const next = start();
    assert.equal(await next.load(), true);
    return next;
  };
  return { rest, inventory, restarted };
}

const owner = { id: "web", uid: "1" };
const run = {
  ...{ namespace: "apps", release: "web", revision: 2, rollsBack: false },
  ...{ digest: "d", origin: "o", chartDigest: "sha256:c" },
};

describe("the inventory", () => {
  for (const resetsFailures of [true, false])
    test(`accepts a request that ${resetsFailures ? "resets" : "keeps"} the failures wholly or not at all`, async () => {
      const { rest, inventory, restarted } = await setUp();
      const failed: FailedAttempts = {
        ...{ deploymentId: "sha256:a", digest: "d", count: 2 },
        ...{ action: "upgrade", reason: "UpgradeFailed", message: "late", code: "HELM_FAILED" },
      };
      await inventory.setFailedAttempts("web", failed);
      const stored = async () => {
        const next = await restarted();
        return [next.handledRequestOf("web"), next.failedAttemptsOf("web")];
      };

      rest.failNext(new Error("unavailable"));
      const effects = { isHandled: true, resetsFailures };
      await assert.rejects(inventory.acceptRequest("web", { token: "now" }, effects));
      assert.deepEqual(await stored(), [undefined, failed]);
      await inventory.ensureStored("web");
      assert.deepEqual(await stored(), ["now", resetsFailures ? undefined : failed]);
    });

  test("has the hooks of an attempt until a revision is deployed, or the deployment is withdrawn", async () => {
    const { inventory, restarted } = await setUp();
    const hook = {
      ...{ apiVersion: "batch/v1", kind: "Job", name: "migrate", events: ["pre-install"] },
      ...{ weight: 0, deletePolicies: [] },
    };
    const attempt = (number: number) => ({
      ...{ namespace: "apps", release: "web", revision: number, content: "c", hooks: [hook] },
    });
    await inventory.beginRun(owner, run);
    await inventory.setAttempt("web", attempt(1));
    assert.deepEqual((await restarted()).attemptOf("web"), attempt(1));

    // It fails, and is uninstalled.
    const failed = { added: [revision(2)], kept: [], endsRun: true };
    await inventory.installed("web", release, { ...failed, attempt: attempt(2) });
    await inventory.removed(place);
    assert.deepEqual(inventory.attemptOf("web"), attempt(2));
    await inventory.installed("web", release, failed);
    assert.deepEqual(inventory.attemptOf("web"), attempt(2));

    await inventory.installed("web", release, { ...failed, isDeployed: true });
    assert.equal(inventory.attemptOf("web"), undefined);
    await inventory.setAttempt("web", attempt(3));
    await inventory.withdrawn(owner);
    assert.equal((await restarted()).attemptOf("web"), undefined);
  });

  test("has what was installed, also after a restart", async () => {
    const { inventory, restarted } = await setUp();
    await inventory.installed("web", release, { added: [revision(1)], kept: [] });
    await inventory.installed("web", release, { added: [revision(2)], kept: [1, 2] });
    await inventory.setObjects("web", [copy]);

    for (const each of [inventory, await restarted()]) {
      assert.deepEqual(each.ownerOf(place), { id: "web", uid: "1" });
      assert.deepEqual(each.revisionOf(place, 1), revision(1));
      assert.deepEqual(each.revisionOf(place, 2), revision(2));
      assert.equal(each.ownerOfObject(copy.uid), "web");
    }
  });

  test("drops revisions that do not exist any more", async () => {
    const { inventory } = await setUp();
    await inventory.installed("web", release, { added: [revision(1)], kept: [] });

    await inventory.installed("web", release, { added: [revision(2)], kept: [2] });

    assert.equal(inventory.revisionOf(place, 1), undefined);
  });

  test("gives a release that is adopted to its new deployment alone", async () => {
    const { inventory, restarted } = await setUp();
    await inventory.installed("web", release, { added: [revision(1)], kept: [] });

    await inventory.adopt(place, { id: "shop", uid: "9" });

    for (const each of [inventory, await restarted()]) {
      assert.deepEqual(each.ownerOf(place), { id: "shop", uid: "9" });
      assert.deepEqual(each.releasesOf("web"), []);
      assert.deepEqual(each.revisionOf(place, 1), revision(1));
    }
  });

  test("still has what the agent created of a revision that somebody has changed", async () => {
    const { inventory, restarted } = await setUp();
    await inventory.installed("web", release, { added: [revision(1)], kept: [] });

    await inventory.disown(place, 1);

    for (const each of [inventory, await restarted()])
      assert.deepEqual(each.revisionOf(place, 1), { revision: 1, content: "content 1" });
  });

  test("ignores what another key has signed", async () => {
    const { rest, inventory, restarted } = await setUp();
    await inventory.installed("web", release, { added: [revision(1)], kept: [] });
    const ref = { namespace: agentNamespace, name: inventoryName("web") };
    const stored = await rest.get(secrets, ref);
    const forged = Buffer.from(
      Buffer.from(stored?.data?.["inventory"] ?? "", "base64")
        .toString()
        .replace("content 1", "content 9"),
    ).toString("base64");
    await rest.patch(secrets, ref, { type: "merge", body: { data: { inventory: forged } } });

    assert.equal((await restarted()).ownerOf(place), undefined);
  });

  test("keeps a change whose write failed, and stores it with the next attempt", async () => {
    const { rest, inventory, restarted } = await setUp();
    rest.beforeWrite = () => {
      throw new Error("unavailable");
    };
    await assert.rejects(
      inventory.installed("web", release, { added: [revision(1)], kept: [] }),
      /store the inventory of deployment web in this cluster: unavailable/,
    );
    assert.deepEqual(inventory.revisionOf(place, 1), revision(1));
    rest.beforeWrite = () => undefined;

    await inventory.ensureStored("web");

    assert.deepEqual((await restarted()).revisionOf(place, 1), revision(1));
  });

  test("has a run of Helm from before it starts until its result is entered, also for another agent", async () => {
    const { rest, inventory, restarted } = await setUp();
    await inventory.installed("web", release, { added: [revision(1)], kept: [] });
    const writes: string[] = [];
    rest.beforeWrite = (write) => void writes.push(write);

    await inventory.beginRun(owner, run);
    assert.deepEqual((await restarted()).runOf("web"), run);
    assert.deepEqual(inventory.revisionOf(place, 1), revision(1));
    await inventory.installed("web", release, { added: [revision(2)], kept: [1], endsRun: true });

    assert.equal((await restarted()).runOf("web"), undefined);
    assert.equal(writes.length, 2, "one write before Helm, and one after it");
  });

  test("keeps a run whose release is still locked", async () => {
    const { inventory, restarted } = await setUp();
    await inventory.beginRun(owner, run);

    await inventory.installed("web", release, { added: [revision(2)], kept: [] });

    assert.deepEqual((await restarted()).runOf("web"), run);
  });

  test("knows a deployment from its first run until it is withdrawn, whatever becomes of its release", async () => {
    const { inventory, restarted } = await setUp();
    assert.equal(inventory.knows(owner), false);

    await inventory.beginRun(owner, run);
    await inventory.installed("web", release, { added: [revision(1)], kept: [], endsRun: true });
    await inventory.removed(place);

    for (const each of [inventory, await restarted()]) {
      assert.equal(each.knows(owner), true);
      assert.equal(each.knows({ ...owner, uid: "created again" }), false);
    }
    await inventory.withdrawn(owner);
    assert.equal((await restarted()).knows(owner), false);
  });

  test("knows a deployment that has adopted a release", async () => {
    const { inventory } = await setUp();
    await inventory.installed("web", release, { added: [revision(1)], kept: [] });

    await inventory.adopt(place, { id: "web", uid: "2" });

    assert.equal(inventory.knows({ id: "web", uid: "2" }), true);
  });

  test("keeps what a deployment has that was created again, when the earlier one is withdrawn", async () => {
    const { inventory } = await setUp();
    const again = { id: "web", uid: "2" };
    await inventory.beginRun(again, run);
    await inventory.installed("web", { ...release, uid: "2" }, { added: [revision(1)], kept: [] });

    await inventory.withdrawn(owner);

    assert.equal(inventory.knows(again), true);
    assert.deepEqual(inventory.ownerOf(place), again);
  });

  test("is complete once the hub has sent everything, also after a restart", async () => {
    const { rest, inventory, restarted } = await setUp();
    assert.equal((await restarted()).isComplete, false);
    rest.beforeWrite = () => {
      throw new Error("unavailable");
    };
    await assert.rejects(inventory.setComplete(), /unavailable/);
    assert.equal(inventory.isComplete, false);
    rest.beforeWrite = () => undefined;
    await inventory.installed("web", release, { added: [revision(1)], kept: [] });

    await inventory.setComplete();

    assert.equal(inventory.isComplete, true);
    const next = await restarted();
    assert.equal(next.isComplete, true);
    assert.deepEqual(next.revisionOf(place, 1), revision(1));
  });

  test("stores nothing for a deployment that was withdrawn and left nothing", async () => {
    const { rest, inventory } = await setUp();
    await inventory.beginRun(owner, run);
    await inventory.setStoppedAt("web", 1);

    await inventory.withdrawn(owner);
    await inventory.withdrawn(owner);

    const ref = { namespace: agentNamespace, name: inventoryName("web") };
    assert.equal(await rest.get(secrets, ref), undefined);
  });
});
