/** What the driver makes of a release that is not installed, and of one whose installation fails, for each strategy of remediation. */
import { plainContent } from "@flotilla/shared/content/testing";
import { describe } from "vitest";
import { testRows } from "./testing/index.ts";

const fails = { upgrade: "fails" } as const;
const installs = "upgrade to 1.0.0 as revision 1";

/** The content of a HelmRelease that is installed again this often after a failure. */
function remediated(retries: number, more: { readonly remediateLastFailure?: boolean } = {}) {
  return { actions: { install: { remediation: { retries, ...more } } } };
}

/** Decisions of the driver. */
const absent = "absent (NotInstalled): upgrade";
const repeated = "failed (ReleaseFailed): upgrade";
const removed = "failed (ReleaseFailed): uninstall";
const stopped = "failed (ReleaseFailed): stop";
const tested = "untested (NotTested): test";

describe("a release that is not there", () => {
  testRows([
    {
      name: "is installed",
      step: { version: "1.0.0" },
      runs: [installs],
      decisions: [absent],
      result: "deployed",
      installed: ["shop: deployed 1.0.0, runs 1.0.0"],
      reasons: ["NotInstalled"],
    },
    {
      name: "is installed, and its tests run",
      step: { version: "1.0.0", content: { actions: { test: { enable: true } } } },
      runs: [installs, "test"],
      decisions: [absent, tested],
      result: "deployed",
      installed: ["shop: deployed 1.0.0, runs 1.0.0"],
      reasons: ["NotInstalled"],
    },
    {
      name: "is installed again after its history was kept",
      given: [
        { version: "1.0.0", content: { actions: { uninstall: { keepHistory: true } } } },
        {
          version: "1.0.0",
          content: { actions: { uninstall: { keepHistory: true } } },
          withdraws: true,
        },
      ],
      step: { version: "1.1.0" },
      runs: ["upgrade to 1.1.0 as revision 2"],
      decisions: ["absent (Uninstalled): upgrade"],
      result: "deployed",
      installed: ["shop: deployed 1.1.0, runs 1.1.0"],
      reasons: ["Uninstalled"],
    },
    {
      name: "is not installed while its chart cannot be rendered, which counts as no attempt",
      step: {
        version: "1.0.0",
        content: remediated(1),
        helm: { upgrade: ["fails before its record", "fails before its record"] },
      },
      runs: [installs, installs, installs],
      decisions: [absent, absent, absent],
      result: "deployed",
      installed: ["shop: deployed 1.0.0, runs 1.0.0"],
      reasons: ["NotInstalled"],
    },
  ]);
});

