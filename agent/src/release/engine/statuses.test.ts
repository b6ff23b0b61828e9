import assert from "node:assert/strict";
import { createMemoryApiServer } from "@flotilla/shared/kube/testing";
import { createFakeClock } from "@flotilla/shared/time/testing";
import { describe, test } from "vitest";
import type { Readiness } from "../../observe/readiness/readiness.ts";
import type { DeploymentResult } from "../../observe/report/deployment-state.ts";
import { testRelease } from "../../testing/index.ts";
import type { InSync } from "../action/deploy-pass.ts";
import { Statuses } from "./statuses.ts";

const assignment = await testRelease("web");
const failed: DeploymentResult = {
  ...{ kind: "failed", deploymentId: assignment.deploymentId, code: "HELM_FAILED" },
  ...{ message: "the hook failed", retryAt: "2026-01-01T00:01:00Z" },
};
const nothingStored = {
  assignments: { get: () => assignment, list: () => [assignment] },
  assigned: { get: () => assignment, of: () => [assignment] },
  clock: createFakeClock(),
  sources: { of: () => undefined, forget: () => undefined },
  drift: { track: () => undefined, forget: () => undefined, driftOf: () => undefined },
  inventory: {
    knows: () => false,
    releasesOf: () => [],
  },
  attempts: { failedAttemptsOf: () => undefined },
  requests: { requestOf: () => undefined },
  releases: { history: () => [] },
};

describe("the states that a new stream begins with", () => {
  test("lack a deployment whose first reconcile is in progress, so that the hub keeps what it knows", () => {
    const statuses = new Statuses({
      ...nothingStored,
      readiness: {
        track: () => undefined,
        forget: () => undefined,
        readinessOf: () => undefined,
        sharedObjectsOf: () => [],
      },
      outbox: { report: () => undefined },
      onState: () => undefined,
    });

    const own = statuses.ensure("web");
    assert.deepEqual(statuses.states(), []);

    own.result = { kind: "pending", message: "paused" };
    statuses.report("web");
    assert.deepEqual(
      statuses.states().map(({ name, message }) => `${name}: ${message}`),
      ["web: paused"],
    );
  });

  test("lack a release that was found installed until its objects were read", () => {
    let read: Readiness | undefined;
    const reported: boolean[] = [];
    const statuses = new Statuses({
      ...nothingStored,
      readiness: {
        track: () => undefined,
        forget: () => undefined,
        readinessOf: () => read,
        sharedObjectsOf: () => [],
      },
      outbox: { report: ({ ready }) => void reported.push(ready) },
      onState: () => undefined,
    });
    const release = { namespace: "web", name: "web", revision: 1 };
    statuses.ensure("web").result = {
      kind: "deployed",
      deploymentId: assignment.deploymentId,
      release: { ...release, chartVersion: "1.0.0", appVersion: "" },
    };

    statuses.report("web");
    assert.deepEqual([statuses.states(), reported], [[], []]);

    const counts = { desiredReady: 1, ready: 1, notReady: 0, missing: 0, unknown: 0 };
    read = { ready: true, notReady: [], resources: [], incomplete: false, counts };
    statuses.report("web");
    assert.deepEqual(reported, [true]);
  });
});

describe("an attempt that is due and waits for a worker", () => {
  function setUp() {
    const clock = createFakeClock();
    const messages: string[] = [];
    const statuses = new Statuses({
      ...nothingStored,
      clock,
      readiness: {
        track: () => undefined,
        forget: () => undefined,
        readinessOf: () => undefined,
        sharedObjectsOf: () => [],
      },
      outbox: { report: ({ message }) => void messages.push(message) },
      onState: () => undefined,
    });
    const own = statuses.ensure("web");
    own.result = failed;
    statuses.report("web");
    return { clock, messages, statuses, own };
  }

  test("is reported by itself, once", async () => {
    const { clock, messages } = setUp();
    await clock.advance(62_000);
    assert.deepEqual(messages, ["the hook failed; retrying at 2026-01-01T00:01:00Z"]);

    await clock.advance(600_000);
    assert.equal(messages.length, 2);
    assert.match(
      messages[1] ?? "",
      /^the hook failed; the next attempt is due since 2026-01-01T00:01:00Z, /,
    );
  });

  test("is not when it has begun, or nothing is reported any more", async () => {
    const begun = setUp();
    begun.own.result = { kind: "pending", message: "paused" };
    begun.statuses.report("web");
    const removed = setUp();
    removed.statuses.remove(assignment);
    const stopped = setUp();
    stopped.statuses.stop();
    for (const { clock } of [begun, removed, stopped]) await clock.advance(600_000);

    assert.equal(begun.messages.at(-1), "paused");
    assert.deepEqual([removed.messages.length, stopped.messages.length], [1, 1]);
  });
});

test("the objects of a release are tracked again when other conditions are ignored", () => {
  const tracked: unknown[] = [];
  const statuses = new Statuses({
    ...nothingStored,
    readiness: {
      track: (_name, _objects, { ignoredConditions }) => void tracked.push(ignoredConditions),
      forget: () => undefined,
      readinessOf: () => undefined,
      sharedObjectsOf: () => [],
    },
    outbox: { report: () => undefined },
    onState: () => undefined,
  });
  const client = { subject: "the agent", rest: createMemoryApiServer(), isPerNamespace: false };
  const found: InSync = {
    kind: "in-sync",
    release: { namespace: "web", name: "web", revision: 1, chartVersion: "1.0.0", appVersion: "" },
    objects: [],
    manifestDigest: "",
    client,
    ignoredConditions: [],
    drift: {
      release: { namespace: "web", name: "web", revision: 1 },
      options: {},
      manifestDigest: "",
      client,
      wholeObjects: () => Promise.resolve([]),
      isCurrent: () => true,
    },
  };

  statuses.setInstalled(assignment, found, {});
  statuses.setInstalled(assignment, found, {});
  statuses.setInstalled(assignment, { ...found, ignoredConditions: [{ type: "Ready" }] }, {});

  assert.deepEqual(tracked, [[], [{ type: "Ready" }]]);
});

test("a release says which of its objects another release has as well, besides other warnings", () => {
  const reported: string[] = [];
  const statuses = new Statuses({
    ...nothingStored,
    readiness: {
      track: () => undefined,
      forget: () => undefined,
      readinessOf: () => ({
        ...{ ready: true, notReady: [], resources: [], incomplete: false },
        counts: { desiredReady: 1, ready: 1, notReady: 0, missing: 0, unknown: 0 },
      }),
      sharedObjectsOf: () => [{ kind: "ConfigMap", key: "apps/settings", others: ["shop"] }],
    },
    inventory: {
      ...nothingStored.inventory,
      releasesOf: (name) =>
        name === "shop"
          ? [
              {
                ...{ namespace: "apps", name: "shop", uid: "u", revisions: [] },
                ...{ deploymentId: "", keepResources: false, deleteCRDResources: false },
              },
            ]
          : [],
    },
    outbox: { report: ({ message }) => void reported.push(message) },
    onState: () => undefined,
  });
  statuses.ensure("web").result = {
    kind: "deployed",
    deploymentId: assignment.deploymentId,
    release: { namespace: "web", name: "web", revision: 1, chartVersion: "1.0.0", appVersion: "" },
    message: "the hub does not have the Secret a any more",
  };

  statuses.report("web");

  assert.deepEqual(reported, [
    "the hub does not have the Secret a any more; ConfigMap apps/settings is in the release apps/shop as well: an upgrade of one overwrites what the other has, and its uninstallation deletes it; leave each object to one chart",
  ]);
});
