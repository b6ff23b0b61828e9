/** HelmOps that run and are changed to something that cannot be: what they say, and that they run on. */
import assert from "node:assert/strict";
import { findCondition } from "@flotilla/shared/conditions";
import { KubeStatusError } from "@flotilla/shared/kube/client";
import { describe, test } from "vitest";
import type { BadChange } from "./bad-changes.ts";
import type { World } from "./bad-input-fleet.ts";
import type { Change } from "./observed.ts";

/** The HelmOp that the API server guards. */
export const guarded = "guarded";

const refusedAtOnce: readonly (readonly [what: string, change: Change, says: RegExp])[] = [
  ["an interval in days", { pollingInterval: "1d" }, /spec\.pollingInterval: .*days and weeks/],
  ["a release name in capitals", { helm: { releaseName: "Web" } }, /spec\.helm\.releaseName: /],
  ["no chart", { helm: { chart: null } }, /spec\.helm: .*non-OCI repository with an empty chart/],
  [
    "an operator that there is not",
    {
      targets: [{ clusterSelector: { matchExpressions: [{ key: "env", operator: "Inn" }] } }],
    },
    /operator: Unsupported value: "Inn": supported values: "In", "NotIn", "Exists", "DoesNotExist"/,
  ],
];

export function changesAreRefused({ bench, goodSpec }: World, changes: readonly BadChange[]): void {
  describe("a HelmOp that runs and is changed to", () => {
    for (const { name, what, change, says } of changes) {
      test(`${what} says so, runs on, and recovers at once when it is mended`, async () => {
        const running = await bench.runningOf(name);

        await bench.change(name, change);
        const refused = await bench.accepted(name, "False");
        assert.match(findCondition(refused.status?.conditions, "Accepted")?.message ?? "", says);
        const ready = findCondition(refused.status?.conditions, "Ready");
        assert.equal(ready?.status, "True");
        assert.match(ready.message ?? "", /^deployed as accepted before; not accepted: /);
        assert.equal(refused.status?.version, "1.0.0");
        assert.deepEqual(await bench.runningOf(name), running);

        await bench.replaceSpec(name, goodSpec);
        const mended = await bench.ready(name);
        for (const type of ["Accepted", "Ready"])
          assert.equal(findCondition(mended.status?.conditions, type)?.message ?? "", "");
        assert.deepEqual(await bench.runningOf(name), running);
      });
    }
  });

  test("a change that the API server refuses is as if it had never been asked for", async () => {
    const before = await bench.ready(guarded);
    const running = await bench.runningOf(guarded);

    for (const [what, change, says] of refusedAtOnce) {
      await assert.rejects(bench.change(guarded, change), (thrown) => {
        assert.ok(thrown instanceof KubeStatusError, what);
        assert.equal(thrown.status, 422, what);
        assert.match(thrown.message, says);
        return true;
      });
    }

    const after = await bench.ready(guarded);
    assert.equal(after.metadata.resourceVersion, before.metadata.resourceVersion);
    assert.deepEqual(await bench.runningOf(guarded), running);
  });
}
