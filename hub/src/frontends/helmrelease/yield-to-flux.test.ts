import assert from "node:assert/strict";
import { type Bundle, bundles } from "@flotilla/shared/api";
import type { EventNote } from "@flotilla/shared/kube/events";
import { keyOf } from "@flotilla/shared/kube/objects";
import { aContext, createMemoryApiServer } from "@flotilla/shared/kube/testing";
import { describe, test } from "vitest";
import { bundleOf } from "../../rules/frontend/planned-bundle.ts";
import { createPinSigner } from "../../rules/resolve/pin-signature.ts";
import { createWatchedStore } from "../../testing/index.ts";
import { planRelease } from "./plan.ts";
import { aHelmRelease, resolvedWeb } from "./testing/index.ts";
import { yieldToFlux } from "./yield-to-flux.ts";

const release = aHelmRelease();
const toNowhere = planRelease(release, { chart: resolvedWeb, destination: { targets: [] } });
const planned = bundleOf(toNowhere, { pins: [] });

interface SetUp {
  readonly bundle?: Bundle;
  readonly isLeftToFlux?: boolean;
}

/** The Bundle after two reconciles. */
async function reconciled({ bundle = planned, isLeftToFlux = true }: SetUp) {
  const rest = createMemoryApiServer();
  const signer = createPinSigner(Buffer.from("the key of this hub"));
  const events: EventNote[] = [];
  const cache = createWatchedStore<Bundle>();
  const created = rest.put(bundles, signer.signed(bundle));
  cache.saw(created);
  const reconcile = yieldToFlux({
    ...{ rest, signer, bundles: cache.store },
    flux: { isLeftToFlux: () => isLeftToFlux },
    events: { record: (_, note) => void events.push(note), flush: () => Promise.resolve() },
  });
  await reconcile(keyOf(created), aContext());
  await reconcile(keyOf(created), aContext());
  const found = rest.peek(bundles, created.metadata);
  assert.ok(found !== undefined);
  return { events, found, isSigned: signer.pinsOf(found) !== undefined, writes: rest.writes };
}

describe("the Bundle of a HelmRelease", () => {
  test("is suspended once while Flux's controllers run beside the hub, with its signature and an event", async () => {
    const { events, found, isSigned, writes } = await reconciled({});

    assert.deepEqual([found.spec.suspend, isSigned, writes.length], [true, true, 1]);
    assert.deepEqual(
      events.map(({ reason }) => reason),
      ["LeftToFlux"],
    );
  });

  const left: readonly (readonly [string, SetUp])[] = [
    ["where Flux's controllers do not run", { isLeftToFlux: false }],
    [
      "that is suspended already",
      { bundle: { ...planned, spec: { ...planned.spec, suspend: true } } },
    ],
    [
      "that is being deleted",
      {
        bundle: {
          ...planned,
          metadata: { ...planned.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" },
        },
      },
    ],
  ];
  for (const [what, setUp] of left)
    test(`is not written ${what}`, async () => {
      const { events, writes } = await reconciled(setUp);

      assert.deepEqual([events.length, writes.length], [0, 0]);
    });
});

test("the Bundle of a HelmOp is not suspended while Flux's controllers run beside the hub", async () => {
  const { labels: _, ...metadata } = planned.metadata;

  const { writes } = await reconciled({ bundle: { ...planned, metadata } });

  assert.equal(writes.length, 0);
});
