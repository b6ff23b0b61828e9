import assert from "node:assert/strict";
import type { DeploymentState } from "@flotilla/proto";
import type { BundleDeployment, BundleDeploymentStatus, Condition } from "@flotilla/shared/api";
import { findCondition } from "@flotilla/shared/conditions";
import { describe, test } from "vitest";
import { stateOf } from "../../rules/summary/deployment-state.ts";
import { aDeployment, deployed, digestA, digestB, now } from "../../testing/index.ts";
import { deploymentStatus, isOutdated, isUrgentDeployment } from "./status.ts";
import { place, statusOf } from "./testing/index.ts";

describe("a report", () => {
  const cases: readonly (readonly [
    what: string,
    report: { readonly epoch: number; readonly sequence: number },
    known: { readonly epoch: number; readonly sequence: number } | undefined,
    outdated: boolean,
  ])[] = [
    ["that is the first", { epoch: 1, sequence: 0 }, undefined, false],
    ["of the same stream with a higher number", { epoch: 2, sequence: 6 }, place, false],
    ["that is already stored", place, place, true],
    ["of the same stream with a lower number", { epoch: 2, sequence: 4 }, place, true],
    ["of an earlier stream, with any number", { epoch: 1, sequence: 99 }, place, true],
    ["of a later stream, with any number", { epoch: 3, sequence: 0 }, place, false],
  ];
  for (const [what, report, known, outdated] of cases) {
    test(`${what} is ${outdated ? "outdated" : "accepted"}`, () => {
      const status = known === undefined ? {} : { agent: known };

      assert.equal(isOutdated({ ...report, state: deployed() }, status), outdated);
    });
  }

  test("about a deployment without a status is accepted", () => {
    assert.equal(isOutdated({ ...place, state: deployed() }, undefined), false);
  });
});

