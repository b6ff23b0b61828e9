/** What the driver makes of requests of users, of what others do to a release, and of releases that move or go. */
import { plainContent } from "@flotilla/shared/content/testing";
import { secrets } from "@flotilla/shared/kube/objects";
import { describe } from "vitest";
import { type Step, testRows } from "./testing/index.ts";

const installed = { version: "1.0.0" };
const second = "upgrade to 1.0.0 as revision 2";
const remains = ["shop: deployed 1.0.0, runs 1.0.0"];
const remediated = { actions: { upgrade: { remediation: { retries: 0 } } } };
const exceeded: Step = { version: "1.1.0", content: remediated, helm: { upgrade: "fails" } };
const chart = (version: string) => `https://charts.example.com/app-${version}.tgz`;

const reset = { token: "r", force: false, reset: true };
const force = { token: "f", force: true, reset: false };
const neither = { token: "n", force: false, reset: false };

/** Somebody upgrades the release to this chart by hand. */
function upgradedByHand(version: string): NonNullable<Step["others"]> {
  return async ({ helm }) => {
    await helm.byHand("upgrade", "--install", "--namespace=shop", "--", "app", chart(version));
  };
}

describe("a request of a user", () => {
  testRows([
    {
      name: "to upgrade upgrades what is as desired",
      given: [installed],
      step: { ...installed, request: force },
      runs: [`${second} --force-conflicts`],
      decisions: ["inSync (Requested): upgrade"],
      result: "deployed",
      installed: remains,
      reasons: ["Requested"],
    },
    {
      name: "to upgrade upgrades once, however often it is sent",
      given: [installed, { ...installed, request: force }],
      step: { ...installed, request: force },
      runs: [],
      decisions: [],
      result: "deployed",
      installed: remains,
      reasons: ["Requested"],
    },
    {
      name: "to upgrade is done with the run that it began, also if Helm was killed",
      given: [installed],
      step: {
        ...{ ...installed, content: remediated, request: force },
        helm: { upgrade: ["is interrupted"] },
      },
      runs: [`${second} --force-conflicts`],
      decisions: [
        "inSync (Requested): upgrade",
        "locked (Interrupted): unlock",
        "failed (ReleaseFailed): stop",
        "failed (ReleaseFailed): stop",
      ],
      result: "failed RETRIES_EXCEEDED",
      installed: ["shop: failed 1.0.0, runs 1.0.0"],
      failures: 1,
      reasons: ["Requested"],
    },
    {
      name: "to upgrade is done also if Helm has failed before its record",
      given: [installed],
      step: {
        ...{ ...installed, request: force },
        helm: { upgrade: ["fails before its record"] },
      },
      runs: [`${second} --force-conflicts`],
      decisions: ["inSync (Requested): upgrade"],
      result: "deployed",
      installed: remains,
      reasons: ["NotInstalled"],
    },
    {
      name: "without anything else reconciles alone",
      given: [installed],
      step: { ...installed, request: neither },
      runs: [],
      decisions: [],
      result: "deployed",
      installed: remains,
      reasons: ["NotInstalled"],
    },
    {
      name: "to reset begins again after no retries were left",
      given: [installed, exceeded],
      step: { version: "1.1.0", content: remediated, request: reset },
      runs: ["upgrade to 1.1.0 as revision 3"],
      decisions: ["failed (ReleaseFailed): upgrade"],
      result: "deployed",
      installed: ["shop: deployed 1.1.0, runs 1.1.0"],
      reasons: ["ReleaseFailed"],
    },
    {
      name: "to reset counts from the beginning",
      given: [installed, exceeded],
      step: { ...exceeded, request: reset },
      runs: ["upgrade to 1.1.0 as revision 3"],
      decisions: [
        "failed (ReleaseFailed): upgrade",
        "failed (ReleaseFailed): stop",
        "failed (ReleaseFailed): stop",
      ],
      result: "failed RETRIES_EXCEEDED",
      installed: ["shop: failed 1.1.0, runs 1.0.0"],
      failures: 1,
      reasons: ["ReleaseFailed"],
    },
    {
      name: "without a reset attempts nothing after no retries were left",
      given: [installed, exceeded],
      step: { ...exceeded, request: neither },
      runs: [],
      decisions: ["failed (ReleaseFailed): stop"],
      result: "failed RETRIES_EXCEEDED",
      installed: ["shop: failed 1.1.0, runs 1.0.0"],
      failures: 1,
      reasons: ["ChartChanged"],
    },
    {
      name: "to upgrade attempts it once more after no retries were left",
      given: [installed, exceeded],
      step: { ...exceeded, request: force },
      runs: ["upgrade to 1.1.0 as revision 3 --force-conflicts"],
      decisions: [
        "failed (ReleaseFailed, Requested): upgrade",
        "failed (ReleaseFailed): stop",
        "failed (ReleaseFailed): stop",
      ],
      result: "failed RETRIES_EXCEEDED",
      installed: ["shop: failed 1.1.0, runs 1.0.0"],
      failures: 2,
      reasons: ["ReleaseFailed", "Requested"],
    },
  ]);
});

