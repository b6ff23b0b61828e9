/** Deployed HelmOps that are changed to something invalid: they report it, and the deployment stays. */

import assert from "node:assert/strict";
import { findCondition } from "@flotilla/shared/conditions";
import { KubeStatusError } from "@flotilla/shared/kube/client";
import { describe, test } from "vitest";
import { messageOf } from "../harness/wait.ts";
import type { BadChange } from "./bad-changes.ts";
import type { BadInputFleet, Change } from "./bad-input-fleet.ts";

/** The HelmOp whose changes the API server rejects. */
export const validated = "validated";

const rejectedByServer: readonly (readonly [what: string, change: Change, message: RegExp])[] = [
  ["an interval in days", { pollingInterval: "1d" }, /spec\.pollingInterval: .*days and weeks/],
  ["a release name in capitals", { helm: { releaseName: "Web" } }, /spec\.helm\.releaseName: /],
  ["no chart", { helm: { chart: null } }, /spec\.helm: .*non-OCI repository with an empty chart/],
  [
    "an operator that does not exist",
    {
      targets: [{ clusterSelector: { matchExpressions: [{ key: "env", operator: "Inn" }] } }],
    },
    /operator: Unsupported value: "Inn": supported values: "In", "NotIn", "Exists", "DoesNotExist"/,
  ],
];

export function testRejectedChanges(
  { fleet, goodSpec, ...fixture }: BadInputFleet,
  changes: readonly BadChange[],
): void {
  const { workspace } = fleet;

  describe("a deployed HelmOp that is changed to", () => {
    for (const { name, what, change, message } of changes) {
      test(`${what} reports it, stays deployed, and recovers at once when it is corrected`, async () => {
        const before = await fixture.snapshot(name);

        await workspace.patchHelmOp(name, change);
        const rejected = await fixture.accepted(name, "False");
        assert.match(messageOf(rejected, "Accepted"), message);
        const ready = findCondition(rejected.status?.conditions, "Ready");
        assert.equal(ready?.status, "True");
        assert.match(ready.message ?? "", /^deployed as accepted before; not accepted: /);
        assert.equal(rejected.status?.version, "1.0.0");
        assert.deepEqual(await fixture.snapshot(name), before);

        await fixture.replaceSpec(name, goodSpec);
        const corrected = await fixture.ready(name);
        for (const type of ["Accepted", "Ready"]) assert.equal(messageOf(corrected, type), "");
        assert.deepEqual(await fixture.snapshot(name), before);
      });
    }
  });

  test("a change that the API server rejects has no effect", async () => {
    const before = await fixture.ready(validated);
    const snapshot = await fixture.snapshot(validated);

    for (const [what, change, message] of rejectedByServer) {
      await assert.rejects(workspace.patchHelmOp(validated, change), (thrown) => {
        assert.ok(thrown instanceof KubeStatusError, what);
        assert.equal(thrown.status, 422, what);
        assert.match(thrown.message, message);
        return true;
      });
    }

    const after = await fixture.ready(validated);
    assert.equal(after.metadata.resourceVersion, before.metadata.resourceVersion);
    assert.deepEqual(await fixture.snapshot(validated), snapshot);
  });
}
