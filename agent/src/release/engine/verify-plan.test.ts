/** What the agent does with a content that it has to plan once more before the first change for it. */
import assert from "node:assert/strict";
import type { PlanVerification } from "@flotilla/proto";
import { AppError } from "@flotilla/shared/errors";
import { kubeErrors } from "@flotilla/shared/kube/client";
import type { PlanCounts, PlanResult } from "@flotilla/shared/plan";
import { diffOf, firstInstallation, noChange } from "@flotilla/shared/plan/approved";
import { describe, test } from "vitest";
import { play, type Scenario, type Step, testRows } from "./testing/index.ts";

const [seen, other] = ["a", "b"].map((digit) => `sha256:${digit.repeat(64)}`) as [string, string];

function aPlan(
  digest: string,
  result: PlanResult["result"] = "changes",
  counts: Partial<PlanCounts> = { update: 1 },
): PlanResult {
  return {
    ...{ result, digest, shape: digest, applied: "", revision: 1 },
    counts: { create: 0, update: 0, replace: 0, delete: 0, ...counts },
    ...{ remarks: [], hooks: 0, failures: 0 },
  };
}

function approved(diff: string, at = "2026-12-01T10:00:00.000Z"): PlanVerification {
  return { diff, at, key: Buffer.from("the key of the plans of a rollout") };
}

/** What is planned from now on. */
function plans(planned: PlanResult | Error): NonNullable<Step["others"]> {
  return (cluster) => {
    cluster.planned = planned;
  };
}

const installed = { version: "1.0.0" };
const upgrade = { version: "1.1.0", verification: approved(diffOf(seen)) };
const second = "upgrade to 1.1.0 as revision 2";
const remains = ["shop: deployed 1.0.0, runs 1.0.0"];
const upgraded = ["shop: deployed 1.1.0, runs 1.1.0"];
const unreachable = new AppError(kubeErrors.KUBE_UNREACHABLE, "connection refused");
const retried = { actions: { upgrade: { remediation: { retries: 2 } } } };

/** Decisions of the driver. */
const changed = "outOfSync (ChartChanged): upgrade";

describe("a content whose diff was approved", () => {
  testRows([
    {
      name: "is upgraded to while that is what would change",
      given: [installed],
      step: { ...upgrade, others: plans(aPlan(seen)) },
      runs: [second],
      decisions: [changed],
      result: "deployed",
      installed: upgraded,
      reasons: ["ChartChanged"],
    },
    {
      name: "is refused when something else would change, and Helm does not run",
      given: [installed],
      step: { ...upgrade, others: plans(aPlan(other)) },
      runs: [],
      decisions: [changed],
      result: "failed PLAN_STALE",
      installed: remains,
      reasons: ["NotInstalled"],
    },
    {
      name: "is refused when the upgrade would fail by now",
      given: [installed],
      step: { ...upgrade, others: plans(aPlan(other, "fails")) },
      runs: [],
      decisions: [changed],
      result: "failed PLAN_STALE",
      installed: remains,
      reasons: ["NotInstalled"],
    },
    {
      name: "is upgraded to where it changes nothing any more",
      given: [installed],
      step: { ...upgrade, others: plans(aPlan(other, "none", {})) },
      runs: [second],
      decisions: [changed],
      result: "deployed",
      installed: upgraded,
      reasons: ["ChartChanged"],
    },
    {
      name: "is refused when nothing was to change, and something would",
      given: [installed],
      step: { ...upgrade, verification: approved(noChange), others: plans(aPlan(other)) },
      runs: [],
      decisions: [changed],
      result: "failed PLAN_STALE",
      installed: remains,
      reasons: ["NotInstalled"],
    },
    {
      name: "is refused when a user forces it",
      given: [installed],
      step: {
        ...upgrade,
        request: { token: "t", force: true, reset: true },
        others: plans(aPlan(other)),
      },
      runs: [],
      decisions: ["outOfSync (ChartChanged, Requested): upgrade"],
      result: "failed PLAN_STALE",
      installed: remains,
      reasons: ["NotInstalled"],
    },
    {
      name: "is installed for the first time where all its objects are new",
      step: {
        ...installed,
        verification: approved(firstInstallation),
        others: plans(aPlan(seen, "install", { create: 3 })),
      },
      runs: ["upgrade to 1.0.0 as revision 1"],
      decisions: ["absent (NotInstalled): upgrade"],
      result: "deployed",
      installed: remains,
      reasons: ["NotInstalled"],
    },
    {
      name: "is not installed for the first time where an object is there already",
      step: {
        ...installed,
        verification: approved(firstInstallation),
        others: plans(aPlan(seen, "install", { create: 2, update: 1 })),
      },
      runs: [],
      decisions: ["absent (NotInstalled): upgrade"],
      result: "failed PLAN_STALE",
      installed: [],
    },
    {
      name: "is tried again after a failed upgrade, whatever that has changed",
      given: [installed],
      step: {
        ...upgrade,
        content: retried,
        helm: { upgrade: ["fails", "succeeds"] },
        others: plans(aPlan(seen)),
      },
      runs: [second, "rollback to revision 1", "upgrade to 1.1.0 as revision 4"],
      decisions: [changed, "failed (ReleaseFailed): rollback", changed],
      result: "deployed",
      installed: upgraded,
      reasons: ["ChartChanged"],
    },
    {
      name: "is not refused once it is installed",
      given: [installed, { ...upgrade, others: plans(aPlan(seen)) }],
      step: { ...upgrade, others: plans(aPlan(other)) },
      runs: [],
      decisions: [],
      result: "deployed",
      installed: upgraded,
      reasons: ["ChartChanged"],
    },
    {
      name: "is upgraded to again when a user forces it later",
      given: [installed, { ...upgrade, others: plans(aPlan(seen)) }],
      step: {
        ...upgrade,
        request: { token: "t", force: true, reset: false },
        others: plans(aPlan(other)),
      },
      runs: ["upgrade to 1.1.0 as revision 3 --force-conflicts"],
      decisions: ["inSync (Requested): upgrade"],
      result: "deployed",
      installed: upgraded,
      reasons: ["Requested"],
    },
    {
      name: "is refused before the release leaves its old namespace",
      given: [installed],
      step: {
        ...upgrade,
        content: { namespace: "market" },
        others: plans(aPlan(other)),
      },
      runs: [],
      decisions: ["moved (Moved): uninstall"],
      result: "failed PLAN_STALE",
      installed: remains,
      reasons: ["NotInstalled"],
    },
    {
      name: "is installed in another namespace after the release has left its old one",
      given: [installed],
      step: {
        ...upgrade,
        content: { namespace: "market" },
        others: plans(aPlan(seen)),
      },
      runs: ["uninstall", "upgrade to 1.1.0 as revision 1 in market"],
      decisions: ["moved (Moved): uninstall", "absent (NotInstalled): upgrade"],
      result: "deployed",
      installed: ["market: deployed 1.1.0, runs 1.1.0"],
      reasons: ["NotInstalled"],
    },
    {
      name: "gives way to the content before, as the hub takes it back",
      given: [installed, { ...upgrade, others: plans(aPlan(other)) }],
      step: installed,
      runs: [],
      decisions: [],
      result: "deployed",
      installed: remains,
      reasons: ["NotInstalled"],
    },
    {
      name: "is upgraded to when another diff was approved for it",
      given: [installed, { ...upgrade, others: plans(aPlan(other)) }, installed],
      step: {
        ...upgrade,
        verification: approved(diffOf(other), "2026-12-01T12:00:00.000Z"),
        others: plans(aPlan(other)),
      },
      runs: [second],
      decisions: [changed],
      result: "deployed",
      installed: upgraded,
      reasons: ["ChartChanged"],
    },
  ]);
});

