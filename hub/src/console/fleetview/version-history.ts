/** Which versions an app had in its clusters, and when: from the revisions of Helm that the agents report. Pure. */
import type { BundleDeployment } from "@flotilla/shared/api";
import type { VersionRecord } from "@flotilla/shared/dashboard";

const maxVersions = 20;

/** The version that came last first. A version that was installed, left and installed again is one entry. */
export function versionHistoryOf(
  deployments: Iterable<Pick<BundleDeployment, "status">>,
): VersionRecord[] {
  const records = new Map<string, VersionRecord>();
  for (const { status } of deployments) {
    const counted = new Set<string>();
    // Newest first: of each version only the newest revision decides the counts.
    for (const { chartVersion, lastDeployed, status: helm } of status?.history ?? []) {
      if (!chartVersion || !lastDeployed) continue;
      const known = records.get(chartVersion);
      const isFirstOfCluster = !counted.has(chartVersion);
      counted.add(chartVersion);
      records.set(chartVersion, {
        version: chartVersion,
        firstAt: earlier(known?.firstAt ?? lastDeployed, lastDeployed),
        lastAt: later(known?.lastAt ?? lastDeployed, lastDeployed),
        clusters: (known?.clusters ?? 0) + (isFirstOfCluster ? 1 : 0),
        current:
          (known?.current ?? 0) + (isFirstOfCluster && chartVersion === status?.version ? 1 : 0),
        failed: (known?.failed ?? 0) + (isFirstOfCluster && helm === "failed" ? 1 : 0),
      });
    }
  }
  return [...records.values()]
    .sort((one, other) => Date.parse(other.lastAt) - Date.parse(one.lastAt))
    .slice(0, maxVersions);
}

function earlier(one: string, other: string): string {
  return Date.parse(one) <= Date.parse(other) ? one : other;
}

function later(one: string, other: string): string {
  return Date.parse(one) >= Date.parse(other) ? one : other;
}
