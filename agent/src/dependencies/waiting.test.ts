import assert from "node:assert/strict";
import type { BundleState } from "@flotilla/shared/api/summary.ts";
import type { DeploymentContent } from "@flotilla/shared/content/content.ts";
import { plainContent } from "@flotilla/shared/content/testing/plain-content.ts";
import { describe, test } from "vitest";
import type { HeldAssignment } from "../assignment/assignment-secret.ts";
import { heldAs } from "../testing/held-as.ts";
import { createWaiting } from "./waiting.ts";

function setUp(...held: readonly HeldAssignment[]) {
  const assigned = new Map(held.map((each) => [each.owner.name, each]));
  const states = new Map<string, BundleState>();
  const woken: string[] = [];
  const listeners: ((name: string) => void)[] = [];
  const waiting = createWaiting({
    assignments: {
      list: () => [...assigned.values()],
      onChange: (listener) => void listeners.push(listener),
    },
    stateOf: ({ owner }) => states.get(owner.name) ?? "WaitApplied",
    wake: (name) => void woken.push(name),
  });
  return {
    waiting,
    woken,
    assign(each: HeldAssignment) {
      assigned.set(each.owner.name, each);
      for (const listener of listeners) listener(each.owner.name);
    },
    is(name: string, state: BundleState) {
      states.set(name, state);
      waiting.saw(name, state);
    },
    /** One pass of a deployment's, as the engine makes it. */
    async pass(name: string, ...dependsOn: NonNullable<DeploymentContent["dependsOn"]>) {
      const hindrance = await waiting.hindranceOf(name, { ...plainContent, dependsOn });
      waiting.waits(name, hindrance?.names);
      return hindrance?.message;
    },
  };
}

describe("a deployment that waits", () => {
  test("looks again when another one is in another state, and only then", async () => {
    const { woken, is, pass } = setUp(await heldAs("db"), await heldAs("web"));
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
    const { waiting, woken, is } = setUp(await heldAs("db"));
    is("db", "NotReady");

    const looking = waiting.hindranceOf("web", { ...plainContent, dependsOn: [{ name: "db" }] });
    is("db", "Ready");
    waiting.waits("web", (await looking)?.names);

    assert.deepEqual(woken, ["web"]);
  });

  test("looks again when another one comes, and when one goes", async () => {
    const { waiting, woken, assign, is, pass } = setUp();
    assert.match((await pass("web", { name: "db" })) ?? "", /db, which this cluster does not have/);

    assign(await heldAs("db"));
    assert.deepEqual(woken, ["web"]);
    is("db", "WaitApplied");
    waiting.saw("db", undefined);

    assert.deepEqual(woken, ["web", "web", "web"]);
  });

  test("finds others by the labels of their Bundles, and by their names as a label", async () => {
    const base = { matchLabels: { tier: "base" } };
    const { is, pass } = setUp(
      await heldAs("db", { labels: { tier: "base" } }),
      await heldAs("web"),
    );

    assert.match(
      (await pass("web", { selector: base })) ?? "",
      /waits for db, which is WaitApplied/,
    );
    is("db", "Ready");
    assert.equal(await pass("web", { selector: base }), undefined);
    const named = { matchLabels: { "fleet.cattle.io/bundle-name": "db" } };
    assert.equal(await pass("web", { selector: named }), undefined);
  });

  test("does not wait for what is being withdrawn, which is as good as gone", async () => {
    const leaving = { ...(await heldAs("db")), withdrawing: true };
    const { is, pass } = setUp(leaving);
    is("db", "Ready");

    assert.match((await pass("web", { name: "db" })) ?? "", /db, which this cluster does not have/);
  });

  test("hears of a circle that it is in, whoever of them looked first", async () => {
    const { woken, pass } = setUp(await heldAs("a"), await heldAs("b"));
    assert.doesNotMatch((await pass("a", { name: "b" })) ?? "", /each other/);

    assert.match((await pass("b", { name: "a" })) ?? "", /each other.*b waits for a waits for b/);

    assert.deepEqual(woken, ["a"]);
    assert.match((await pass("a", { name: "b" })) ?? "", /each other.*a waits for b waits for a/);
    assert.deepEqual(woken, ["a"], "nothing is new any more");
  });
});