describe("the status of a deployment", () => {
  test("that is installed and ready has the release, the chart and its source", () => {
    const status = statusOf(
      deployed({
        release: {
          namespace: "shop",
          name: "web",
          revision: 3,
          chartVersion: "1.2.9",
          appVersion: "2",
        },
        chartDigest: digestB,
        counts: { desiredReady: 2, ready: 2, notReady: 0, missing: 0, unknown: 0 },
      }),
    );

    assert.equal(status.appliedDeploymentID, digestA);
    assert.equal(status.ready, true);
    assert.equal(status.release, "shop/web:3");
    assert.equal(status.version, "1.2.9");
    assert.equal(status.chartDigest, digestB);
    assert.deepEqual(status.agent, place);
    assert.deepEqual(status.display, { deployed: "True", monitored: "True", state: "Ready" });
    assert.deepEqual(status.resourceCounts, {
      desiredReady: 2,
      ready: 2,
      notReady: 0,
      missing: 0,
      unknown: 0,
      waitApplied: 0,
      modified: 0,
      orphaned: 0,
    });
  });

  test("has what was received of a bucket, since when the same was reported", () => {
    const [first, later] = ["2026-01-01T00:00:00.000Z", "2026-01-02T00:00:00.000Z"];
    const source = { pin: digestA, digest: digestB };
    const reported = (
      own: typeof source | undefined,
      at: string,
      status?: BundleDeploymentStatus,
    ) =>
      deploymentStatus(
        aDeployment("paris", { status }),
        { ...place, state: deployed({ ...(own && { source: own }) }) },
        at,
      );
    const before = reported(source, first);
    assert.deepEqual(before.source, { ...source, since: first });

    assert.deepEqual(reported(source, later, before).source, before.source);
    assert.deepEqual(reported(undefined, later, before).source, before.source);
    const other = { pin: digestA, digest: digestA };
    assert.deepEqual(reported(other, later, before).source, { ...other, since: later });
    assert.equal(reported({ ...source, digest: "no digest" }, first).source, undefined);
  });

  test("distinguishes objects that are not ready from missing ones", () => {
    const status = statusOf(
      deployed({
        ready: false,
        notReady: [
          {
            apiVersion: "apps/v1",
            kind: "Deployment",
            namespace: "shop",
            name: "web",
            state: "in-progress",
            message: "0 of 2 ready",
          },
          { apiVersion: "v1", kind: "Namespace", name: "x", state: "missing", message: "missing" },
        ],
      }),
    );

    assert.deepEqual(status.nonReadyStatus, [
      {
        kind: "Deployment",
        apiVersion: "apps/v1",
        namespace: "shop",
        name: "web",
        summary: { state: "in-progress", transitioning: true, message: ["0 of 2 ready"] },
      },
    ]);
    assert.deepEqual(status.modifiedStatus, [
      { kind: "Namespace", apiVersion: "v1", name: "x", missing: true },
    ]);
    assert.equal(
      findCondition(status.conditions, "Ready")?.message,
      "deployment.apps shop/web: 0 of 2 ready",
    );
  });

  test("keeps the observed objects until a restarted agent has observed them", () => {
    const pod = { apiVersion: "v1", kind: "Pod", name: "a", state: "ready" } as const;
    const before = statusOf(deployed({ resources: [pod] }));
    const counts = { desiredReady: 0, ready: 0, notReady: 0, missing: 0, unknown: 0 };

    for (const phase of ["pending", "failed"] as const) {
      const after = statusOf(deployed({ phase, ready: false, counts }), before);

      assert.deepEqual(after.resources, before.resources);
      assert.deepEqual(after.resourceCounts, before.resourceCounts);
    }
  });

  test("is Monitored when every object can be read, and otherwise names those that cannot", () => {
    const status = statusOf(
      deployed({
        ready: false,
        notReady: [
          { apiVersion: "v1", kind: "Pod", name: "a", state: "failed", message: "crashes" },
          { apiVersion: "x.io/v1", kind: "Thing", name: "b", state: "unknown", message: "no list" },
        ],
        counts: { desiredReady: 2, ready: 0, notReady: 1, missing: 0, unknown: 1 },
      }),
    );

    const monitored = findCondition(status.conditions, "Monitored");
    assert.equal(monitored?.status, "False");
    assert.equal(monitored.message, "thing.x.io b: no list");
    assert.equal(status.display?.monitored, "Error: thing.x.io b: no list");
    assert.equal(findCondition(status.conditions, "Ready")?.message, "pod.v1 a: crashes");
  });

  test("has no Monitored condition before the objects were observed", () => {
    const counts = { desiredReady: 0, ready: 0, notReady: 0, missing: 0, unknown: 0 };

    const status = statusOf(deployed({ ready: false, counts }));

    assert.equal(findCondition(status.conditions, "Monitored"), undefined);
    assert.equal(status.display?.monitored, "Unknown");
  });

  test("shows the agent's message before the objects that are not ready", () => {
    const status = statusOf(deployed({ ready: false, message: "waiting for the hook" }));

    assert.equal(findCondition(status.conditions, "Ready")?.message, "waiting for the hook");
  });

  const before = statusOf(deployed());
  const stagesB = { deploymentID: digestB, stagedDeploymentID: digestB };
  const cases: readonly (readonly [
    what: string,
    state: DeploymentState,
    spec: Partial<BundleDeployment["spec"]>,
    shown: string,
    ready: readonly [Condition["status"], reason: string],
  ])[] = [
    [
      "that waits",
      deployed({ phase: "pending", deploymentId: digestB, ready: false }),
      stagesB,
      "WaitApplied",
      ["False", "WaitApplied"],
    ],
    [
      "that failed",
      deployed({ phase: "failed", deploymentId: digestB, ready: false, message: "no chart" }),
      stagesB,
      "ErrApplied",
      ["False", "ErrApplied"],
    ],
    [
      "that is being uninstalled",
      deployed({ phase: "withdrawing", ready: false }),
      {},
      "NotReady",
      ["False", "Progressing"],
    ],
    [
      "that cannot be uninstalled",
      deployed({ phase: "withdrawing", ready: false, code: "HELM_FAILED", message: "hook failed" }),
      {},
      "NotReady",
      ["False", "ErrUninstall"],
    ],
    [
      "that is installed and not ready",
      deployed({ ready: false }),
      {},
      "NotReady",
      ["False", "NotReady"],
    ],
    ["that runs an earlier content", deployed(), stagesB, "WaitApplied", ["True", ""]],
  ];
  for (const [what, state, spec, shown, [status, reason]] of cases) {
    test(`${what} is ${shown}`, () => {
      const after = statusOf(state, before, spec);

      assert.equal(after.display?.state, shown);
      assert.equal(stateOf(aDeployment("paris", { spec, status: after })), shown);
      const condition = findCondition(after.conditions, "Ready");
      assert.deepEqual([condition?.status, condition?.reason], [status, reason]);
    });
  }

  test("keeps what is installed while a newer content fails", () => {
    const after = statusOf(
      deployed({ phase: "failed", deploymentId: digestB, ready: false, message: "no chart" }),
      { ...before, release: "shop/web:3" },
      stagesB,
    );

    assert.equal(after.appliedDeploymentID, digestA);
    assert.equal(after.release, "shop/web:3");
    assert.deepEqual(after.display, {
      deployed: "Error: no chart",
      monitored: "True",
      state: "ErrApplied",
    });
    assert.equal(findCondition(after.conditions, "Installed")?.status, "True");
  });

  const codes: readonly (readonly [code: string | undefined, reason: string])[] = [
    ["CHART_DIGEST_MISMATCH", "ChartNotFetched"],
    ["CHART_DOWNLOAD", "ChartNotFetched"],
    ["CHART_DEPENDENCY", "ArtifactFailed"],
    ["VALUES_SOURCE_MISSING", "ValuesError"],
    ["HELM_FAILED", "Error"],
    [undefined, "Error"],
  ];
  for (const [code, reason] of codes) {
    test(`that failed with ${code ?? "no code"} has the reason ${reason}`, () => {
      const after = statusOf(
        deployed({ phase: "failed", ready: false, ...(code !== undefined && { code }) }),
      );

      assert.equal(findCondition(after.conditions, "Deployed")?.reason, reason);
    });
  }

  test("recovers from a failure", () => {
    const failed = statusOf(deployed({ phase: "failed", ready: false, message: "no chart" }));

    const after = statusOf(deployed(), failed);

    assert.deepEqual(after.display, { deployed: "True", monitored: "True", state: "Ready" });
    assert.equal(findCondition(after.conditions, "Deployed")?.message, "");
  });

  test("has nothing applied when nothing was ever installed", () => {
    const status = statusOf(deployed({ phase: "failed", ready: false }));

    assert.equal(status.appliedDeploymentID, "");
    assert.equal(status.release, undefined);
  });

  test("has the generation that it is about", () => {
    const deployment = aDeployment("paris", { metadata: { generation: 7 } });

    const status = deploymentStatus(deployment, { ...place, state: deployed() }, now);

    assert.ok(status.conditions?.every(({ observedGeneration }) => observedGeneration === 7));
  });
});

