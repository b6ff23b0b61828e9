import assert from "node:assert/strict";
import { createMemoryApiServer } from "@flotilla/shared/kube/testing";
import { createFakeClock } from "@flotilla/shared/time/testing";
import { describe, test } from "vitest";
import type { InSync } from "../action/index.ts";
import type { Readiness } from "../readiness/index.ts";
import { testAssignment } from "../testing/index.ts";
import { retried } from "./progress.ts";
import { createStatuses } from "./statuses.ts";

const assignment = await testAssignment("web");
const nothingStored = {
  sources: { of: () => undefined, forget: () => undefined },
  drift: { track: () => undefined, forget: () => undefined, driftOf: () => undefined },
  inventory: {
    knows: () => false,
    releasesOf: () => [],
    failedAttemptsOf: () => undefined,
    requestOf: () => undefined,
  },
  releases: { history: () => [] },
  clock: createFakeClock(),
};

describe("the states that a new stream begins with", () => {
  test("lack a deployment whose first reconcile is in progress, so that the hub keeps what it knows", () => {
    const statuses = createStatuses({
      ...nothingStored,
      assignments: { get: () => assignment, list: () => [assignment] },
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
    const statuses = createStatuses({
      ...nothingStored,
      assignments: { get: () => assignment, list: () => [assignment] },
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

test("the objects of a release are tracked again when other conditions are ignored", () => {
  const tracked: unknown[] = [];
  const statuses = createStatuses({
    ...nothingStored,
    assignments: { get: () => assignment, list: () => [assignment] },
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
  const statuses = createStatuses({
    ...nothingStored,
    assignments: { get: () => assignment, list: () => [assignment] },
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

test("a failure is reported again when its retry is due and all workers are busy, once", async () => {
  const clock = createFakeClock();
  const reported: string[] = [];
  const statuses = createStatuses({
    ...nothingStored,
    assignments: { get: () => assignment, list: () => [assignment] },
    readiness: {
      track: () => undefined,
      forget: () => undefined,
      readinessOf: () => undefined,
      sharedObjectsOf: () => [],
    },
    outbox: { report: ({ message }) => void reported.push(message) },
    onState: () => undefined,
    clock,
  });
  const { deploymentId } = assignment;
  statuses.ensure("web").result = {
    ...{ kind: "failed", deploymentId, code: "HELM_FAILED" },
    ...retried("no", clock.now() + 5_000),
  };

  statuses.report("web");
  await clock.advance(7_000);
  assert.equal(reported.length, 1);
  await clock.advance(60_000);
  statuses.report("web");

  assert.match(reported.join("\n"), /^no; retrying at \S+\nno; its retry is due since \S+$/);
});
