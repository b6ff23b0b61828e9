import assert from "node:assert/strict";
import type { BundleDeployment } from "@flotilla/shared/api";
import type { HelmReleaseStatus } from "@flotilla/shared/flux";
import { describe, test } from "vitest";
import { aDeployment, aggregated, now } from "../../testing/index.ts";
import { decidedStatus } from "./decided-status.ts";
import { helmReleaseStatus } from "./status.ts";
import { aHelmRelease, resolvedWeb } from "./testing/index.ts";
import { uninstalledNote, uninstallReady } from "./uninstall.ts";

const deletionTimestamp = "2026-01-01T00:00:00Z";
const snapshot = {
  ...{
    digest: "",
    configDigest: "",
    name: "web",
    namespace: "apps",
    version: 2,
    status: "deployed",
  },
  ...{ chartName: "web", chartVersion: "1.2.9", firstDeployed: now, lastDeployed: now },
};
const released: NonNullable<HelmReleaseStatus["conditions"]>[number] = {
  ...{ type: "Released", status: "True", reason: "InstallSucceeded" },
  ...{ message: "", lastTransitionTime: now },
};

describe("a HelmRelease whose finalizer is removed", () => {
  const rows: readonly (readonly [
    what: string,
    status: HelmReleaseStatus,
    remaining: readonly BundleDeployment[],
    note: string | undefined,
  ])[] = [
    [
      "says which release was uninstalled",
      { history: [snapshot] },
      [],
      "Helm uninstall succeeded for release apps/web.v2 with chart web@1.2.9",
    ],
    [
      "says so for a fleet",
      { conditions: [released] },
      [],
      "Helm uninstall succeeded for the release in all connected clusters",
    ],
    [
      "names the clusters that uninstall it later",
      { conditions: [released] },
      [aDeployment("oslo")],
      "Helm uninstall succeeded for the release in all connected clusters; it is uninstalled in fleet-default/oslo when the agent is connected again",
    ],
    ["says nothing when nothing was installed", {}, [], undefined],
  ];
  test.each(rows)("%s", (_, status, remaining, note) => {
    const found = uninstalledNote(aHelmRelease({}, {}, status), remaining);
    assert.equal(found?.note, note);
    if (found !== undefined) assert.equal(found.reason, "UninstallSucceeded");
  });

  test("says nothing when it was suspended, so that the release stays", () =>
    assert.equal(
      uninstalledNote(aHelmRelease({ suspend: true }, {}, { history: [snapshot] }), []),
      undefined,
    ));
});

describe("a HelmRelease that is being deleted is", () => {
  const rows: readonly (readonly [what: string, message: string, expected: readonly string[]])[] = [
    [
      "Progressing while its release is uninstalled",
      "",
      [
        "Reconciling=True Progressing: uninstalling the release",
        "Ready=Unknown Progressing: uninstalling the release",
      ],
    ],
    [
      "not Ready with UninstallFailed when that fails",
      "pre-delete hook failed",
      [
        "Reconciling=True ProgressingWithRetry: the release cannot be uninstalled in 1 cluster: fleet-default/oslo: pre-delete hook failed",
        "Ready=False UninstallFailed: the release cannot be uninstalled in 1 cluster: fleet-default/oslo: pre-delete hook failed",
      ],
    ],
  ];
  test.each(rows)("%s", (_, message, expected) => {
    const deployment = aDeployment("oslo", {
      metadata: { deletionTimestamp },
      status: {
        conditions: [
          {
            ...{ type: "Ready", status: "False", message },
            reason: message === "" ? "Progressing" : "ErrUninstall",
          },
        ],
      },
    });
    const release = aHelmRelease({}, { deletionTimestamp });
    const status = {
      ...decidedStatus(release, undefined, { chart: resolvedWeb, now }),
      history: [snapshot],
    };
    const { summary, offline, conditions } = aggregated([deployment]);

    const after = helmReleaseStatus({
      release: { ...release, status },
      bundle: undefined,
      ...{ summary, offline, conditions, deployments: [deployment], now },
      clusterOf: () => ({ name: "oslo", state: "Ready" }),
    });

    assert.deepEqual(
      after?.conditions
        ?.filter(({ type }) => type !== "Accepted")
        .map((each) => `${each.type}=${each.status} ${each.reason}: ${each.message}`),
      expected,
    );
    assert.deepEqual(after.history, [snapshot]);
  });
});

test("the failure of an uninstallation is the same message whenever the next attempt is", () => {
  const failing = (retryAt: string) =>
    aDeployment("oslo", {
      metadata: { deletionTimestamp },
      status: {
        cause: "pre-delete hook failed",
        conditions: [
          {
            type: "Ready",
            status: "False",
            reason: "ErrUninstall",
            message: `pre-delete hook failed; retrying at ${retryAt}`,
          },
        ],
      },
    });

  const [first, second] = ["2026-01-01T00:01:00Z", "2026-01-01T00:03:00Z"].map((retryAt) =>
    uninstallReady([failing(retryAt)]),
  );

  assert.match(first?.message ?? "", /: pre-delete hook failed$/);
  assert.deepEqual(first, second);
});
