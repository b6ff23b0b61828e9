import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { accepted, aDeployment, aggregated, aHelmOp, decidedHelmOp } from "../../testing/index.ts";
import { type HelmOpInputs, isUrgentHelmOp } from "./status.ts";
import { decided, failed, pollFailed, ready, settled, statusOf } from "./testing/index.ts";

describe("the status of a HelmOp", () => {
  test("that is Ready everywhere has the version, the counts and all conditions", () => {
    const status = statusOf(settled);

    assert.equal(status.version, "1.2.9");
    assert.equal(status.readyClusters, 1);
    assert.equal(status.desiredReadyClusters, 1);
    assert.deepEqual(status.display, { readyBundleDeployments: "1/1", counts: "1 ready" });
    assert.deepEqual(
      status.conditions?.map(({ type, status: holds, reason, observedGeneration }) => [
        type,
        holds,
        reason,
        observedGeneration,
      ]),
      [
        ["Accepted", "True", "", 1],
        ["Ready", "True", "Ready", 1],
        ["Reconciling", "False", "", 1],
        ["Stalled", "False", "", 1],
      ],
    );
    assert.equal(status.observedGeneration, 1);
  });

  test("shows the worst state and its message", () => {
    const status = statusOf({ ...settled, ...aggregated([ready, failed]) });

    assert.deepEqual(status.display, {
      readyBundleDeployments: "1/2",
      counts: "1 ready, 1 failing",
      state: "ErrApplied",
      message: "no chart",
      error: true,
    });
  });

  test("is the same when only time has passed", () => {
    const status = statusOf(settled);

    const again = statusOf({
      ...settled,
      helmOp: { ...settled.helmOp, status },
      now: "2026-02-02T00:00:00Z",
    });

    assert.deepEqual(again, status);
  });

  test("keeps fields that others wrote", () => {
    const status = { version: "1.2.8", theirs: "x" };

    const helmOp = decidedHelmOp(aHelmOp({}, {}, status), accepted);
    const next = statusOf({ ...settled, helmOp });

    assert.equal(Reflect.get(next, "theirs"), "x");
  });

  test("lists the current objects, and none when there are none any more", () => {
    const resources = [{ kind: "Pod", name: "a", state: "Ready" }];
    const status = statusOf({ ...settled, resources });

    assert.deepEqual(status.resources, resources);
    assert.deepEqual(statusOf({ ...settled, helmOp: aHelmOp({}, {}, status) }).resources, []);
  });

  test("keeps the version while a new one cannot be resolved", () => {
    const status = statusOf({
      ...settled,
      ...decided({ accepted: "no chart version", version: "1.2.8" }),
    });

    assert.equal(status.version, "1.2.8");
  });
});

describe("the version of a bare archive", () => {
  const chart = "https://charts.example.com/web.tgz";
  const pins = [{ repo: "", chart, version: "", pin: { kind: "tarball", url: chart } as const }];
  const helmOp = decidedHelmOp(aHelmOp({ helm: { chart } }), { ...accepted, pins });
  const has = (cluster: string, version?: string) =>
    aDeployment(cluster, { status: version === undefined ? {} : { version } });

  test("is empty before any cluster has reported one", () => {
    const inputs = { ...settled, helmOp, ...aggregated([has("paris")]) };
    assert.equal(statusOf(inputs).version, "");
  });

  test("is the version that most clusters report, and stable when several are as frequent", () => {
    const cases: readonly (readonly [readonly (string | undefined)[], string])[] = [
      [["1.0.0"], "1.0.0"],
      [[undefined, "1.0.0"], "1.0.0"],
      [["2.0.0", "1.0.0", "2.0.0"], "2.0.0"],
      [["2.0.0", "1.0.0"], "1.0.0"],
      [["1.0.0", "2.0.0"], "1.0.0"],
    ];
    for (const [versions, expected] of cases) {
      const deployments = versions.map((version, at) => has(`c${at}`, version));
      assert.equal(statusOf({ ...settled, helmOp, ...aggregated(deployments) }).version, expected);
    }
  });
});

describe("requests", () => {
  test("that were handled are reported, and stay reported", () => {
    const handled = { lastHandledReconcileAt: "one", lastHandledPollRequest: "push" };
    const status = statusOf({ ...settled, ...decided({ ...accepted, ...handled }) });
    assert.equal(status.lastHandledReconcileAt, "one");
    assert.equal(status.lastHandledPollRequest, "push");

    const again = statusOf({ ...settled, helmOp: aHelmOp({}, {}, status) });
    assert.equal(again.lastHandledReconcileAt, "one");
  });
});

describe("urgency of a HelmOp's status:", () => {
  const before = statusOf(settled);
  const cases: readonly (readonly [
    what: string,
    inputs: Partial<HelmOpInputs>,
    urgent: boolean,
  ])[] = [
    ["nothing new", {}, false],
    ["a new version", decided({ ...accepted, version: "1.2.10" }), true],
    ["a rejection", decided({ accepted: "x", version: "1.2.9" }), true],
    ["a poll that failed", decided(pollFailed), true],
    [
      "a request that was handled",
      decided({ ...accepted, version: "1.2.9", lastHandledReconcileAt: "one" }),
      true,
    ],
    [
      "a request that failed",
      decided({ ...accepted, version: "1.2.9", polling: { error: "x", requestFailed: true } }),
      true,
    ],
    ["a chart that is being resolved", decided({ version: "1.2.9" }), false],
    ["a rollout that starts", aggregated([aDeployment("paris")]), false],
    ["a failure", aggregated([failed]), true],
  ];
  for (const [what, inputs, urgent] of cases) {
    test(`${what}: ${urgent ? "at once" : "later"}`, () => {
      assert.equal(isUrgentHelmOp(before, statusOf({ ...settled, ...inputs })), urgent);
    });
  }

  test("the first status is written at once", () => {
    assert.equal(isUrgentHelmOp(undefined, before), true);
  });
});
