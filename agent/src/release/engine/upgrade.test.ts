/** What the driver makes of a release that is not as desired, and of one whose upgrade fails, for each strategy of remediation. */
import { plainContent } from "@flotilla/shared/content/testing";
import { describe } from "vitest";
import { testRows } from "./testing/index.ts";

const installed = { version: "1.0.0" };
const fails = { upgrade: "fails" } as const;
const second = "upgrade to 1.1.0 as revision 2";
const remains = ["shop: deployed 1.0.0, runs 1.0.0"];
const upgraded = ["shop: deployed 1.1.0, runs 1.1.0"];

/** The content of a HelmRelease that is upgraded again this often after a failure. */
function remediated(
  retries: number,
  more: {
    readonly strategy?: "rollback" | "uninstall";
    readonly remediateLastFailure?: boolean;
  } = {},
) {
  return { actions: { upgrade: { remediation: { retries, ...more } } } };
}

const uninstalls = { strategy: "uninstall" } as const;

/** Decisions of the driver. */
const changed = "outOfSync (ChartChanged): upgrade";
const repeated = "failed (ReleaseFailed): upgrade";
const rolledBack = "failed (ReleaseFailed): rollback";
const removed = "failed (ReleaseFailed): uninstall";
const stopped = "failed (ReleaseFailed): stop";
const stoppedBefore = "outOfSync (ContentChanged): stop";
const tested = "untested (NotTested): test";
const absent = "absent (NotInstalled): upgrade";

describe("a release of the agent", () => {
  testRows([
    {
      name: "stays as it is if it is as desired",
      given: [installed],
      step: installed,
      runs: [],
      decisions: [],
      result: "deployed",
      installed: remains,
      reasons: ["NotInstalled"],
    },
    {
      name: "is upgraded to another chart",
      given: [installed],
      step: { version: "1.1.0" },
      runs: [second],
      decisions: [changed],
      result: "deployed",
      installed: upgraded,
      reasons: ["ChartChanged"],
    },
    {
      name: "is upgraded to other values",
      given: [installed],
      step: { version: "1.0.0", content: { values: { replicas: 2 } } },
      runs: ["upgrade to 1.0.0 as revision 2"],
      decisions: ["outOfSync (ValuesChanged): upgrade"],
      result: "deployed",
      installed: remains,
      reasons: ["ValuesChanged"],
    },
    {
      name: "is upgraded to another chart with other values",
      given: [installed],
      step: { version: "1.1.0", content: { values: { replicas: 2 } } },
      runs: [second],
      decisions: ["outOfSync (ChartChanged, ValuesChanged): upgrade"],
      result: "deployed",
      installed: upgraded,
      reasons: ["ChartChanged", "ValuesChanged"],
    },
    {
      name: "is upgraded by another forceSyncGeneration",
      given: [installed],
      step: { version: "1.0.0", content: { forceSyncGeneration: 1 } },
      runs: ["upgrade to 1.0.0 as revision 2"],
      decisions: ["outOfSync (ForceSyncGenerationChanged): upgrade"],
      result: "deployed",
      installed: remains,
      reasons: ["ForceSyncGenerationChanged"],
    },
    {
      name: "is tested once tests are enabled, without an upgrade",
      given: [installed],
      step: { version: "1.0.0", content: { actions: { test: { enable: true } } } },
      runs: ["test"],
      decisions: [tested],
      result: "deployed",
      installed: remains,
      reasons: ["NotInstalled"],
    },
    {
      name: "is not upgraded while its chart cannot be rendered, which counts as no attempt",
      given: [installed],
      step: {
        version: "1.1.0",
        content: remediated(0),
        helm: { upgrade: ["fails before its record"] },
      },
      runs: [second, second],
      decisions: [changed, changed],
      result: "deployed",
      installed: upgraded,
      reasons: ["ChartChanged"],
    },
  ]);
});

