/** The revision that a failed upgrade is rolled back to. */

import {
  isSameContent,
  type ReleaseRecord,
  type Releases,
  type StoredReleases,
} from "../../helm/index.ts";
import type { Inventory, InventoryTest } from "../../state/index.ts";
import { type DesiredRelease, policiesOf } from "../action/tools.ts";
import type { RollbackTarget } from "../state/action.ts";
import type { ReleaseState, TestResult } from "../state/release-state.ts";

export interface RollbackTargetDeps {
  readonly inventory: Pick<Inventory, "revisionOf">;
  readonly releases: Pick<Releases, "history">;
  readonly stored: Pick<StoredReleases, "readAll">;
}

/** The newest earlier revision of the agent that was deployed and whose tests did not fail, if a failed release needs one. */
export async function rollbackTarget(
  { inventory, releases, stored }: RollbackTargetDeps,
  state: ReleaseState,
  { content, desired }: Pick<DesiredRelease, "content" | "desired">,
): Promise<RollbackTarget> {
  const policy = policiesOf(content).upgrade;
  if (state.kind !== "failed" || policy.kind !== "remediate") return { kind: "missing" };
  const failed = state.record;
  const known = (record: ReleaseRecord) => inventory.revisionOf(record, record.revision);
  const failedContent = known(failed)?.content;
  /** The agent could not act by its record, and has made the same once more: to roll back to it would remediate nothing. */
  const isRemade = (record: ReleaseRecord) => {
    const of = known(record);
    if (of === undefined || of.digest !== undefined || failedContent === undefined) return false;
    return isSameContent(of.content, { content: failedContent });
  };
  const candidates = releases
    .history(desired.namespace, desired.name)
    .filter(
      (record) =>
        record.revision < failed.revision &&
        (record.status === "deployed" || record.status === "superseded") &&
        testResult(known(record)?.tests) !== "failed" &&
        !isRemade(record),
    )
    .toSorted((a, b) => b.revision - a.revision);
  const [record] = candidates;
  if (record === undefined) return { kind: "missing" };
  const release = (await stored.readAll(desired)).find((each) => each.revision === record.revision);
  const isOwn =
    record.isOwn && release !== undefined && isSameContent(known(record)?.content, release);
  return isOwn ? { kind: "found", record } : { kind: "tampered" };
}

export function testResult(tests: readonly InventoryTest[] | undefined): TestResult | undefined {
  if (tests === undefined) return undefined;
  return tests.every(({ phase }) => phase === "Succeeded") ? "passed" : "failed";
}
