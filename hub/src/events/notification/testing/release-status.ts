/** Statuses of releases, as the roll-up makes them, for tests of events. */
import type { BundleSummary, Condition, LastSuccess } from "@flotilla/shared/api";
import type { ReleaseStatus } from "../status-events.ts";

export function condition(
  type: string,
  status: Condition["status"],
  reason: string,
  message = `3 of 3 clusters; fleet-default/oslo: ${reason}`,
): Condition {
  return { type, status, reason, message };
}

export function status(
  conditions: readonly Condition[],
  summary: Partial<BundleSummary> = { ready: 3, desiredReady: 3 },
  version = "1.0.0",
): ReleaseStatus {
  const success = summary.waitApplied || summary.errApplied ? undefined : successIn(conditions);
  return {
    conditions,
    summary: { ready: 0, desiredReady: 3, ...summary },
    version,
    ...(success !== undefined && { lastSuccess: success }),
  };
}

/** The success of the cluster that the message of Released names, as the roll-up stores it. */
export function successIn(conditions: readonly Condition[]): LastSuccess | undefined {
  const released = conditions.find(({ type, status }) => type === "Released" && status === "True");
  const named = /; (\S+): .* release (\S+)\.v(\d+) with chart \S+@(\S+)$/;
  const [, cluster = "", release = "", revision = "", version = ""] =
    named.exec(released?.message ?? "") ?? [];
  if (cluster === "") return undefined;
  return { deployment: `${cluster}/web`, uid: cluster, release: `${release}:${revision}`, version };
}

export const installed = condition(
  "Released",
  "True",
  "InstallSucceeded",
  "3 of 3 clusters; fleet-default/oslo: Helm install succeeded for release web/web.v1 with chart web@1.0.0",
);
export const upgradeFailed = condition("Released", "False", "UpgradeFailed");

export function failing(
  count: number,
  conditions: readonly Condition[] = [upgradeFailed],
  version = "1.1.0",
) {
  const named = Array.from({ length: Math.min(count, 10) }, (_, index) => ({
    name: `fleet-default/c${index}`,
    bundleState: "ErrApplied",
    message: "helm upgrade failed",
  }));
  return status(
    conditions,
    { errApplied: count, desiredReady: 1_000, nonReadyResources: named },
    version,
  );
}
