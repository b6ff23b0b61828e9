import assert from "node:assert/strict";
import { helmOps } from "@flotilla/shared/api";
import { createFakeClock } from "@flotilla/shared/time/testing";
import { describe, test } from "vitest";
import { createAccess } from "./cached-access.ts";
import type { User } from "./reviews.ts";
import { createScopes } from "./scope.ts";

const user: User = { username: "alice", uid: "1", groups: [], extra: {} };

interface Attributes {
  readonly resource: string;
  readonly namespace?: string;
}

/** `allowed`: of `resource` or `resource/namespace`. */
function setUp(allowed: readonly string[]) {
  const clock = createFakeClock();
  const asked: string[] = [];
  const may = new Set(allowed);
  const access = createAccess(
    {
      raw(_path, { body = "" } = {}) {
        const { spec } = JSON.parse(body) as { spec: { resourceAttributes: Attributes } };
        const { resource, namespace } = spec.resourceAttributes;
        const key = namespace === undefined ? resource : `${resource}/${namespace}`;
        asked.push(key);
        return Promise.resolve(JSON.stringify({ status: { allowed: may.has(key) } }));
      },
    },
    clock,
  );
  return { clock, asked, may, access };
}

describe("what a user may see", () => {
  test("is everything after one review, where they may list everywhere", async () => {
    const { access, asked, clock } = setUp(["helmops"]);
    const kinds = [{ resource: helmOps, namespaces: () => ["a", "b"] }];

    const scope = await createScopes(access, kinds, clock)(user);

    assert.deepEqual(asked, ["helmops"]);
    assert.ok(scope.sees("HelmOp", "a") && scope.sees("HelmOp", "new"));
    assert.ok(!scope.sees("Cluster", "a"));
  });

  test("is otherwise reviewed for each namespace that has objects", async () => {
    const { access, asked, clock } = setUp(["helmops/b"]);
    const kinds = [{ resource: helmOps, namespaces: () => ["a", "b", "b"] }];

    const scope = await createScopes(access, kinds, clock)(user);

    assert.deepEqual(asked, ["helmops", "helmops/a", "helmops/b"]);
    assert.deepEqual([scope.sees("HelmOp", "a"), scope.sees("HelmOp", "b")], [false, true]);
  });

  test("is cached briefly, then reviewed again", async () => {
    const { access, asked, clock, may } = setUp(["helmops"]);
    const scopeOf = createScopes(access, [{ resource: helmOps, namespaces: () => ["a"] }], clock);

    const [one, other] = await Promise.all([scopeOf(user), scopeOf(user)]);
    assert.equal(one.key, other.key);
    assert.deepEqual(asked, ["helmops"]);
    may.clear();
    clock.advanceNow(20_000);

    const later = await scopeOf(user);
    assert.notEqual(later.key, one.key);
    assert.ok(!later.sees("HelmOp", "a"));
  });
});
