import assert from "node:assert/strict";
import type { Condition, HelmOpStatus } from "@flotilla/shared/api";
import { findCondition } from "@flotilla/shared/conditions";
import { describe, test } from "vitest";
import {
  aBundle,
  accepted,
  aDeployment,
  aggregated,
  aHelmOp,
  decidedBundle,
  decidedHelmOp,
  digestA,
  type HelmOpDecision,
  httpPin,
  now,
} from "../testing/index.ts";
import { type HelmOpInputs, helmOpStatus, isUrgentHelmOp } from "./status.ts";

const ready = aDeployment("paris", { status: { appliedDeploymentID: digestA, ready: true } });
const failed = aDeployment("rome", {
  status: { conditions: [{ type: "Deployed", status: "False", message: "no chart" }] },
});

const settled: HelmOpInputs = {
  helmOp: decidedHelmOp(aHelmOp(), { ...accepted, version: "1.2.9" }),
  bundle: decidedBundle(aBundle()),
  ...aggregated([ready]),
  now,
};

function statusOf(inputs: HelmOpInputs): HelmOpStatus {
  const status = helmOpStatus(inputs);
  assert.ok(status !== undefined);
  return status;
}

function conditionOf(inputs: Partial<HelmOpInputs>, type: string): Condition | undefined {
  return findCondition(statusOf({ ...settled, ...inputs }).conditions, type);
}

/** The polled HelmOp, as its reconcile decided. */
function decided(decision: HelmOpDecision): Pick<HelmOpInputs, "helmOp"> {
  return { helmOp: decidedHelmOp(aHelmOp({ pollingInterval: "5m" }), decision) };
}

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

const noted = [
  {
    repo: "https://charts.example.com",
    chart: "web",
    version: "~1.2",
    pin: httpPin("1.2.9"),
    note: "published again",
  },
];

describe("Accepted", () => {
  test("is False with what to change", () => {
    const condition = conditionOf(decided({ accepted: "spec.helm is empty" }), "Accepted");

    assert.equal(condition?.status, "False");
    assert.equal(condition.reason, "Invalid");
    assert.equal(condition.message, "spec.helm is empty");
  });

  test("is True with remarks", () => {
    const condition = conditionOf(decided({ ...accepted, pins: noted }), "Accepted");

    assert.equal(condition?.status, "True");
    assert.equal(condition.message, "published again");
  });
});

describe("Accepted, when the source has no digest", () => {
  const bundle = decidedBundle(aBundle(), { targets: 2, unchecked: { "s-1": "web" } });

  test("reports that clusters got different archives, after other remarks", () => {
    const archives = new Map([
      [
        "s-1",
        new Map([
          ["one", 1],
          ["other", 2],
        ]),
      ],
    ]);

    const condition = conditionOf(
      { ...decided({ ...accepted, pins: noted }), bundle, archives },
      "Accepted",
    );

    assert.equal(condition?.status, "True");
    assert.match(
      condition.message ?? "",
      /^published again; clusters got different archives of web, other in 2 clusters and one in 1 cluster; /,
    );
  });

  test("has no remark when all clusters got the same archive", () => {
    const archives = new Map([["s-1", new Map([["one", 2]])]]);

    assert.equal(conditionOf({ bundle, archives }, "Accepted")?.message, "");
  });
});

const pollFailed: HelmOpDecision = {
  ...accepted,
  version: "1.2.9",
  lastPollingTriggered: now,
  polling: { failures: 1, error: "connection refused" },
};

