import assert from "node:assert/strict";
import type { Condition } from "@flotilla/shared/api/condition.ts";
import { findCondition } from "@flotilla/shared/conditions/condition.ts";
import { describe, test } from "vitest";
import { aBundle, aDeployment, aHelmOp, digestA, now } from "../testing/objects.ts";
import { tallied } from "../testing/tallied.ts";
import { type HelmOpInputs, helmOpStatus, isHelmOpNews } from "./status.ts";

const ready = aDeployment("paris", { status: { appliedDeploymentID: digestA, ready: true } });
const failed = aDeployment("rome", {
  status: { conditions: [{ type: "Deployed", status: "False", message: "no chart" }] },
});

const settled: HelmOpInputs = {
  helmOp: aHelmOp(),
  intent: { generation: 1, accepted: { ok: true }, version: "1.2.9" },
  bundle: aBundle(),
  targeting: { generation: 1, targets: 1, waiting: 0 },
  ...tallied([ready]),
  now,
};

function conditionOf(inputs: Partial<HelmOpInputs>, type: string): Condition | undefined {
  return findCondition(helmOpStatus({ ...settled, ...inputs }).conditions, type);
}

describe("the status of a HelmOp", () => {
  test("that is Ready everywhere tells the version, the counts and all conditions", () => {
    const status = helmOpStatus(settled);

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

  test("shows the worst state and what it says", () => {
    const status = helmOpStatus({ ...settled, ...tallied([ready, failed]) });

    assert.deepEqual(status.display, {
      readyBundleDeployments: "1/2",
      counts: "1 ready, 1 failing",
      state: "ErrApplied",
      message: "no chart",
      error: true,
    });
  });

  test("is the same when nothing has changed but the time", () => {
    const status = helmOpStatus(settled);

    const again = helmOpStatus({
      ...settled,
      helmOp: { ...settled.helmOp, status },
      now: "2026-02-02T00:00:00Z",
    });

    assert.deepEqual(again, status);
  });

  test("keeps what others may have written into it", () => {
    const status = { version: "1.2.8", theirs: "x" };

    const next = helmOpStatus({ ...settled, helmOp: aHelmOp({}, {}, status) });

    assert.equal(Reflect.get(next, "theirs"), "x");
  });

  test("lists the objects as they are now, and none when there are none any more", () => {
    const resources = [{ kind: "Pod", name: "a", state: "Ready" }];
    const status = helmOpStatus({ ...settled, resources });

    assert.deepEqual(status.resources, resources);
    assert.deepEqual(helmOpStatus({ ...settled, helmOp: aHelmOp({}, {}, status) }).resources, []);
  });

  test("keeps the version while a new one cannot be resolved", () => {
    const status = helmOpStatus({
      ...settled,
      helmOp: aHelmOp({}, {}, { version: "1.2.8" }),
      intent: { generation: 1, accepted: { ok: false, message: "no chart version" } },
    });

    assert.equal(status.version, "1.2.8");
  });
});

describe("the version of a bare archive", () => {
  const intent = { generation: 1, accepted: { ok: true }, version: "" } as const;
  const has = (cluster: string, version?: string) =>
    aDeployment(cluster, { status: version === undefined ? {} : { version } });

  test("is empty before any cluster has reported one", () => {
    const inputs = { ...settled, intent, ...tallied([has("paris")]) };
    assert.equal(helmOpStatus(inputs).version, "");
  });

  test("is the one that clusters report, of several that of most, of as many always the same", () => {
    const cases: readonly (readonly [readonly (string | undefined)[], string])[] = [
      [["1.0.0"], "1.0.0"],
      [[undefined, "1.0.0"], "1.0.0"],
      [["2.0.0", "1.0.0", "2.0.0"], "2.0.0"],
      [["2.0.0", "1.0.0"], "1.0.0"],
      [["1.0.0", "2.0.0"], "1.0.0"],
    ];
    for (const [versions, expected] of cases) {
      const deployments = versions.map((version, at) => has(`c${at}`, version));
      assert.equal(helmOpStatus({ ...settled, intent, ...tallied(deployments) }).version, expected);
    }
  });
});

describe("requests", () => {
  test("that were handled are told, and stay told", () => {
    const intent = { ...settled.intent, handled: { reconcile: "one", poll: "push" } };
    const status = helmOpStatus({ ...settled, intent });
    assert.equal(status.lastHandledReconcileAt, "one");
    assert.equal(status.lastHandledPollRequest, "push");

    const again = helmOpStatus({ ...settled, helmOp: aHelmOp({}, {}, status) });
    assert.equal(again.lastHandledReconcileAt, "one");
  });
});

describe("Accepted", () => {
  test("is False with what to change", () => {
    const accepted = { ok: false, message: "spec.helm is empty" } as const;

    const condition = conditionOf({ intent: { generation: 1, accepted } }, "Accepted");

    assert.equal(condition?.status, "False");
    assert.equal(condition.reason, "Error");
    assert.equal(condition.message, "spec.helm is empty");
  });

  test("is True with what is worth knowing", () => {
    const accepted = { ok: true, message: "published again" } as const;

    const condition = conditionOf({ intent: { generation: 1, accepted } }, "Accepted");

    assert.equal(condition?.status, "True");
    assert.equal(condition.message, "published again");
  });
});

describe("Accepted, where the source gives no digest", () => {
  const targeting = { generation: 1, targets: 2, waiting: 0, unchecked: new Map([["s-1", "web"]]) };

  test("says that clusters got different archives, after what else is worth knowing", () => {
    const accepted = { ok: true, message: "published again" } as const;
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
      { intent: { generation: 1, accepted }, targeting, archives },
      "Accepted",
    );

    assert.equal(condition?.status, "True");
    assert.match(
      condition.message ?? "",
      /^published again; clusters got different archives of web, other in 2 clusters and one in 1 cluster; /,
    );
  });

  test("says nothing when they got the same", () => {
    const archives = new Map([["s-1", new Map([["one", 2]])]]);

    assert.equal(conditionOf({ targeting, archives }, "Accepted")?.message, "");
  });
});

describe("Polled", () => {
  const intent = settled.intent;

  test("is not there when nothing is polled", () => {
    assert.equal(conditionOf({}, "Polled"), undefined);
  });

  test("goes when polling is turned off, and the time of the last poll stays", () => {
    const polled = helmOpStatus({ ...settled, intent: { ...intent, polled: { at: now } } });

    const after = helmOpStatus({ ...settled, helmOp: aHelmOp({}, {}, polled) });

    assert.equal(findCondition(after.conditions, "Polled"), undefined);
    assert.equal(after.lastPollingTriggered, now);
  });

  test("is True after a poll, and the time of the poll is told", () => {
    const inputs = { ...settled, intent: { ...intent, polled: { at: now } } };

    assert.equal(conditionOf(inputs, "Polled")?.status, "True");
    assert.equal(helmOpStatus(inputs).lastPollingTriggered, now);
  });

  test("is False with the failure, and Accepted and Ready stay", () => {
    const inputs = { ...settled, intent: { ...intent, polled: { at: now, error: "refused" } } };

    assert.equal(conditionOf(inputs, "Polled")?.status, "False");
    assert.equal(conditionOf(inputs, "Polled")?.message, "refused");
    assert.equal(conditionOf(inputs, "Accepted")?.status, "True");
    assert.equal(conditionOf(inputs, "Ready")?.status, "True");
  });
});

describe("Ready of a HelmOp", () => {
  const refused = { generation: 1, accepted: { ok: false, message: "no chart" } } as const;
  const nothing = tallied([]);
  const cases: readonly (readonly [
    what: string,
    inputs: Partial<HelmOpInputs>,
    status: Condition["status"],
    reason: string,
    message: RegExp,
  ])[] = [
    [
      "that changed since it was looked at",
      { helmOp: aHelmOp({}, { generation: 2 }) },
      "Unknown",
      "Progressing",
      /reading the change/,
    ],
    [
      "that is refused, with nothing deployed",
      { intent: refused, bundle: undefined, targeting: undefined, ...nothing },
      "False",
      "Error",
      /no chart/,
    ],
    [
      "that is refused, with something deployed, is that of what is deployed",
      { intent: refused },
      "True",
      "Ready",
      /^as accepted before; not accepted: no chart$/,
    ],
    [
      "whose Bundle is not made yet",
      { bundle: undefined, targeting: undefined, ...nothing },
      "Unknown",
      "Progressing",
      /choosing the clusters/,
    ],
    [
      "whose Bundle has changed since the clusters were chosen",
      { bundle: aBundle({}, { generation: 2 }) },
      "Unknown",
      "Progressing",
      /choosing the clusters/,
    ],
    [
      "that could not be handed out",
      { targeting: { generation: 1, targets: 1, waiting: 0, error: "too large" } },
      "False",
      "Error",
      /too large/,
    ],
    [
      "that matches no cluster",
      { targeting: { generation: 1, targets: 0, waiting: 0 }, ...nothing },
      "True",
      "NoTargets",
      /no cluster matches/,
    ],
    [
      "that matches no cluster for want of something",
      {
        targeting: { generation: 1, targets: 0, waiting: 0, missing: ["there is no x"] },
        ...nothing,
      },
      "True",
      "NoTargets",
      /^no cluster matches any of the targets; there is no x$/,
    ],
    [
      "that is ready, with a target that leads nowhere",
      { targeting: { generation: 1, targets: 1, waiting: 0, missing: ["there is no x"] } },
      "True",
      "Ready",
      /^there is no x$/,
    ],
    [
      "that leaves its last cluster",
      { targeting: { generation: 1, targets: 0, waiting: 0 }, ...tallied([failed]) },
      "False",
      "ErrApplied",
      /rome/,
    ],
    ["that waits for clusters", tallied([ready], 1), "False", "Pending", /^Pending\(1\)$/],
    [
      "that failed somewhere",
      tallied([ready, failed]),
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

describe("what cannot wait of a HelmOp", () => {
  const before = helmOpStatus(settled);
  const cases: readonly (readonly [
    what: string,
    inputs: Partial<HelmOpInputs>,
    urgent: boolean,
  ])[] = [
    ["nothing new", {}, false],
    ["a new version", { intent: { ...settled.intent, version: "1.2.10" } }, true],
    ["a refusal", { intent: { generation: 1, accepted: { ok: false, message: "x" } } }, true],
    [
      "a poll that failed",
      { intent: { ...settled.intent, polled: { at: now, error: "x" } } },
      true,
    ],
    [
      "a request that was handled",
      { intent: { ...settled.intent, handled: { reconcile: "one" } } },
      true,
    ],
    [
      "a request that came to nothing",
      { intent: { ...settled.intent, stalled: { reason: "RequestFailed", message: "x" } } },
      true,
    ],
    ["a chart that is looked for", { intent: { generation: 1 } }, false],
    ["a rollout that begins", tallied([aDeployment("paris")]), false],
    ["a failure", tallied([failed]), true],
  ];
  for (const [what, inputs, urgent] of cases) {
    test(`${what}: ${urgent ? "at once" : "later"}`, () => {
      const after = helmOpStatus({
        ...settled,
        helmOp: { ...settled.helmOp, status: before },
        ...inputs,
      });

      assert.equal(isHelmOpNews(before, after), urgent);
    });
  }

  test("the first status of all: at once", () => {
    assert.equal(isHelmOpNews(undefined, before), true);
  });
});
