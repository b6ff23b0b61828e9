import assert from "node:assert/strict";
import type { HealthCheck } from "@flotilla/shared/content";
import type { KubeObject } from "@flotilla/shared/kube/objects";
import { createFakeClock } from "@flotilla/shared/time/testing";
import { describe, test } from "vitest";
import { HealthChecks } from "./health-checks.ts";
import { wholeObject } from "./slim-object.ts";
import { startTracker, thing, things, thingsDiscovery } from "./testing/index.ts";

const byPhase: HealthCheck = {
  group: "example.com",
  kind: "Thing",
  inProgress: "status.phase == 'Creating'",
  failed: "has(status.error)",
  current: "status.phase == 'Running' && kind == 'Thing' && apiVersion == 'example.com/v1'",
};

function thingWith(status: object, metadata: object = {}): KubeObject {
  const object = { metadata: { name: "thing", namespace: "apps", ...metadata }, status };
  return object;
}

describe("the status of an object with expressions", () => {
  const cases: readonly (readonly [what: string, object: KubeObject, status: string])[] = [
    ["is current where current is true", thingWith({ phase: "Running" }), "current: "],
    [
      "is in progress where inProgress is true, whatever the others say",
      thingWith({ phase: "Creating", error: "disk" }),
      "inProgress: by its health check: inProgress is true",
    ],
    [
      "is failed where failed is true, even if current is true",
      thingWith({ phase: "Running", error: "disk" }),
      "failed: by its health check: failed is true",
    ],
    [
      "is in progress where none is true",
      thingWith({ phase: "Stopped" }),
      "inProgress: by its health check: current is not true",
    ],
    [
      "is in progress while a field is missing",
      thingWith({}),
      "inProgress: the health check inProgress cannot be evaluated: there is no field phase",
    ],
    [
      "is in progress until the controller has observed the latest change",
      thingWith({ phase: "Running", observedGeneration: 1 }, { generation: 2 }),
      "inProgress: its controller has not observed the latest change yet",
    ],
  ];
  for (const [what, object, expected] of cases)
    test(what, () => {
      const status = new HealthChecks([byPhase], createFakeClock()).statusOf(things, object);

      assert.ok(status);
      assert.equal(`${status.kind}: ${"message" in status ? status.message : ""}`, expected);
    });

  test("is decided by an entry for the kind before one for the group, and by none of other groups", () => {
    const checks = new HealthChecks(
      [
        { group: "example.com", current: "false" },
        { group: "example.com", kind: "Thing", current: "true" },
        { group: "", current: "false" },
      ],
      createFakeClock(),
    );
    const object = thingWith({});

    assert.equal(checks.statusOf(things, object)?.kind, "current");
    assert.equal(checks.statusOf({ ...things, kind: "Other" }, { ...object })?.kind, "inProgress");
    assert.equal(checks.statusOf({ ...things, group: "apps" }, object), undefined);
    assert.equal(checks.has({ group: "", kind: "Pod" }), true);
    assert.equal(checks.has({ group: "apps", kind: "Deployment" }), false);
  });

  test("is left to the rules for all kinds while the object is deleted", () => {
    const deleted = thingWith({ phase: "Running" }, { deletionTimestamp: "2026-01-01T00:00:00Z" });

    assert.equal(
      new HealthChecks([byPhase], createFakeClock()).statusOf(things, deleted),
      undefined,
    );
  });

  test("says what an expression that takes too long exceeds", () => {
    const list = Array.from({ length: 1_000 }, (_, index) => index);
    const current = "status.list.all(a, status.list.all(b, a + b >= 0))";

    assert.deepEqual(
      new HealthChecks([{ group: "example.com", current }], createFakeClock()).statusOf(
        things,
        thingWith({ list }),
      ),
      {
        kind: "inProgress",
        message: "the health check current cannot be evaluated: it needs more than 100000 steps",
      },
    );
  });

  test("is decided later where a release has used its steps of a second", () => {
    const clock = createFakeClock();
    const list = Array.from({ length: 1_000 }, (_, index) => index);
    const current = "status.list.all(a, status.list.all(b, a + b >= 0))";
    const checks = new HealthChecks([{ group: "example.com", current }], clock);
    const objects = Array.from({ length: 12 }, () => thingWith({ list }));
    const messages = () =>
      objects.map((object) => {
        const status = checks.statusOf(things, object);
        return status !== undefined && "message" in status ? status.message : "";
      });

    assert.match(messages()[9] ?? "", /needs more than 100000 steps/);
    assert.equal(messages()[11], "its health checks are evaluated within seconds");
    assert.equal(checks.takeDeferral(), clock.now() + 1_000);
    clock.advanceNow(1_000);
    assert.match(messages()[11] ?? "", /needs more than 100000 steps/);
    assert.equal(checks.takeDeferral(), undefined);
  });
});

test("compiling expressions uses the steps of a second, too, one expression at a time", () => {
  const clock = createFakeClock();
  const current = `status.done || '${"x".repeat(4_000)}' == ''`;
  const kinds = Array.from({ length: 30 }, (_, at) => `Thing${at}`);
  const checks = new HealthChecks(
    kinds.map((kind) => ({ group: "example.com", kind, inProgress: "false", current })),
    clock,
  );
  const objects = new Map(kinds.map((kind) => [kind, thingWith({ done: true })]));
  const countCurrent = () =>
    [...objects].filter(
      ([kind, object]) => checks.statusOf({ ...things, kind }, object)?.kind === "current",
    ).length;

  assert.equal(countCurrent(), 12);
  assert.equal(countCurrent(), 12);
  assert.equal(checks.takeDeferral(), clock.now() + 1_000);
  clock.advanceNow(1_000);
  // The thirteenth was compiled in the first second, and had no steps left.
  assert.equal(countCurrent(), 25);
  clock.advanceNow(1_000);
  assert.equal(countCurrent(), 30);
  checks.takeDeferral();
  assert.equal(checks.takeDeferral(), undefined);
});

test("an object for expressions has all its fields, except the data of a Secret", () => {
  const object = {
    metadata: { name: "a", labels: { tier: "base" }, managedFields: [] },
    spec: { anything: 1 },
    data: { password: "c2VjcmV0" },
  };

  assert.deepEqual(wholeObject(object, things), {
    metadata: { name: "a", labels: { tier: "base" } },
    spec: { anything: 1 },
    data: { password: "c2VjcmV0" },
  });
  assert.deepEqual(wholeObject(object, { group: "", kind: "Secret" }), {
    metadata: { name: "a", labels: { tier: "base" } },
    spec: { anything: 1 },
  });
});

test("a release with expressions reads fields that the cache of others does not have", async (t) => {
  const { rest, trackAs, readiness } = startTracker(t);
  rest.raw = () => Promise.resolve(thingsDiscovery);
  rest.put(things, thingWith({ phase: "Creating", custom: { done: false } }));
  const client = { subject: "the agent", rest, isPerNamespace: false };
  const healthChecks = [
    { group: "example.com", current: "status.custom.done && metadata.labels.tier == 'base'" },
  ];

  trackAs("plain", [thing], { namespace: "apps", client });
  trackAs("checked", [thing], { namespace: "apps", client, healthChecks });

  await readiness("plain", ({ ready }) => ready);
  await readiness("checked", ({ ready }) => !ready);
  rest.put(things, thingWith({ custom: { done: true } }, { labels: { tier: "base" } }));
  await readiness("checked", ({ ready }) => ready);
});
