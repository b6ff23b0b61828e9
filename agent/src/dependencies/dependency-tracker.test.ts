import assert from "node:assert/strict";
import type { BundleState } from "@flotilla/shared/api";
import type { DeploymentContent } from "@flotilla/shared/content";
import { plainContent } from "@flotilla/shared/content/testing";
import { describe, test } from "vitest";
import type { Assignment } from "../assignment/index.ts";
import { testAssignment } from "../testing/index.ts";
import { createDependencyTracker } from "./dependency-tracker.ts";

function setUp(...assignments: readonly Assignment[]) {
  const assigned = new Map(assignments.map((each) => [each.owner.name, each]));
  const states = new Map<string, BundleState>();
  const enqueued: string[] = [];
  const listeners: ((name: string) => void)[] = [];
  const tracker = createDependencyTracker({
    assignments: {
      list: () => [...assigned.values()],
      onChange: (listener) => void listeners.push(listener),
    },
    stateOf: ({ owner }) => states.get(owner.name) ?? "WaitApplied",
    enqueue: (name) => void enqueued.push(name),
  });
  return {
    tracker,
    enqueued,
    assign(each: Assignment) {
      assigned.set(each.owner.name, each);
      for (const listener of listeners) listener(each.owner.name);
    },
    is(name: string, state: BundleState) {
      states.set(name, state);
      tracker.setState(name, state);
    },
    /** One check of a deployment, as the engine does it. */
    async pass(name: string, ...dependsOn: NonNullable<DeploymentContent["dependsOn"]>) {
      const unmet = await tracker.unmet(name, { ...plainContent, dependsOn });
      tracker.setWaitsFor(name, unmet?.names);
      return unmet?.message;
    },
  };
}

describe("a deployment that waits", () => {
  test("is enqueued when the state of another one changes, and only then", async () => {
    const { enqueued, is, pass } = setUp(await testAssignment("db"), await testAssignment("web"));
    is("db", "NotReady");
    assert.match((await pass("web", { name: "db" })) ?? "", /db, which is NotReady/);

    is("db", "NotReady");
    assert.deepEqual(enqueued, []);
    is("db", "Ready");

    assert.deepEqual(enqueued, ["web"]);
    assert.equal(await pass("web", { name: "db" }), undefined);
    is("db", "NotReady");
    assert.deepEqual(enqueued, ["web"], "it waits no more");
  });

  test("is enqueued when a dependency becomes ready during the check", async () => {
    const { tracker, enqueued, is } = setUp(await testAssignment("db"));
    is("db", "NotReady");

    const looking = tracker.unmet("web", { ...plainContent, dependsOn: [{ name: "db" }] });
    is("db", "Ready");
    tracker.setWaitsFor("web", (await looking)?.names);

    assert.deepEqual(enqueued, ["web"]);
  });

  test("is enqueued when another one is assigned or removed", async () => {
    const { tracker, enqueued, assign, is, pass } = setUp();
    assert.match((await pass("web", { name: "db" })) ?? "", /db, which this cluster does not have/);

    assign(await testAssignment("db"));
    assert.deepEqual(enqueued, ["web"]);
    is("db", "WaitApplied");
    tracker.setState("db", undefined);

    assert.deepEqual(enqueued, ["web", "web", "web"]);
  });

  test("matches others by the labels of their Bundles, and by their names as a label", async () => {
    const base = { matchLabels: { tier: "base" } };
    const { is, pass } = setUp(
      await testAssignment("db", { labels: { tier: "base" } }),
      await testAssignment("web"),
    );

    assert.match(
      (await pass("web", { selector: base })) ?? "",
      /waiting for db, which is WaitApplied/,
    );
    is("db", "Ready");
    assert.equal(await pass("web", { selector: base }), undefined);
    const named = { matchLabels: { "fleet.cattle.io/bundle-name": "db" } };
    assert.equal(await pass("web", { selector: named }), undefined);
  });

  test("does not wait for a deployment that is being withdrawn", async () => {
    const leaving = { ...(await testAssignment("db")), withdrawing: true };
    const { is, pass } = setUp(leaving);
    is("db", "Ready");

    assert.match((await pass("web", { name: "db" })) ?? "", /db, which this cluster does not have/);
  });

  test("reports a cycle, whichever of them is checked first", async () => {
    const { enqueued, pass } = setUp(await testAssignment("a"), await testAssignment("b"));
    assert.doesNotMatch((await pass("a", { name: "b" })) ?? "", /each other/);

    assert.match((await pass("b", { name: "a" })) ?? "", /cycle: b waits for a waits for b/);

    assert.deepEqual(enqueued, ["a"]);
    assert.match((await pass("a", { name: "b" })) ?? "", /cycle: a waits for b waits for a/);
    assert.deepEqual(enqueued, ["a"], "nothing is new any more");
  });
});
