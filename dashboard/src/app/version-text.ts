/** What happened to a version of an app in its clusters, in words. Pure. */
import type { VersionRecord } from "@flotilla/shared/dashboard";

/** A cluster whose newest attempt at the version has failed counts as failed only. */
export function versionText({
  clusters,
  current,
  failed,
  notReady = 0,
}: Pick<VersionRecord, "clusters" | "current" | "failed"> & {
  /** How many of those that run it are not ready. */
  readonly notReady?: number;
}): string {
  const installed = clusters - failed;
  const now =
    current > 0 ? `running on ${current.toLocaleString("en")}` : "replaced on all of them";
  return [
    ...(installed > 0 ? [`installed on ${clustersText(installed)}, ${now}`] : []),
    ...(current > 0 && notReady > 0
      ? [`not ready on ${notReady.toLocaleString("en")} of them`]
      : []),
    ...(failed > 0 ? [`failed on ${clustersText(failed)}`] : []),
  ].join("; ");
}

function clustersText(count: number): string {
  return `${count.toLocaleString("en")} ${count === 1 ? "cluster" : "clusters"}`;
}
