import assert from "node:assert/strict";
import { silentLog } from "@flotilla/shared/log";
import { createFakeClock } from "@flotilla/shared/time/testing";
import { describe, test } from "vitest";
import type { StoredRelease } from "../../helm/record/stored-release.ts";
import { readRecordsHere } from "../../helm/record/testing/index.ts";
import type { InventoryAttempt } from "../../state/inventory/inventory-secret.ts";
import { type AttemptDeps, attemptOf, watchLongRun } from "./attempts.ts";

const release: StoredRelease = {
  ...{ namespace: "shop", name: "web", revision: 2, status: "pending-upgrade", manifest: "" },
  ...{ content: "c", tests: [], chartName: "web", chartVersion: "1.0.0", appVersion: "" },
  hooks: [
    {
      ...{ kind: "Job", name: "migrate", events: ["pre-upgrade"], weight: 1, deletePolicies: [] },
      ...{ phase: "Running", head: "apiVersion: batch/v1\nkind: Job\nmetadata: {name: migrate}\n" },
    },
  ],
};

function setUp() {
  const clock = createFakeClock();
  const state = { hasRecord: true, fails: false };
  const entered: (InventoryAttempt | undefined)[] = [];
  const deps: AttemptDeps = {
    stored: {
      recordAt: () => Promise.resolve(state.hasRecord ? ({} as never) : undefined),
      read: () => (state.fails ? Promise.reject(new Error("no")) : Promise.resolve(release)),
      forget: () => undefined,
    },
    records: readRecordsHere,
    attempts: { setAttempt: (_, attempt) => Promise.resolve(void entered.push(attempt)) },
    ...{ clock, log: silentLog() },
  };
  const desired = { namespace: "shop", name: "web", owner: { id: "web", name: "web", uid: "1" } };
  const watched = watchLongRun(deps, { desired, revision: 2 } as never);
  return { clock, state, entered, watched };
}

describe("a run of Helm", () => {
  test("that takes long is entered with its hooks, once it has a record", async () => {
    const { clock, state, entered, watched } = setUp();
    state.hasRecord = false;
    await clock.advance(4_000);
    assert.deepEqual(entered, []);

    state.hasRecord = true;
    await clock.advance(4_000);
    await watched.end();

    assert.deepEqual(entered, [
      {
        ...{ namespace: "shop", release: "web", revision: 2, content: "c" },
        hooks: [
          {
            ...{ apiVersion: "batch/v1", kind: "Job", name: "migrate", phase: "Running" },
            ...{ events: ["pre-upgrade"], weight: 1, deletePolicies: [] },
          },
        ],
      },
    ]);
  });

  test("is entered without hooks in other namespaces, which a tenant may have written into the record", async () => {
    const hook = (namespace: string): StoredRelease["hooks"][number] => ({
      ...{ kind: "Pod", name: "any", events: ["pre-upgrade"], weight: 1, deletePolicies: [] },
      phase: "Running",
      head: `apiVersion: v1\nkind: Pod\nmetadata: {name: any, namespace: ${namespace}}\n`,
    });
    const written = { ...release, hooks: [hook("kube-system"), hook("shop")] };

    const { hooks } = await attemptOf(readRecordsHere, written);

    assert.deepEqual(
      hooks.map(({ namespace }) => namespace),
      ["shop"],
    );
  });

  test("that ends before is not, and one whose record cannot be read goes on", async () => {
    const short = setUp();
    await short.clock.advance(3_000);
    await short.watched.end();
    await short.clock.advance(60_000);
    assert.deepEqual(short.entered, []);

    const unreadable = setUp();
    unreadable.state.fails = true;
    await unreadable.clock.advance(4_000);
    await unreadable.watched.end();
    assert.deepEqual(unreadable.entered, []);
  });
});