describe("an installation that fails", () => {
  testRows([
    {
      name: "is repeated as an upgrade without a strategy",
      step: { version: "1.0.0", helm: { upgrade: ["fails", "fails"] } },
      runs: [installs, "upgrade to 1.0.0 as revision 2", "upgrade to 1.0.0 as revision 3"],
      decisions: [absent, repeated, repeated],
      result: "deployed",
      installed: ["shop: deployed 1.0.0, runs 1.0.0"],
      reasons: ["ReleaseFailed"],
    },
    {
      name: "is repeated without end without a strategy",
      step: { version: "1.0.0", helm: fails, maxRuns: 2 },
      runs: [installs, "upgrade to 1.0.0 as revision 2"],
      decisions: [absent, repeated],
      result: "failed HELM_FAILED",
      installed: ["shop: failed 1.0.0, runs undefined"],
      failures: 2,
      reasons: ["ReleaseFailed"],
    },
    {
      name: "is repeated as an upgrade with the strategy RetryOnFailure",
      step: {
        version: "1.0.0",
        content: { actions: { install: { strategy: { name: "RetryOnFailure" } } } },
        helm: { upgrade: ["fails"] },
      },
      runs: [installs, "upgrade to 1.0.0 as revision 2"],
      decisions: [absent, repeated],
      result: "deployed",
      installed: ["shop: deployed 1.0.0, runs 1.0.0"],
      reasons: ["ReleaseFailed"],
    },
    {
      name: "stays as it is without retries",
      step: { version: "1.0.0", content: remediated(0), helm: fails },
      runs: [installs],
      decisions: [absent, stopped, stopped],
      result: "failed RETRIES_EXCEEDED",
      installed: ["shop: failed 1.0.0, runs undefined"],
      failures: 1,
      reasons: ["NotInstalled"],
    },
    {
      name: "is uninstalled without retries if the last failure is remediated",
      step: {
        version: "1.0.0",
        content: remediated(0, { remediateLastFailure: true }),
        helm: fails,
      },
      runs: [installs, "uninstall"],
      decisions: [absent, removed, "absent (NotInstalled): stop"],
      result: "failed RETRIES_EXCEEDED",
      installed: [],
      failures: 1,
    },
    {
      name: "is uninstalled and repeated with one retry",
      step: { version: "1.0.0", content: remediated(1), helm: fails },
      runs: [installs, "uninstall", installs],
      decisions: [absent, removed, absent, stopped, stopped],
      result: "failed RETRIES_EXCEEDED",
      installed: ["shop: failed 1.0.0, runs undefined"],
      failures: 2,
      reasons: ["NotInstalled"],
    },
    {
      name: "is uninstalled and repeated with three retries",
      step: { version: "1.0.0", content: remediated(3), helm: fails },
      runs: [...[installs, "uninstall", installs, "uninstall", installs, "uninstall"], installs],
      decisions: [absent, removed, absent, removed, absent, removed, absent, stopped, stopped],
      result: "failed RETRIES_EXCEEDED",
      installed: ["shop: failed 1.0.0, runs undefined"],
      failures: 4,
      reasons: ["NotInstalled"],
    },
    {
      name: "is forgotten once a retry succeeds",
      step: { version: "1.0.0", content: remediated(1), helm: { upgrade: ["fails"] } },
      runs: [installs, "uninstall", installs],
      decisions: [absent, removed, absent],
      result: "deployed",
      installed: ["shop: deployed 1.0.0, runs 1.0.0"],
      reasons: ["NotInstalled"],
    },
    {
      name: "is remediated again after the remediation failed",
      step: {
        version: "1.0.0",
        content: remediated(1),
        helm: { upgrade: ["fails"], uninstall: ["fails"] },
      },
      runs: [installs, "uninstall", "uninstall", installs],
      decisions: [absent, removed, "uninstalling (Uninstalling): uninstall", absent],
      result: "deployed",
      installed: ["shop: deployed 1.0.0, runs 1.0.0"],
      reasons: ["NotInstalled"],
    },
    {
      name: "is replaced by another content, for which nothing is counted",
      given: [{ version: "1.0.0", content: remediated(0), helm: fails }],
      step: { version: "1.1.0", content: remediated(0) },
      runs: ["upgrade to 1.1.0 as revision 2"],
      decisions: [repeated],
      result: "deployed",
      installed: ["shop: deployed 1.1.0, runs 1.1.0"],
      reasons: ["ReleaseFailed"],
    },
    {
      name: "with atomic is uninstalled, and repeated",
      step: {
        version: "1.0.0",
        content: { helm: { ...plainContent.helm, maxHistory: 0, atomic: true } },
        helm: { upgrade: ["fails"] },
      },
      runs: [installs, "uninstall", installs],
      decisions: [absent, absent],
      result: "deployed",
      installed: ["shop: deployed 1.0.0, runs 1.0.0"],
      reasons: ["NotInstalled"],
    },
    {
      name: "counts as failed by its tests, and is uninstalled and repeated",
      step: {
        version: "1.0.0",
        content: {
          actions: { install: { remediation: { retries: 1 } }, test: { enable: true } },
        },
        helm: { test: ["fails"] },
      },
      runs: [installs, "test", "uninstall", installs, "test"],
      decisions: [absent, tested, "failed (TestsFailed): uninstall", absent, tested],
      result: "deployed",
      installed: ["shop: deployed 1.0.0, runs 1.0.0"],
      reasons: ["NotInstalled"],
    },
    {
      name: "is as desired if the failures of its tests are ignored",
      step: {
        version: "1.0.0",
        content: { actions: { test: { enable: true, ignoreFailures: true } } },
        helm: { test: "fails" },
      },
      runs: [installs, "test"],
      decisions: [absent, tested],
      result: "deployed",
      installed: ["shop: deployed 1.0.0, runs 1.0.0"],
      reasons: ["NotInstalled"],
    },
    {
      name: "repeats its tests alone without a strategy",
      step: {
        version: "1.0.0",
        content: { actions: { test: { enable: true } } },
        helm: { test: ["fails", "fails"] },
      },
      runs: [installs, "test", "test", "test"],
      decisions: [absent, tested, "failed (TestsFailed): test", "failed (TestsFailed): test"],
      result: "deployed",
      installed: ["shop: deployed 1.0.0, runs 1.0.0"],
      reasons: ["NotInstalled"],
    },
    {
      name: "is one also if Helm was killed, and its lock is removed",
      step: {
        version: "1.0.0",
        content: remediated(1),
        helm: { upgrade: ["is interrupted"] },
      },
      runs: [installs, "uninstall", installs],
      decisions: [absent, "locked (Interrupted): unlock", removed, absent],
      result: "deployed",
      installed: ["shop: deployed 1.0.0, runs 1.0.0"],
      reasons: ["NotInstalled"],
    },
    {
      name: "is uninstalled with its history, and repeated as the next revision",
      step: {
        version: "1.0.0",
        content: {
          actions: { install: { remediation: { retries: 1 } }, uninstall: { keepHistory: true } },
        },
        helm: fails,
      },
      runs: [installs, "uninstall --keep-history", "upgrade to 1.0.0 as revision 2"],
      decisions: [absent, removed, "absent (Uninstalled): upgrade", stopped, stopped],
      result: "failed RETRIES_EXCEEDED",
      installed: ["shop: failed 1.0.0, runs undefined"],
      failures: 2,
      reasons: ["Uninstalled"],
    },
  ]);
});