describe("a release of others", () => {
  const theirs = ["shop: deployed 9.0.0, runs 9.0.0"];

  testRows([
    {
      name: "is not touched",
      step: { ...installed, others: upgradedByHand("9.0.0") },
      runs: [],
      decisions: ["unmanaged (ChangedByOthers): foreign"],
      result: "failed RELEASE_EXISTS",
      installed: theirs,
    },
    {
      name: "is not taken over while no service account limits what Helm would delete by its record",
      given: [],
      step: {
        version: "1.0.0",
        content: { helm: { ...plainContent.helm, maxHistory: 0, takeOwnership: true } },
        others: upgradedByHand("9.0.0"),
      },
      runs: [],
      decisions: ["unmanaged (ChangedByOthers): upgrade"],
      result: "failed RELEASE_NOT_OURS",
      installed: theirs,
    },
    {
      name: "is taken over by the request of a user, whatever objects it has",
      step: {
        version: "1.0.0",
        content: { helm: { ...plainContent.helm, maxHistory: 0, takeOwnership: true } },
        others: upgradedByHand("9.0.0"),
        request: force,
      },
      runs: [`${second} --force-conflicts --take-ownership`],
      decisions: ["unmanaged (ChangedByOthers, Requested): upgrade"],
      result: "deployed",
      installed: remains,
      reasons: ["ChangedByOthers", "Requested"],
    },
  ]);
});

describe("a release that somebody has changed by hand", () => {
  testRows([
    {
      name: "is upgraded back after an upgrade",
      given: [installed],
      step: { ...installed, others: upgradedByHand("9.0.0") },
      runs: ["upgrade to 1.0.0 as revision 3"],
      decisions: ["unmanaged (ChangedByOthers): upgrade"],
      result: "deployed",
      installed: remains,
      reasons: ["ChangedByOthers"],
    },
    {
      name: "is entered without a run of Helm if it is as desired again",
      given: [
        installed,
        { version: "1.1.0" },
        { ...installed, helm: { upgrade: "fails before its record" }, maxRuns: 1 },
      ],
      step: {
        ...installed,
        others: ({ helm }) => helm.byHand("rollback", "--namespace=shop", "--", "app", "1"),
      },
      runs: [],
      decisions: ["unmanaged (ChangedByOthers): claim"],
      result: "deployed",
      installed: remains,
    },
    {
      name: "is installed again after it was uninstalled",
      given: [installed],
      step: {
        ...installed,
        others: ({ helm }) => helm.byHand("uninstall", "--namespace=shop", "--", "app"),
      },
      runs: ["upgrade to 1.0.0 as revision 1"],
      decisions: ["absent (NotInstalled): upgrade"],
      result: "deployed",
      installed: remains,
      reasons: ["NotInstalled"],
    },
    {
      name: "is left alone while another Helm client changes it, until that is reported",
      given: [installed],
      step: {
        version: "1.1.0",
        others({ server }) {
          const found = server.peek(secrets, {
            namespace: "shop",
            name: "sh.helm.release.v1.app.v1",
          });
          if (found === undefined) return;
          const { name: _, resourceVersion: __, uid: ___, ...metadata } = found.metadata;
          server.put(secrets, {
            ...found,
            metadata: {
              ...metadata,
              name: "sh.helm.release.v1.app.v2",
              labels: { owner: "helm", name: "app", version: "2", status: "pending-upgrade" },
            },
          });
        },
      },
      runs: [],
      decisions: ["locked (LockedByOthers): locked"],
      result: "failed RELEASE_LOCKED",
      installed: remains,
      reasons: ["NotInstalled"],
    },
  ]);
});

describe("a release that is elsewhere than desired", () => {
  testRows([
    {
      name: "is uninstalled, and installed in its new namespace",
      given: [installed],
      step: { version: "1.0.0", content: { namespace: "market" } },
      runs: ["uninstall", "upgrade to 1.0.0 as revision 1 in market"],
      decisions: ["moved (Moved): uninstall", "absent (NotInstalled): upgrade"],
      result: "deployed",
      installed: ["market: deployed 1.0.0, runs 1.0.0"],
      reasons: ["NotInstalled"],
    },
    {
      name: "is uninstalled again until that succeeds",
      given: [installed],
      step: {
        version: "1.0.0",
        content: { namespace: "market" },
        helm: { uninstall: ["fails"] },
      },
      runs: ["uninstall", "uninstall", "upgrade to 1.0.0 as revision 1 in market"],
      decisions: [
        "moved (Moved): uninstall",
        "moved (Moved): uninstall",
        "absent (NotInstalled): upgrade",
      ],
      result: "deployed",
      installed: ["market: deployed 1.0.0, runs 1.0.0"],
      reasons: ["NotInstalled"],
    },
  ]);
});

describe("a deployment that is withdrawn", () => {
  testRows([
    {
      name: "is uninstalled",
      given: [installed],
      step: { ...installed, withdraws: true },
      runs: ["uninstall"],
      decisions: ["withdrawn (Removed): uninstall"],
      result: "withdrawn",
      installed: [],
    },
    {
      name: "is uninstalled again until that succeeds",
      given: [installed],
      step: { ...installed, withdraws: true, helm: { uninstall: ["fails", "is interrupted"] } },
      runs: ["uninstall", "uninstall", "uninstall"],
      decisions: [
        "withdrawn (Removed): uninstall",
        "withdrawn (Removed): uninstall",
        "withdrawn (Removed): uninstall",
      ],
      result: "withdrawn",
      installed: [],
    },
    {
      name: "is uninstalled after an upgrade that failed",
      given: [installed, exceeded],
      step: { version: "1.1.0", content: remediated, withdraws: true },
      runs: ["uninstall"],
      decisions: ["withdrawn (Removed): uninstall"],
      result: "withdrawn",
      installed: [],
    },
    {
      name: "keeps its objects without a run of Helm if its resources are kept",
      given: [{ version: "1.0.0", content: { keepResources: true } }],
      step: { version: "1.0.0", content: { keepResources: true }, withdraws: true },
      runs: [],
      decisions: ["withdrawn (Removed, KeepResources): deleteHistory"],
      result: "withdrawn",
      installed: ["shop: undefined undefined, runs 1.0.0"],
    },
    {
      name: "runs nothing if it was never installed",
      step: { ...installed, withdraws: true },
      runs: [],
      decisions: [],
      result: "withdrawn",
      installed: [],
    },
  ]);
});
