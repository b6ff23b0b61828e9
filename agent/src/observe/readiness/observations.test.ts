import assert from "node:assert/strict";
import type { KubeObject } from "@flotilla/shared/kube/objects";
import { createMemoryApiServer } from "@flotilla/shared/kube/testing";
import { describe, test } from "vitest";
import type { OwnedObject } from "../../helm/record/manifest.ts";
import { type FollowedObject, observe, type ReadStage } from "./observations.ts";
import type { LastSeen } from "./removed-objects.ts";
import { thing, things } from "./testing/index.ts";
import type { Visibility } from "./watched-kinds.ts";

const nowMs = Date.UTC(2026, 10, 23, 12);
const client = { subject: "the agent", rest: createMemoryApiServer(), isPerNamespace: false };
const live: KubeObject = { metadata: { namespace: "apps", name: "thing" } };
const denied = { kind: "denied", why: "the agent may not list this kind" } as const;

function followed(stage: ReadStage): FollowedObject {
  return { resource: things, key: "apps/thing", client, isWhole: false, stage };
}

/** What the caches have of an object. */
function cached(visibility: Visibility, object?: KubeObject, lastSeen: LastSeen = "unknown") {
  return { visibilityOf: () => visibility, get: () => object, lastSeenOf: () => lastSeen };
}

function observeOne(
  object: FollowedObject | undefined,
  kinds: ReturnType<typeof cached>,
  owned: OwnedObject = thing,
) {
  const objects = {
    objects: [owned],
    followed: new Map(object === undefined ? [] : [[owned, object]]),
    obstacles: new Map(object === undefined ? [[owned, "there is no such kind"]] : []),
  };
  const { observations, unread, isComplete } = observe(objects, kinds, nowMs);
  return { observation: observations[0], isRead: unread.length > 0, isComplete };
}

describe("an object of a release", () => {
  const rows: readonly (readonly [
    what: string,
    stage: ReadStage,
    visibility: "listing" | "listed",
    expected: Pick<ReturnType<typeof observeOne>, "isRead" | "isComplete">,
  ])[] = [
    ["is waited for during the first list", "unread", "listing", step(false, false)],
    ["is read once its kind is listed", "unread", "listed", step(true, false)],
    ["is not read again while it is being read", "reading", "listed", step(false, false)],
    ["is up to date once it was read", "read", "listed", step(false, true)],
    ["is not up to date before its kind is listed", "read", "listing", step(false, false)],
  ];
  for (const [what, stage, kind, expected] of rows)
    test(what, () => {
      const { isRead, isComplete } = observeOne(followed(stage), cached({ kind }, live));

      assert.deepEqual({ isRead, isComplete }, expected);
    });

  test("is as the cache has it", () => {
    const { observation } = observeOne(followed("read"), cached({ kind: "listed" }, live));

    const known = { kind: "known", owned: thing, resource: things } as const;
    assert.deepEqual(observation, { ...known, object: live, isRemoved: false });
  });

  test("is unknown without its kind, which nothing waits for", () => {
    const { observation, isComplete } = observeOne(undefined, cached({ kind: "listed" }, live));

    const why = "there is no such kind";
    assert.deepEqual(observation, { kind: "unknown", owned: thing, why });
    assert.equal(isComplete, true);
  });

  test("is unknown where it may not be read, and is not read then", () => {
    const { observation, isRead, isComplete } = observeOne(followed("unread"), cached(denied));

    assert.deepEqual(observation, { kind: "unknown", owned: thing, why: denied.why });
    assert.deepEqual({ isRead, isComplete }, step(false, true));
  });

  test("is removed by design where Kubernetes has deleted it after its end", () => {
    const job: OwnedObject = { ...thing, isDeletedWhenEnded: true };
    const isRemoved = (lastSeen: LastSeen) => {
      const kinds = cached({ kind: "listed" }, undefined, lastSeen);
      const { observation } = observeOne(followed("read"), kinds, job);
      return observation?.kind === "known" && observation.isRemoved;
    };

    assert.deepEqual([isRemoved("ended"), isRemoved("not ended")], [true, false]);
  });
});

test("one object that is not up to date is enough to wait for", () => {
  const other: OwnedObject = { ...thing, name: "other" };
  const objects = {
    objects: [thing, other],
    followed: new Map([
      [thing, followed("reading")],
      [other, followed("read")],
    ]),
    obstacles: new Map(),
  };

  assert.equal(observe(objects, cached({ kind: "listed" }, live), nowMs).isComplete, false);
});

function step(isRead: boolean, isComplete: boolean) {
  return { isRead, isComplete };
}
