import assert from "node:assert/strict";
import type { BundleDeployment, Cluster } from "@flotilla/shared/api";
import { forceRequestAnnotation, reconcileRequestAnnotation } from "@flotilla/shared/api/names";
import { keyOf } from "@flotilla/shared/kube/objects";
import { describe, test } from "vitest";
import { clusterKeyOf } from "../../base/cache/keys.ts";
import { aBundle, aCluster, aDeployment, digestA, digestB } from "../../testing/index.ts";
import { offScheduleAt } from "./off-schedule.ts";
import { planDeployments } from "./plan-deployments.ts";
import { planRollout } from "./plan-rollout.ts";
import { placed } from "./testing/index.ts";

const paris = aCluster("paris");
const rome = aCluster("rome");
const signer = { isSigned: () => true, isSignedFor: () => true, signed: asItIs };

function asItIs(deployment: BundleDeployment): BundleDeployment {
  return deployment;
}

/** The plan for `digestB` while these clusters are closed. */
function planFor(
  existing: readonly BundleDeployment[],
  {
    closed,
    targets = [paris, rome],
    bundle = aBundle(),
  }: {
    readonly closed: readonly Cluster[];
    readonly targets?: readonly Cluster[];
    readonly bundle?: ReturnType<typeof aBundle>;
  },
) {
  const rollout = planRollout(
    bundle,
    targets.map((cluster) => placed(cluster, digestB)),
    { isOffSchedule: (cluster) => closed.includes(cluster) },
  );
  return planDeployments(bundle, rollout, existing, {
    signer,
    isOffSchedule: (deployment) => closed.map(keyOf).includes(clusterKeyOf(deployment)),
  });
}

/** Applied unless said otherwise. */
function deployment(name: string, applied = digestA): BundleDeployment {
  return aDeployment(name, { status: { appliedDeploymentID: applied, ready: true } });
}