describe("planning once more", () => {
  const stale: Scenario = {
    given: [installed],
    step: { ...upgrade, others: plans(aPlan(other, "changes", { update: 2, delete: 1 })) },
  };

  test("reports which promotion was refused, what was approved and what would change", async () => {
    const { cluster } = await play(stale);

    const { phase, code, refusedAt, message, retryAt } = cluster.reports.at(-1) ?? {};
    assert.deepEqual(
      { phase, code, refusedAt, retryAt },
      {
        ...{ phase: "failed", code: "PLAN_STALE" },
        ...{ refusedAt: upgrade.verification.at, retryAt: undefined },
      },
    );
    assert.equal(
      message,
      `not upgraded, and nothing was changed: diff ${diffOf(seen)} was approved when it was promoted at 2026-12-01T10:00:00.000Z, and now it is diff ${diffOf(other)}: 2 to update, 1 to delete; the hub takes the promotion back, plans the cluster again, and asks for what nobody has approved`,
    );
  });

  test("says nothing of the key", async () => {
    const { cluster } = await play(stale);

    const reported = JSON.stringify(cluster.reports);
    for (const encoding of ["utf8", "base64", "hex"] as const)
      assert.ok(!reported.includes(Buffer.from(upgrade.verification.key).toString(encoding)));
  });

  test("does not refuse while it cannot be done, and Helm does not run", async () => {
    const { runs, cluster } = await play({
      given: [installed],
      step: { ...upgrade, others: plans(unreachable), maxRuns: 0 },
    });

    const { code, refusedAt } = cluster.reports.at(-1) ?? {};
    assert.deepEqual([runs, code, refusedAt], [[], "KUBE_UNREACHABLE", undefined]);
  });

  test("is done once for a content, however often Helm fails", async () => {
    const { cluster } = await play({
      given: [installed],
      step: {
        ...upgrade,
        content: retried,
        helm: { upgrade: ["fails", "fails", "succeeds"] },
        others: plans(aPlan(seen)),
      },
    });

    assert.equal(cluster.plans, 1);
  });

  test("is not done where nothing was approved", async () => {
    const { cluster } = await play({ given: [installed], step: { version: "1.1.0" } });

    assert.equal(cluster.plans, 0);
  });

  const writes = 12;
  for (let crashAtWrite = 1; crashAtWrite <= writes; crashAtWrite += 1)
    test(`lets no agent install what was refused that ends at write ${crashAtWrite}`, async () => {
      const { runs, result } = await play(stale, { crashAtWrite });

      assert.deepEqual([runs, result], [[], "failed PLAN_STALE"]);
    });
});
