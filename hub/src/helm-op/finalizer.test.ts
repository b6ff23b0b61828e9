/** When a HelmOp that is being deleted may go. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Bundle } from "@flotilla/shared/api/bundle.ts";
import type { HelmOp } from "@flotilla/shared/api/helm-op.ts";
import { helmOpFinalizer, helmOpLabel } from "@flotilla/shared/api/names.ts";
import { bundles, helmOps } from "@flotilla/shared/api/resources.ts";
import { createStore } from "@flotilla/shared/kube/store.ts";
import { createMemoryKube } from "../testing/memory-kube.ts";
import { aBundle, aHelmOp } from "../testing/objects.ts";
import { finish } from "./finalizer.ts";

const { signal } = new AbortController();

function setUp() {
  const rest = createMemoryKube();
  const deletionTimestamp = "2026-01-01T00:00:00Z";
  const helmOp = rest.put(
    helmOps,
    aHelmOp({}, { deletionTimestamp, finalizers: [helmOpFinalizer] }),
  );
  const deps = { rest, helmOps: createStore<HelmOp>(), bundles: createStore<Bundle>() };
  deps.helmOps.set(helmOp);
  return { rest, helmOp, finish: () => finish(deps, helmOp, signal) };
}

test("a HelmOp goes once it has no Bundle", async () => {
  const world = setUp();

  await world.finish();

  assert.equal(world.rest.peek(helmOps, world.helmOp.metadata), undefined);
});

test("a HelmOp stays for a Bundle that our watch has not told of yet, which is deleted first", async () => {
  const world = setUp();
  world.rest.put(bundles, aBundle());

  await world.finish();

  assert.ok(world.rest.peek(helmOps, world.helmOp.metadata));
  assert.equal(world.rest.peek(bundles, aBundle().metadata), undefined);
});

test("a HelmOp does not wait for a Bundle of its name that is somebody else's", async () => {
  const world = setUp();
  world.rest.put(bundles, aBundle({}, { labels: { [helmOpLabel]: "other" } }));

  await world.finish();

  assert.equal(world.rest.peek(helmOps, world.helmOp.metadata), undefined);
});