describe("outside of its windows a cluster", () => {
  test("keeps what it has, with the new content staged", () => {
    const { replace, offSchedule } = planFor([deployment("paris"), deployment("rome")], {
      closed: [paris],
    });

    assert.deepEqual(
      replace.map(({ spec }) => [spec.deploymentID, spec.stagedDeploymentID, spec.offSchedule]),
      [
        [digestA, digestB, undefined],
        [digestB, digestB, undefined],
      ],
    );
    assert.deepEqual(offSchedule, [keyOf(paris)]);
  });

  test("gets nothing for the first time", () => {
    const { create, offSchedule } = planFor([], { closed: [paris], targets: [paris] });

    assert.deepEqual(
      create.map(({ spec }) => [spec.deploymentID, spec.stagedDeploymentID]),
      [["", digestB]],
    );
    assert.deepEqual(offSchedule, [keyOf(paris)]);
  });

  test("that is up to date costs no write and waits for nothing", () => {
    const current = { ...deployment("paris", digestB) };
    const promoted = planFor([current], { closed: [], targets: [paris] }).replace[0] ?? current;

    const { replace, offSchedule } = planFor([promoted], { closed: [paris], targets: [paris] });

    assert.deepEqual([replace, offSchedule], [[], []]);
  });

  test("is not tried again with what was promoted and has not been applied", () => {
    const inFlight = deployment("paris");
    const [promoted] = planFor([inFlight], { closed: [], targets: [paris] }).replace;
    assert.ok(promoted !== undefined);

    const { replace, offSchedule } = planFor([promoted], { closed: [paris], targets: [paris] });
    assert.deepEqual(
      replace.map(({ spec }) => [spec.deploymentID, spec.offSchedule]),
      [[digestB, true]],
    );
    assert.deepEqual(offSchedule, [keyOf(paris)]);

    const [held] = replace;
    assert.ok(held !== undefined);
    const applied = { ...held, status: { appliedDeploymentID: digestB } };
    for (const [each, closed] of [
      [applied, [paris]],
      [held, []],
    ] as const) {
      const [released] = planFor([each], { closed, targets: [paris] }).replace;
      assert.equal(released?.spec.offSchedule, undefined);
    }
  });

  test("keeps what no target matches any more, until a window opens", () => {
    const existing = [deployment("paris"), deployment("rome")];

    const closed = planFor(existing, { closed: [paris], targets: [] });
    assert.deepEqual(closed.remove.map(clusterKeyOf), [keyOf(rome)]);
    assert.deepEqual(closed.offSchedule, [keyOf(paris)]);

    const open = planFor(existing, { closed: [], targets: [] });
    assert.deepEqual(open.remove.map(clusterKeyOf), [keyOf(paris), keyOf(rome)]);
  });

  test("is not upgraded on request; other requests reach it", () => {
    const request = (annotations: Record<string, string>) =>
      planFor([deployment("paris", digestB)], {
        closed: [paris],
        targets: [paris],
        bundle: aBundle({}, { annotations }),
      }).replace[0]?.spec.requestedAt;

    assert.equal(request({ [reconcileRequestAnnotation]: "now" }), "now");
    assert.equal(
      request({ [reconcileRequestAnnotation]: "now", [forceRequestAnnotation]: "now" }),
      undefined,
    );
  });

  test("does not get a request to force that its agent has not answered when the window closes", () => {
    const annotations = { [reconcileRequestAnnotation]: "now", [forceRequestAnnotation]: "now" };
    const options = { targets: [paris], bundle: aBundle({}, { annotations }) };
    const [requested] = planFor([deployment("paris", digestB)], { ...options, closed: [] }).replace;
    assert.ok(requested !== undefined);
    assert.equal(requested.spec.forceAt, "now");
    const current = { ...requested, status: { appliedDeploymentID: digestB, ready: true } };

    const [closed] = planFor([current], { ...options, closed: [paris] }).replace;
    assert.ok(closed !== undefined);
    assert.deepEqual([closed.spec.requestedAt, closed.spec.forceAt], [undefined, undefined]);

    const lastRequest = { token: "now", result: "Upgraded" as const, time: "2026-03-01T22:00:00Z" };
    const answered = { ...current, status: { ...current.status, lastRequest } };
    assert.deepEqual(planFor([answered], { ...options, closed: [paris] }).replace, []);
  });
});

describe("the author of a Bundle reads", () => {
  const nowMs = Date.parse("2026-03-01T12:00:00Z");
  const opening = (changesAtMs?: number) =>
    offScheduleAt(
      {
        coverageOf: () => ({
          ...{ isScheduled: true, isActive: false, invalid: [] },
          ...(changesAtMs !== undefined && { changesAtMs }),
        }),
      },
      nowMs,
    );

  test("which clusters wait for a window, and when the next one opens", () => {
    const windows = opening(Date.parse("2026-03-01T22:00:00Z"));
    assert.equal(windows.isOff(rome) && windows.isOff(paris), true);

    assert.equal(
      windows.remark([keyOf(rome), keyOf(paris)]),
      "outside of the windows of their Schedules, so not changed: paris, rome; the next window opens at 2026-03-01T22:00:00Z",
    );
    assert.equal(windows.remark([]), "");
  });

  test("that no window opens any more", () => {
    const windows = opening();
    assert.equal(windows.isOff(paris), true);

    assert.match(windows.remark([keyOf(paris)]), /none of their Schedules starts any more$/);
    assert.equal(windows.changesAtMs(), undefined);
  });

  test("and the Bundle is reconciled when a window opens, within an hour at the latest", () => {
    for (const [opensAt, expected] of [
      [nowMs + 60_000, nowMs + 60_000],
      [nowMs + 86_400_000, nowMs + 3_600_000],
    ] as const) {
      const windows = opening(opensAt);
      windows.isOff(paris);
      assert.equal(windows.changesAtMs(), expected);
    }
  });
});