describe("an upgrade that fails", () => {
  testRows([
    {
      name: "is repeated without a strategy",
      given: [installed],
      step: { version: "1.1.0", helm: { upgrade: ["fails"] } },
      runs: [second, "upgrade to 1.1.0 as revision 3"],
      decisions: [changed, repeated],
      result: "deployed",
      installed: upgraded,
      reasons: ["ReleaseFailed"],
    },
    {
      name: "is repeated without end without a strategy",
      given: [installed],
      step: { version: "1.1.0", helm: fails, maxRuns: 3 },
      runs: [second, "upgrade to 1.1.0 as revision 3", "upgrade to 1.1.0 as revision 4"],
      decisions: [changed, repeated, repeated],
      result: "failed HELM_FAILED",
      installed: ["shop: failed 1.1.0, runs 1.0.0"],
      failures: 3,
      reasons: ["ReleaseFailed"],
    },
    {
      name: "is repeated with the strategy RetryOnFailure",
      given: [installed],
      step: {
        version: "1.1.0",
        content: { actions: { upgrade: { strategy: { name: "RetryOnFailure" } } } },
        helm: { upgrade: ["fails"] },
      },
      runs: [second, "upgrade to 1.1.0 as revision 3"],
      decisions: [changed, repeated],
      result: "deployed",
      installed: upgraded,
      reasons: ["ReleaseFailed"],
    },
    {
      name: "stays as it is without retries",
      given: [installed],
      step: { version: "1.1.0", content: remediated(0), helm: fails },
      runs: [second],
      decisions: [changed, stopped, stopped],
      result: "failed RETRIES_EXCEEDED",
      installed: ["shop: failed 1.1.0, runs 1.0.0"],
      failures: 1,
      reasons: ["ChartChanged"],
    },
    {
      name: "is rolled back without retries if the last failure is remediated",
      given: [installed],
      step: {
        version: "1.1.0",
        content: remediated(0, { remediateLastFailure: true }),
        helm: fails,
      },
      runs: [second, "rollback to revision 1"],
      decisions: [changed, rolledBack, stoppedBefore],
      result: "failed RETRIES_EXCEEDED",
      installed: remains,
      failures: 1,
      reasons: ["ReleaseFailed"],
    },
    {
      name: "is rolled back and repeated with one retry",
      given: [installed],
      step: { version: "1.1.0", content: remediated(1), helm: fails },
      runs: [
        ...[second, "rollback to revision 1"],
        ...["upgrade to 1.1.0 as revision 4", "rollback to revision 3"],
      ],
      decisions: [changed, rolledBack, changed, rolledBack, stoppedBefore],
      result: "failed RETRIES_EXCEEDED",
      installed: remains,
      failures: 2,
      reasons: ["ReleaseFailed"],
    },
    {
      name: "is rolled back and repeated with three retries",
      given: [installed],
      step: { version: "1.1.0", content: remediated(3), helm: fails },
      runs: [
        ...[second, "rollback to revision 1"],
        ...["upgrade to 1.1.0 as revision 4", "rollback to revision 3"],
        ...["upgrade to 1.1.0 as revision 6", "rollback to revision 5"],
        ...["upgrade to 1.1.0 as revision 8", "rollback to revision 7"],
      ],
      decisions: [
        changed,
        rolledBack,
        changed,
        rolledBack,
        changed,
        rolledBack,
        changed,
        rolledBack,
        stoppedBefore,
      ],
      result: "failed RETRIES_EXCEEDED",
      installed: remains,
      failures: 4,
      reasons: ["ReleaseFailed"],
    },
    {
      name: "is forgotten once a retry succeeds",
      given: [installed],
      step: { version: "1.1.0", content: remediated(1), helm: { upgrade: ["fails"] } },
      runs: [second, "rollback to revision 1", "upgrade to 1.1.0 as revision 4"],
      decisions: [changed, rolledBack, changed],
      result: "deployed",
      installed: upgraded,
      reasons: ["ChartChanged"],
    },
    {
      name: "is rolled back again after the rollback failed",
      given: [installed],
      step: {
        version: "1.1.0",
        content: remediated(1),
        helm: { upgrade: ["fails"], rollback: ["fails"] },
      },
      runs: [
        ...[second, "rollback to revision 1", "rollback to revision 1"],
        "upgrade to 1.1.0 as revision 5",
      ],
      decisions: [changed, rolledBack, rolledBack, changed],
      result: "deployed",
      installed: upgraded,
      reasons: ["ChartChanged"],
    },
    {
      name: "stays as it is where no earlier revision was deployed",
      given: [{ version: "1.0.0", helm: fails, maxRuns: 1 }],
      step: { version: "1.1.0", content: remediated(1), helm: fails },
      runs: [second],
      decisions: [repeated, stopped, stopped],
      result: "failed ROLLBACK_TARGET_MISSING",
      installed: ["shop: failed 1.1.0, runs undefined"],
      failures: 1,
      reasons: ["ReleaseFailed"],
    },
    {
      name: "is uninstalled with the strategy uninstall, and installed as often as that may be retried",
      given: [installed],
      step: { version: "1.1.0", content: remediated(1, uninstalls), helm: fails, maxRuns: 5 },
      runs: [
        ...[second, "uninstall", "upgrade to 1.1.0 as revision 1"],
        ...["upgrade to 1.1.0 as revision 2", "uninstall"],
      ],
      decisions: [changed, removed, absent, repeated, removed],
      result: "failed HELM_FAILED",
      installed: [],
      failures: 3,
    },
    {
      name: "is uninstalled without retries if the last failure is remediated, and installed",
      given: [installed],
      step: {
        version: "1.1.0",
        content: remediated(0, { ...uninstalls, remediateLastFailure: true }),
        helm: { upgrade: ["fails"] },
      },
      runs: [second, "uninstall", "upgrade to 1.1.0 as revision 1"],
      decisions: [changed, removed, absent],
      result: "deployed",
      installed: upgraded,
      reasons: ["NotInstalled"],
    },
    {
      name: "counts as failed by its tests, and is rolled back to what passed them",
      given: [{ version: "1.0.0", content: { actions: { test: { enable: true } } } }],
      step: {
        version: "1.1.0",
        content: {
          actions: { upgrade: { remediation: { retries: 1 } }, test: { enable: true } },
        },
        helm: { test: "fails" },
      },
      runs: [
        ...[second, "test", "rollback to revision 1"],
        ...["upgrade to 1.1.0 as revision 4", "test", "rollback to revision 3"],
      ],
      decisions: [
        changed,
        tested,
        "failed (TestsFailed): rollback",
        changed,
        tested,
        "failed (TestsFailed): rollback",
        stoppedBefore,
      ],
      result: "failed RETRIES_EXCEEDED",
      installed: remains,
      failures: 2,
      reasons: ["TestsFailed"],
    },
    {
      name: "with atomic is rolled back by Helm, and repeated",
      given: [installed],
      step: {
        version: "1.1.0",
        content: { helm: { ...plainContent.helm, maxHistory: 0, atomic: true } },
        helm: { upgrade: ["fails"] },
      },
      runs: [
        "upgrade to 1.1.0 as revision 2 --rollback-on-failure",
        "upgrade to 1.1.0 as revision 4 --rollback-on-failure",
      ],
      decisions: [changed, "unmanaged (NotDeployed): upgrade"],
      result: "deployed",
      installed: upgraded,
      reasons: ["NotDeployed"],
    },
    {
      name: "ends where the content of before is desired again",
      given: [installed, { version: "1.1.0", content: remediated(0), helm: fails }],
      step: installed,
      runs: ["upgrade to 1.0.0 as revision 3"],
      decisions: [repeated],
      result: "deployed",
      installed: remains,
      reasons: ["ReleaseFailed"],
    },
    {
      name: "is not repeated when it is desired again, whatever agent runs",
      given: [installed, { version: "1.1.0", content: remediated(1), helm: fails }],
      step: { version: "1.1.0", content: remediated(1), helm: fails },
      runs: [],
      decisions: [stoppedBefore],
      result: "failed RETRIES_EXCEEDED",
      installed: remains,
      failures: 2,
      reasons: ["ReleaseFailed"],
    },
  ]);
});

