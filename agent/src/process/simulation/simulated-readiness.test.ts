import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { noWatches } from "./in-memory-parts.ts";
import { createSimulatedReadiness } from "./simulated-readiness.ts";

const options = { namespace: "ns", client: noWatches, ignoredConditions: [] };

function setUp(...names: readonly string[]) {
  const readiness = createSimulatedReadiness();
  const changed: string[] = [];
  readiness.onChange((name) => changed.push(name));
  const track = (name: string) =>
    readiness.track(name, [{ apiVersion: "apps/v1", kind: "Deployment", name }], options);
  for (const name of names) track(name);
  return { readiness, changed, track };
}

describe("the readiness of simulated releases", () => {
  test("is ready at once, and changes for one release after the other", () => {
    const { readiness, changed } = setUp("a", "b");
    assert.equal(readiness.readinessOf("a")?.ready, true);

    const changes = Array.from({ length: 5 }, () => readiness.changeNext());

    assert.deepEqual(
      changes.map((each) => `${each?.name} ${each?.ready}`),
      ["a false", "a true", "b false", "b true", "a false"],
    );
    assert.deepEqual(changed, ["a", "a", "b", "b", "a"]);
    assert.deepEqual(readiness.readinessOf("a")?.notReady, [
      {
        ...{ apiVersion: "apps/v1", kind: "Deployment", namespace: "ns", name: "a" },
        ...{ state: "in-progress", message: "simulated: not ready" },
      },
    ]);
  });

  test("does not change without releases, and is ready again after an upgrade", () => {
    const { readiness, track } = setUp("a");
    readiness.changeNext();

    track("a");
    assert.equal(readiness.readinessOf("a")?.ready, true);
    assert.deepEqual(readiness.changeNext(), { name: "a", ready: false });
    readiness.forget("a");
    assert.equal(readiness.changeNext(), undefined);
  });
});
