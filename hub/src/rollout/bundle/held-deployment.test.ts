import assert from "node:assert/strict";
import type { Bundle } from "@flotilla/shared/api";
import { describe, test } from "vitest";
import { aBundle, aDeployment } from "../../testing/index.ts";
import { heldDeployment } from "./plan-deployments.ts";

const deletionTimestamp = "2026-01-01T00:00:00Z";

describe("a deployment of a Bundle whose HelmRelease is gone or has changed", () => {
  const current = aDeployment("paris");
  const held = (of: Bundle["spec"], isClusterPaused = false, before = current) =>
    heldDeployment(aBundle(of), before, isClusterPaused)?.spec;

  test("stays as it is", () => {
    assert.equal(held({}), undefined);
    assert.equal(
      held({}, false, { ...current, spec: { ...current.spec, suspend: true } }),
      undefined,
    );
  });

  test("is suspended, paused and resumed", () => {
    const paused = { ...current.spec, paused: true };

    assert.deepEqual(held({ suspend: true }), { ...current.spec, suspend: true });
    assert.deepEqual(held({ paused: true }), paused);
    assert.deepEqual(held({}, true), paused);
    assert.deepEqual(held({}, false, { ...current, spec: paused }), current.spec);
  });

  test("is left to its deletion", () => {
    const metadata = { ...current.metadata, deletionTimestamp };
    assert.equal(held({ suspend: true }, true, { ...current, metadata }), undefined);
  });
});
