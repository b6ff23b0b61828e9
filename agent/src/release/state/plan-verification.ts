/** Whether a content is planned once more before an action, and what is said if something else would change. Pure. */
import type { PlanVerification } from "@flotilla/proto";
import type { PlanCounts, PlanResult } from "@flotilla/shared/plan";
import { diffOf, firstInstallation, noChange } from "@flotilla/shared/plan/approved";
import type { Action } from "./action.ts";

/**
 * Only before the first change for the content: an upgrade, or the uninstallation that precedes one. A rollback and the uninstallation of
 * what has failed follow such a change. Drift is corrected, tests are run and readiness is awaited where the release is the desired one.
 */
export function mustVerify(action: Action): boolean {
  return action.kind === "upgrade" || (action.kind === "uninstall" && action.why !== "remediation");
}

export function staleText(
  { diff, at }: Pick<PlanVerification, "diff" | "at">,
  result: PlanResult,
): string {
  return `not upgraded, and nothing was changed: ${approvedText(diff)} when it was promoted at ${at}, and now ${plannedText(result)}; the hub takes the promotion back, plans the cluster again, and asks for what nobody has approved`;
}

function approvedText(diff: string): string {
  switch (diff) {
    case noChange:
      return "nothing was to change";
    case firstInstallation:
      return "new objects alone were approved";
    default:
      return `diff ${diff} was approved`;
  }
}

function plannedText({ result, counts, digest, code, message }: PlanResult): string {
  const diff = diffOf(digest);
  return result === "fails"
    ? `the upgrade would fail by ${code}: ${message} (diff ${diff})`
    : `it is diff ${diff}: ${countsText(counts)}`;
}

function countsText({ create, update, replace, delete: removed }: PlanCounts): string {
  const counts = [
    `${create} to create`,
    `${update} to update`,
    `${replace} to replace`,
    `${removed} to delete`,
  ];
  return counts.filter((text) => !text.startsWith("0 ")).join(", ");
}