describe("Polled", () => {
  test("does not exist without polling", () => {
    assert.equal(conditionOf({}, "Polled"), undefined);
  });

  test("is removed when polling is turned off; the time of the last poll stays", () => {
    const polled = statusOf({
      ...settled,
      ...decided({ ...accepted, lastPollingTriggered: now }),
    });

    const after = statusOf({ ...settled, helmOp: aHelmOp({}, {}, polled) });

    assert.equal(findCondition(after.conditions, "Polled"), undefined);
    assert.equal(after.lastPollingTriggered, now);
  });

  test("is True after a poll, with the time of the poll", () => {
    const inputs = { ...settled, ...decided({ ...accepted, lastPollingTriggered: now }) };

    assert.equal(conditionOf(inputs, "Polled")?.status, "True");
    assert.equal(statusOf(inputs).lastPollingTriggered, now);
  });

  test("is False with the failure; Accepted and Ready stay", () => {
    const inputs = { ...settled, ...decided(pollFailed) };

    assert.equal(conditionOf(inputs, "Polled")?.status, "False");
    assert.equal(
      conditionOf(inputs, "Polled")?.message,
      "could not get a chart version: connection refused",
    );
    assert.equal(conditionOf(inputs, "Accepted")?.status, "True");
    assert.equal(conditionOf(inputs, "Ready")?.status, "True");
  });
});

describe("Ready of a HelmOp", () => {
  const rejected = decided({ accepted: "no chart" });
  const nothing = aggregated([]);
  const cases: readonly (readonly [
    what: string,
    inputs: Partial<HelmOpInputs>,
    status: Condition["status"],
    reason: string,
    message: RegExp,
  ])[] = [
    [
      "that changed since the last reconcile",
      { helmOp: decidedHelmOp(aHelmOp({}, { generation: 2 }), accepted) },
      "Unknown",
      "Progressing",
      /reading the new spec/,
    ],
    [
      "that is rejected, with nothing deployed",
      { ...rejected, bundle: undefined, ...nothing },
      "False",
      "Error",
      /no chart/,
    ],
    [
      "that is rejected while something is deployed reflects the deployed state",
      rejected,
      "True",
      "Ready",
      /^deployed as accepted before; not accepted: no chart$/,
    ],
    [
      "whose Bundle is not created yet",
      { bundle: undefined, ...nothing },
      "Unknown",
      "Progressing",
      /choosing the clusters/,
    ],
    [
      "whose Bundle has changed since the clusters were selected",
      { bundle: decidedBundle(aBundle({}, { generation: 2 })) },
      "Unknown",
      "Progressing",
      /choosing the clusters/,
    ],
    [
      "that could not be dispatched",
      { bundle: decidedBundle(aBundle(), { error: "too large" }) },
      "False",
      "Error",
      /too large/,
    ],
    [
      "that matches no cluster",
      { bundle: decidedBundle(aBundle(), { targets: 0 }), ...nothing },
      "True",
      "NoTargets",
      /no cluster matches/,
    ],
    [
      "that matches no cluster because a named object does not exist",
      {
        bundle: decidedBundle(aBundle(), { targets: 0, notes: "there is no x" }),
        ...nothing,
      },
      "True",
      "NoTargets",
      /^no cluster matches any of the targets; there is no x$/,
    ],
    [
      "that is ready, with a target that matches nothing",
      { bundle: decidedBundle(aBundle(), { notes: "there is no x" }) },
      "True",
      "Ready",
      /^there is no x$/,
    ],
    [
      "that is removed from its last cluster",
      { bundle: decidedBundle(aBundle(), { targets: 0 }), ...aggregated([failed]) },
      "False",
      "ErrApplied",
      /rome/,
    ],
    ["that waits for clusters", aggregated([ready], 1), "False", "Pending", /^Pending\(1\)$/],
    [
      "that failed somewhere",
      aggregated([ready, failed]),
      "False",
      "ErrApplied",
      /^ErrApplied\(1\) \[Cluster fleet-default\/rome: no chart\]$/,
    ],
  ];
  for (const [what, inputs, status, reason, message] of cases) {
    test(`${what}: ${status} ${reason}`, () => {
      const condition = conditionOf(inputs, "Ready");

      assert.equal(condition?.status, status);
      assert.equal(condition.reason, reason);
      assert.match(condition.message ?? "", message);
    });
  }
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
