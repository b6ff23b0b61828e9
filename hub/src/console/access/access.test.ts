import assert from "node:assert/strict";
import { bundles, helmOps } from "@flotilla/shared/api";
import { createFakeClock, settle } from "@flotilla/shared/time/testing";
import { describe, test } from "vitest";
import { callerOf, createAccess } from "./cached-access.ts";
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

describe("the tokens of one ServiceAccount", () => {
  const withToken = (id: string): User => ({
    ...user,
    extra: { "authentication.kubernetes.io/credential-id": [id] },
  });

  test("are one caller, whose answers are shared", async () => {
    const { access, asked } = setUp(["helmops/a"]);
    const attributes = {
      ...{ group: "fleet.cattle.io", version: "v1alpha1", resource: "helmops" },
      ...{ verb: "list", namespace: "a" },
    };

    assert.equal(callerOf(withToken("JTI=1")), callerOf(withToken("JTI=2")));
    for (const id of ["JTI=1", "JTI=2"]) assert.ok(await access.may(withToken(id), attributes));
    assert.deepEqual(asked, ["helmops/a"]);
    // What else a user has may decide about their rights.
    await access.may({ ...user, extra: { scopes: ["read"] } }, attributes);
    assert.equal(asked.length, 2);
  });
});

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

describe("reviews of a fleet with many namespaces", () => {
  const namespaces = Array.from({ length: 1_500 }, (_, at) => `team-${at}`);
  const kinds = [
    { resource: helmOps, namespaces: () => namespaces },
    { resource: bundles, namespaces: () => namespaces },
  ];

  /** An API server that answers each review when `answer` is called; `answered` are those, in order. */
  function held() {
    const clock = createFakeClock();
    const waiting: { readonly id: string; readonly resolve: () => void }[] = [];
    const answered: string[] = [];
    const access = createAccess(
      {
        raw(path, { body = "" } = {}) {
          const { spec } = JSON.parse(body) as { spec: { user?: string } };
          const id = path.endsWith("tokenreviews") ? "token" : (spec.user ?? "");
          const { promise, resolve } = Promise.withResolvers<string>();
          const status =
            id === "token"
              ? { authenticated: true, user: { username: "carol" } }
              : { allowed: id === "admin" };
          waiting.push({ id, resolve: () => resolve(JSON.stringify({ status })) });
          return promise;
        },
      },
      clock,
    );
    return {
      ...{ access, clock, answered },
      inProgress: () => waiting.map(({ id }) => id),
      async answerOne() {
        const next = waiting.shift();
        if (next !== undefined) answered.push(next.id);
        next?.resolve();
        await settle();
      },
    };
  }
  const named = (username: string): User => ({ ...user, username });

  // The token of any pod of the hub's cluster can do this.
  test("let neither a login nor another user wait behind those of a user without rights", async () => {
    const { access, clock, answered, inProgress, answerOne } = held();
    void createScopes(access, kinds, clock)(named("pod"));
    await settle();
    for (let count = 0; count < 4; count += 1) await answerOne();
    assert.deepEqual(inProgress(), ["pod", "pod", "pod", "pod"]);
    const from = answered.length;

    const admin = createScopes(access, kinds, clock)(named("admin"));
    const login = access.userOf("a token");
    await settle();
    while (answered.length < from + 7) await answerOne();

    assert.equal((await admin).sees("HelmOp", "team-7"), true);
    assert.equal((await login)?.username, "carol");
  });

  test("are bounded for one user, and cover the rest over time, what was seen first", async () => {
    const all = setUp(["helmops/team-1499"]);
    const scopeOf = createScopes(all.access, kinds, all.clock);

    const first = await scopeOf(user);
    const asked = all.asked.length;
    assert.ok(asked <= 2_002, `${asked} reviews`);

    all.clock.advanceNow(15_000);
    await scopeOf(user);
    all.clock.advanceNow(15_000);
    const later = await scopeOf(user);
    assert.equal(later.sees("HelmOp", "team-1499"), true);
    assert.ok(first.key !== "" && all.asked.length < 3_100, `${all.asked.length} reviews`);
  });

  test("are not repeated for a minute where the answer was no", async () => {
    const { access, asked, clock } = setUp([]);
    const few = [{ resource: helmOps, namespaces: () => ["a", "b"] }];
    const scopeOf = createScopes(access, few, clock);

    await scopeOf(user);
    clock.advanceNow(59_000);
    await scopeOf(user);

    assert.deepEqual(asked, ["helmops", "helmops/a", "helmops/b", "helmops"]);
    clock.advanceNow(4_000);
    await scopeOf(user);
    assert.deepEqual(asked.slice(4), ["helmops/a", "helmops/b"]);
  });
});