describe("a release that does not become ready in time", () => {
  const waits = { helm: { ...plainContent.helm, maxHistory: 0, timeoutSeconds: 60 } };

  testRows([
    {
      name: "is waited for without a run of Helm, and has failed then",
      given: [installed],
      step: {
        version: "1.1.0",
        content: { ...waits, ...remediated(0) },
        isReady: false,
      },
      runs: [second],
      decisions: [changed, stopped, stopped],
      result: "failed RETRIES_EXCEEDED",
      installed: ["shop: failed 1.1.0, runs 1.1.0"],
      failures: 1,
      reasons: ["ChartChanged"],
    },
    {
      name: "is rolled back",
      given: [installed],
      step: {
        version: "1.1.0",
        content: {
          ...waits,
          actions: { upgrade: { remediation: { retries: 1 } }, rollback: { disableWait: true } },
        },
        isReady: false,
      },
      runs: [
        ...[second, "rollback to revision 1"],
        ...["upgrade to 1.1.0 as revision 4", "rollback to revision 3"],
      ],
      decisions: [changed, rolledBack, changed, rolledBack, stoppedBefore],
      result: "failed RETRIES_EXCEEDED",
      installed: remains,
      failures: 2,
      reasons: ["ReleaseFailed"],
    },
  ]);
});