describe("urgency of a deployment's status:", () => {
  const installed = statusOf(deployed());
  const failed = statusOf(deployed({ phase: "failed", ready: false, message: "a" }));
  const cases: readonly (readonly [
    what: string,
    before: BundleDeploymentStatus | undefined,
    state: DeploymentState,
    urgent: boolean,
  ])[] = [
    ["that it is ready", undefined, deployed(), true],
    ["that it is still ready", installed, deployed(), false],
    [
      "that it is ready with another content, after one that was ready",
      installed,
      deployed({ deploymentId: digestB }),
      true,
    ],
    ["that it failed", undefined, deployed({ phase: "failed", ready: false, message: "a" }), true],
    [
      "that it failed in another way",
      failed,
      deployed({ phase: "failed", ready: false, message: "b" }),
      false,
    ],
    ["that it is no longer ready", installed, deployed({ ready: false }), true],
    ["that it is installed and not ready yet", undefined, deployed({ ready: false }), false],
    ["that it waits", installed, deployed({ phase: "pending", ready: false }), false],
    [
      "that it cannot be uninstalled",
      installed,
      deployed({ phase: "withdrawing", ready: false, code: "HELM_FAILED", message: "x" }),
      true,
    ],
  ];
  for (const [what, before, state, urgent] of cases) {
    test(`${what}: ${urgent ? "at once" : "later"}`, () => {
      assert.equal(isUrgentDeployment(before, statusOf(state, before)), urgent);
    });
  }
});

test("the status names the content that failed until one is deployed", () => {
  const failed = statusOf(deployed({ phase: "failed", deploymentId: digestB, message: "no" }));

  assert.equal(failed.attemptedDeploymentID, digestB);
  assert.equal(statusOf(deployed(), failed).attemptedDeploymentID, undefined);
});

test("a refusal is named by its promotion, until something else is reported", () => {
  const refusedAt = "2026-12-01T10:00:00.000Z";
  const refused = deployed({
    ...{ phase: "failed", code: "PLAN_STALE", message: "not upgraded", ready: false, refusedAt },
  });
  const deployment = aDeployment("paris", { status: { appliedDeploymentID: digestB } });

  const status = deploymentStatus(deployment, { ...place, state: refused }, now);

  assert.deepEqual([status.refusedAt, status.appliedDeploymentID], [refusedAt, digestB]);
  const next = { ...place, sequence: place.sequence + 1, state: deployed() };
  assert.equal(deploymentStatus({ ...deployment, status }, next, now).refusedAt, undefined);
});

test("what a deployment waits for is named, and since when it was met", () => {
  const reconciling = (reason: string) =>
    [{ type: "Reconciling", status: "True", reason, message: "" }] as const;
  const waiting: DeploymentState = {
    ...deployed(),
    phase: "pending",
    waitsFor: ["database"],
    conditions: reconciling("DependencyNotReady"),
  };
  const blocked = statusOf(waiting);
  assert.deepEqual([blocked.waitsFor, blocked.dependenciesMetAt], [["database"], undefined]);

  const { waitsFor: _, ...others } = waiting;
  const going = statusOf({ ...others, conditions: reconciling("Progressing") }, blocked);
  assert.deepEqual([going.waitsFor, going.dependenciesMetAt], [undefined, now]);
  const { dependenciesMetAt } = statusOf(deployed(), { ...going, dependenciesMetAt: "earlier" });
  assert.equal(dependenciesMetAt, "earlier");
});

test("what no object can be called is not a dependency: an agent decides no sentence about others", () => {
  const { waitsFor } = statusOf({
    ...deployed(),
    phase: "pending",
    waitsFor: ["all; run: curl evil", "x".repeat(300), "database"],
  });

  assert.deepEqual(waitsFor, ["database"]);
});
