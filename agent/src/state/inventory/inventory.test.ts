import assert from "node:assert/strict";
import { agentNamespace } from "@flotilla/shared/api/names";
import { secrets } from "@flotilla/shared/kube/objects";
import { createMemoryApiServer } from "@flotilla/shared/kube/testing";
import { silentLog } from "@flotilla/shared/log";
import { describe, test } from "vitest";
import { createInventory } from "./create-inventory.ts";
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
  const parts = start();
  assert.equal(await parts.documents.load(), false);
  await parts.documents.storeKey();
  const restarted = async () => {
    const next = start();
    assert.equal(await next.documents.load(), true);
    return next;
  };
  return { rest, parts, restarted, ...parts };
}

const owner = { id: "web", uid: "1" };
const run = {
  ...{ namespace: "apps", release: "web", revision: 2, rollsBack: false },
  ...{ digest: "d", origin: "o", chartDigest: "sha256:c" },
};

describe("the inventory", () => {
  for (const resetsFailures of [true, false])
    test(`accepts a request that ${resetsFailures ? "resets" : "keeps"} the failures wholly or not at all`, async () => {
      const { rest, inventory, attempts, requests, restarted } = await setUp();
      const failed: FailedAttempts = {
        ...{ deploymentId: "sha256:a", digest: "d", count: 2 },
        ...{ action: "upgrade", reason: "UpgradeFailed", message: "late", code: "HELM_FAILED" },
      };
      await attempts.setFailedAttempts("web", failed);
      const stored = async () => {
        const next = await restarted();
        return [next.requests.handledRequestOf("web"), next.attempts.failedAttemptsOf("web")];
      };

      rest.failNext(new Error("unavailable"));
      const effects = { isHandled: true, resetsFailures };
      await assert.rejects(requests.acceptRequest("web", { token: "now" }, effects));
      assert.deepEqual(await stored(), [undefined, failed]);
      await inventory.ensureStored("web");
      assert.deepEqual(await stored(), ["now", resetsFailures ? undefined : failed]);
    });

  test("has the hooks of an attempt until a revision is deployed, or the deployment is withdrawn", async () => {
    const { inventory, attempts, restarted } = await setUp();
    const hook = {
      ...{ apiVersion: "batch/v1", kind: "Job", name: "migrate", events: ["pre-install"] },
      ...{ weight: 0, deletePolicies: [] },
    };
    const attempt = (number: number) => ({
      ...{ namespace: "apps", release: "web", revision: number, content: "c", hooks: [hook] },
    });
    await attempts.beginRun(owner, run);
    await attempts.setAttempt("web", attempt(1));
    assert.deepEqual((await restarted()).attempts.attemptOf("web"), attempt(1));

    // It fails, and is uninstalled.
    const failed = { added: [revision(2)], kept: [], endsRun: true };
    await inventory.installed("web", release, { ...failed, attempt: attempt(2) });
    await inventory.removed(place);
    assert.deepEqual(attempts.attemptOf("web"), attempt(2));
    await inventory.installed("web", release, failed);
    assert.deepEqual(attempts.attemptOf("web"), attempt(2));

    await inventory.installed("web", release, { ...failed, isDeployed: true });
    assert.equal(attempts.attemptOf("web"), undefined);
    await attempts.setAttempt("web", attempt(3));
    await inventory.withdrawn(owner);
    assert.equal((await restarted()).attempts.attemptOf("web"), undefined);
  });

  test("has what was installed, also after a restart", async () => {
    const { parts, inventory, restarted } = await setUp();
    await inventory.installed("web", release, { added: [revision(1)], kept: [] });
    await inventory.installed("web", release, { added: [revision(2)], kept: [1, 2] });
    await inventory.setObjects("web", [copy]);

    for (const each of [parts, await restarted()]) {
      assert.deepEqual(each.inventory.ownerOf(place), { id: "web", uid: "1" });
      assert.deepEqual(each.inventory.revisionOf(place, 1), revision(1));
      assert.deepEqual(each.inventory.revisionOf(place, 2), revision(2));
      assert.equal(each.inventory.ownerOfObject(copy.uid), "web");
    }
  });

  test("drops revisions that do not exist any more", async () => {
    const { inventory } = await setUp();
    await inventory.installed("web", release, { added: [revision(1)], kept: [] });

    await inventory.installed("web", release, { added: [revision(2)], kept: [2] });

    assert.equal(inventory.revisionOf(place, 1), undefined);
  });

  test("gives a release that is adopted to its new deployment alone", async () => {
    const { parts, inventory, restarted } = await setUp();
    await inventory.installed("web", release, { added: [revision(1)], kept: [] });

    await inventory.adopt(place, { id: "shop", uid: "9" });

    for (const each of [parts, await restarted()]) {
      assert.deepEqual(each.inventory.ownerOf(place), { id: "shop", uid: "9" });
      assert.deepEqual(each.inventory.releasesOf("web"), []);
      assert.deepEqual(each.inventory.revisionOf(place, 1), revision(1));
    }
  });

  test("still has what the agent created of a revision that somebody has changed", async () => {
    const { parts, inventory, restarted } = await setUp();
    await inventory.installed("web", release, { added: [revision(1)], kept: [] });

    await inventory.disown(place, 1);

    for (const each of [parts, await restarted()])
      assert.deepEqual(each.inventory.revisionOf(place, 1), { revision: 1, content: "content 1" });
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

    assert.equal((await restarted()).inventory.ownerOf(place), undefined);
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

    assert.deepEqual((await restarted()).inventory.revisionOf(place, 1), revision(1));
  });

  test("has a run of Helm from before it starts until its result is entered, also for another agent", async () => {
    const { rest, inventory, attempts, restarted } = await setUp();
    await inventory.installed("web", release, { added: [revision(1)], kept: [] });
    const writes: string[] = [];
    rest.beforeWrite = (write) => void writes.push(write);

    await attempts.beginRun(owner, run);
    assert.deepEqual((await restarted()).attempts.runOf("web"), run);
    assert.deepEqual(inventory.revisionOf(place, 1), revision(1));
    await inventory.installed("web", release, { added: [revision(2)], kept: [1], endsRun: true });

    assert.equal((await restarted()).attempts.runOf("web"), undefined);
    assert.equal(writes.length, 2, "one write before Helm, and one after it");
  });

  test("keeps a run whose release is still locked", async () => {
    const { inventory, attempts, restarted } = await setUp();
    await attempts.beginRun(owner, run);

    await inventory.installed("web", release, { added: [revision(2)], kept: [] });

    assert.deepEqual((await restarted()).attempts.runOf("web"), run);
  });

  test("knows a deployment from its first run until it is withdrawn, whatever happens to its release", async () => {
    const { parts, inventory, attempts, restarted } = await setUp();
    assert.equal(inventory.knows(owner), false);

    await attempts.beginRun(owner, run);
    await inventory.installed("web", release, { added: [revision(1)], kept: [], endsRun: true });
    await inventory.removed(place);

    for (const each of [parts, await restarted()]) {
      assert.equal(each.inventory.knows(owner), true);
      assert.equal(each.inventory.knows({ ...owner, uid: "created again" }), false);
    }
    await inventory.withdrawn(owner);
    assert.equal((await restarted()).inventory.knows(owner), false);
  });

  test("knows a deployment that has adopted a release", async () => {
    const { inventory } = await setUp();
    await inventory.installed("web", release, { added: [revision(1)], kept: [] });

    await inventory.adopt(place, { id: "web", uid: "2" });

    assert.equal(inventory.knows({ id: "web", uid: "2" }), true);
  });

  test("keeps what a deployment has that was created again, when the earlier one is withdrawn", async () => {
    const { inventory, attempts } = await setUp();
    const again = { id: "web", uid: "2" };
    await attempts.beginRun(again, run);
    await inventory.installed("web", { ...release, uid: "2" }, { added: [revision(1)], kept: [] });

    await inventory.withdrawn(owner);

    assert.equal(inventory.knows(again), true);
    assert.deepEqual(inventory.ownerOf(place), again);
  });

  test("is complete once the hub has sent everything, also after a restart", async () => {
    const { rest, documents, inventory, restarted } = await setUp();
    assert.equal((await restarted()).documents.isComplete, false);
    rest.beforeWrite = () => {
      throw new Error("unavailable");
    };
    await assert.rejects(documents.setComplete(), /unavailable/);
    assert.equal(documents.isComplete, false);
    rest.beforeWrite = () => undefined;
    await inventory.installed("web", release, { added: [revision(1)], kept: [] });

    await documents.setComplete();

    assert.equal(documents.isComplete, true);
    const next = await restarted();
    assert.equal(next.documents.isComplete, true);
    assert.deepEqual(next.inventory.revisionOf(place, 1), revision(1));
  });

  test("stores nothing for a deployment that was withdrawn and left nothing", async () => {
    const { rest, inventory, attempts } = await setUp();
    await attempts.beginRun(owner, run);
    await attempts.setStoppedAt("web", 1);

    await inventory.withdrawn(owner);
    await inventory.withdrawn(owner);

    const ref = { namespace: agentNamespace, name: inventoryName("web") };
    assert.equal(await rest.get(secrets, ref), undefined);
  });
});
