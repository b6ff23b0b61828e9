import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { BundleState } from "@flotilla/shared/api/summary.ts";
import type { DeploymentContent } from "@flotilla/shared/content/content.ts";
import { plainContent } from "@flotilla/shared/content/testing/plain-content.ts";
import type { Assignment } from "../assignment/assignment-secret.ts";
import { testAssignment } from "../testing/test-assignment.ts";
import { createDependencyTracker } from "./dependency-tracker.ts";

function setUp(...held: readonly Assignment[]) {
  const assigned = new Map(held.map((each) => [each.owner.name, each]));
  const states = new Map<string, BundleState>();
  const woken: string[] = [];
  const listeners: ((name: string) => void)[] = [];
  const waiting = createDependencyTracker({
    assignments: {
      list: () => [...assigned.values()],
      onChange: (listener) => void listeners.push(listener),
    },
    stateOf: ({ owner }) => states.get(owner.name) ?? "WaitApplied",
    enqueue: (name) => void woken.push(name),
  });
  return {
    waiting,
    woken,
    assign(each: Assignment) {
      assigned.set(each.owner.name, each);
      for (const listener of listeners) listener(each.owner.name);
    },
    is(name: string, state: BundleState) {
      states.set(name, state);
      waiting.setState(name, state);
    },
    /** One pass of a deployment's, as the engine makes it. */
    async pass(name: string, ...dependsOn: NonNullable<DeploymentContent["dependsOn"]>) {
      const hindrance = await waiting.unmet(name, { ...plainContent, dependsOn });
      waiting.setWaitsFor(name, hindrance?.names);
      return hindrance?.message;
    },
  };
}

suite("a deployment that waits", () => {
  test("looks again when another one is in another state, and only then", async () => {
    const { woken, is, pass } = setUp(await testAssignment("db"), await testAssignment("web"));
    is("db", "NotReady");
    assert.match((await pass("web", { name: "db" })) ?? "", /db, which is NotReady/);

    is("db", "NotReady");
    assert.deepEqual(woken, []);
    is("db", "Ready");

    assert.deepEqual(woken, ["web"]);
    assert.equal(await pass("web", { name: "db" }), undefined);
    is("db", "NotReady");
    assert.deepEqual(woken, ["web"], "it waits for nobody any more");
  });

  test("looks again when what it waits for becomes ready while it looks", async () => {
    const { waiting, woken, is } = setUp(await testAssignment("db"));
    is("db", "NotReady");

    const looking = waiting.unmet("web", { ...plainContent, dependsOn: [{ name: "db" }] });
    is("db", "Ready");
    waiting.setWaitsFor("web", (await looking)?.names);

    assert.deepEqual(woken, ["web"]);
  });

  test("looks again when another one comes, and when one goes", async () => {
    const { waiting, woken, assign, is, pass } = setUp();
    assert.match((await pass("web", { name: "db" })) ?? "", /db, which this cluster does not have/);

    assign(await testAssignment("db"));
    assert.deepEqual(woken, ["web"]);
    is("db", "WaitApplied");
    waiting.setState("db", undefined);

    assert.deepEqual(woken, ["web", "web", "web"]);
  });

  test("finds others by the labels of their Bundles, and by their names as a label", async () => {
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

  test("does not wait for what is being withdrawn, which is as good as gone", async () => {
    const leaving = { ...(await testAssignment("db")), withdrawing: true };
    const { is, pass } = setUp(leaving);
    is("db", "Ready");

    assert.match((await pass("web", { name: "db" })) ?? "", /db, which this cluster does not have/);
  });

  test("hears of a circle that it is in, whoever of them looked first", async () => {
    const { woken, pass } = setUp(await testAssignment("a"), await testAssignment("b"));
    assert.doesNotMatch((await pass("a", { name: "b" })) ?? "", /each other/);

    assert.match((await pass("b", { name: "a" })) ?? "", /cycle: b waits for a waits for b/);

    assert.deepEqual(woken, ["a"]);
    assert.match((await pass("a", { name: "b" })) ?? "", /cycle: a waits for b waits for a/);
    assert.deepEqual(woken, ["a"], "nothing is new any more");
  });
});
