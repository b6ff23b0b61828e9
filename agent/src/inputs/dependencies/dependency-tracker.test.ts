import assert from "node:assert/strict";
import type { DeploymentState } from "@flotilla/proto";
import type { BundleState } from "@flotilla/shared/api";
import type { DeploymentContent } from "@flotilla/shared/content";
import { plainContent } from "@flotilla/shared/content/testing";
import { describe, test } from "vitest";
import type { Assignment } from "../../state/assignment/assignment-secret.ts";
import { testAssignment } from "../../testing/index.ts";
import { createDependencyTracker, type ReportedState } from "./dependency-tracker.ts";

function setUp(...assignments: readonly Assignment[]) {
  const assigned = new Map(assignments.map((each) => [each.owner.name, each]));
  const states = new Map<string, ReportedState>();
  const enqueued: string[] = [];
  const listeners: ((name: string) => void)[] = [];
  const tracker = createDependencyTracker({
    assignments: {
      list: () => [...assigned.values()],
      onChange: (listener) => void listeners.push(listener),
    },
    stateOf: ({ owner }) => states.get(owner.name) ?? { state: "WaitApplied" },
    enqueue: (name) => void enqueued.push(name),
  });
  return {
    tracker,
    enqueued,
    assign(each: Assignment) {
      assigned.set(each.owner.name, each);
      for (const listener of listeners) listener(each.owner.name);
    },
    is(name: string, state: BundleState, report?: DeploymentState) {
      states.set(name, { state, report });
      tracker.setState(name, { state, report });
    },
    /** Checks the dependencies of a deployment, as the engine does. */
    async check(name: string, ...dependsOn: NonNullable<DeploymentContent["dependsOn"]>) {
      const unmet = await tracker.unmet(name, { ...plainContent, dependsOn });
      tracker.setWaitsFor(name, unmet?.names);
      return unmet?.message;
    },
  };
}

describe("a deployment that waits", () => {
  test("is enqueued only when the state of a dependency changes", async () => {
    const { enqueued, is, check } = setUp(await testAssignment("db"), await testAssignment("web"));
    is("db", "NotReady");
    assert.match((await check("web", { name: "db" })) ?? "", /db, which is NotReady/);

    is("db", "NotReady");
    assert.deepEqual(enqueued, []);
    is("db", "Ready");

    assert.deepEqual(enqueued, ["web"]);
    assert.equal(await check("web", { name: "db" }), undefined);
    is("db", "NotReady");
    assert.deepEqual(enqueued, ["web"], "web does not wait any more");
  });

  test("is enqueued when a dependency becomes ready during the check", async () => {
    const { tracker, enqueued, is } = setUp(await testAssignment("db"));
    is("db", "NotReady");

    const checking = tracker.unmet("web", { ...plainContent, dependsOn: [{ name: "db" }] });
    is("db", "Ready");
    tracker.setWaitsFor("web", (await checking)?.names);

    assert.deepEqual(enqueued, ["web"]);
  });

  test("is enqueued when a dependency is assigned or removed", async () => {
    const { tracker, enqueued, assign, is, check } = setUp();
    assert.match(
      (await check("web", { name: "db" })) ?? "",
      /db, which this cluster does not have/,
    );

    assign(await testAssignment("db"));
    assert.deepEqual(enqueued, ["web"]);
    is("db", "WaitApplied");
    tracker.setState("db", undefined);

    assert.deepEqual(enqueued, ["web", "web", "web"]);
  });

  test("matches dependencies by the labels of their Bundles and by the bundle-name label", async () => {
    const base = { matchLabels: { tier: "base" } };
    const { is, check } = setUp(
      await testAssignment("db", { labels: { tier: "base" } }),
      await testAssignment("web"),
    );

    assert.match(
      (await check("web", { selector: base })) ?? "",
      /waiting for db, which is WaitApplied/,
    );
    is("db", "Ready");
    assert.equal(await check("web", { selector: base }), undefined);
    const named = { matchLabels: { "fleet.cattle.io/bundle-name": "db" } };
    assert.equal(await check("web", { selector: named }), undefined);
  });

  test("does not wait for a deployment that is being withdrawn", async () => {
    const withdrawn = { ...(await testAssignment("db")), withdrawing: true };
    const { is, check } = setUp(withdrawn);
    is("db", "Ready");

    assert.match(
      (await check("web", { name: "db" })) ?? "",
      /db, which this cluster does not have/,
    );
  });

  test("reports a cycle in each order of the checks", async () => {
    const { enqueued, check } = setUp(await testAssignment("a"), await testAssignment("b"));
    assert.doesNotMatch((await check("a", { name: "b" })) ?? "", /cycle/);

    assert.match((await check("b", { name: "a" })) ?? "", /cycle: b → a → b;/);

    assert.deepEqual(enqueued, ["a"]);
    assert.match((await check("a", { name: "b" })) ?? "", /cycle: a → b → a;/);
    assert.deepEqual(enqueued, ["a"], "an unchanged cycle enqueues nothing");
  });

  test("with one of its releases waits for deployments, and a cycle is found over all of its releases", async () => {
    const { enqueued, is, check } = setUp(await testAssignment("web"), await testAssignment("db"));
    is("db", "NotReady");

    assert.match((await check("web/shop/app", { name: "db" })) ?? "", /db, which is NotReady/);
    assert.equal(await check("web/market/app"), undefined);
    assert.match((await check("web/shop/app", { name: "web" })) ?? "", /itself/);
    await check("web/shop/app", { name: "db" });
    assert.match((await check("db", { name: "web" })) ?? "", /cycle: db → web → db;/);
    enqueued.length = 0;
    is("web", "Ready");
    is("db", "Ready");

    assert.deepEqual(enqueued, ["db", "web/shop/app"]);
  });

  test("by an expression is enqueued by each change of what the expression may read", async () => {
    const { enqueued, is, check } = setUp(
      await testAssignment("db"),
      await testAssignment("other"),
      await testAssignment("web"),
    );
    const { deploymentId } = await testAssignment("db");
    const dependency = { name: "db", readyExpr: "dep.status.release.appVersion == '2'" };
    const deployed = (appVersion: string, ready = false): DeploymentState => ({
      ...{ name: "db", uid: "uid-db", deploymentId, phase: "deployed", message: "", ready },
      ...{ notReady: [], resources: [], incomplete: false },
      counts: { desiredReady: 1, ready: 0, notReady: 1, missing: 0, unknown: 0 },
      release: { namespace: "db", name: "db", revision: 1, chartVersion: "1.0.0", appVersion },
    });
    is("db", "NotReady", deployed("1"));
    is("other", "NotReady", { ...deployed("1"), name: "other" });
    assert.equal(await check("web", dependency), "waiting for db: its readyExpr is not true");

    is("other", "NotReady", { ...deployed("2"), name: "other" });
    is("db", "NotReady", {
      ...deployed("1"),
      counts: { desiredReady: 1, ready: 0, notReady: 0, missing: 1, unknown: 0 },
    });
    assert.deepEqual(enqueued, [], "neither is a change that the expression can read");
    is("db", "NotReady", deployed("2"));

    assert.deepEqual(enqueued, ["web"]);
    assert.equal(await check("web", dependency), undefined);
  });
});
