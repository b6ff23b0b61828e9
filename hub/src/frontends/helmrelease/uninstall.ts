/** What a HelmRelease says while its release is uninstalled, and at the end. Pure. */

import type { BundleDeployment } from "@flotilla/shared/api";
import { findCondition } from "@flotilla/shared/conditions";
import type { HelmRelease } from "@flotilla/shared/flux";
import { fluxReason, fluxType } from "@flotilla/shared/flux/reasons";
import type { EventNote } from "@flotilla/shared/kube/events";
import { clusterKeyOf } from "../../base/index.ts";
import type { FluxCondition } from "../../sources/index.ts";

/** Named in one message. */
const mostNamed = 5;

/**
 * Ready of a HelmRelease that is being deleted, from what is left of its deployments. Without the times of the next attempts, which
 * their own conditions have: another message is announced by another event.
 */
export function uninstallReady(deployments: readonly BundleDeployment[]): FluxCondition {
  const failed = deployments.flatMap((deployment) => {
    const ready = findCondition(deployment.status?.conditions, "Ready");
    return ready?.reason === "ErrUninstall"
      ? [`${clusterKeyOf(deployment)}: ${deployment.status?.cause ?? ready.message ?? ""}`]
      : [];
  });
  if (failed.length === 0)
    return {
      type: fluxType.ready,
      status: "Unknown",
      reason: fluxReason.progressing,
      message: "uninstalling the release",
    };
  const message = `the release cannot be uninstalled in ${clustersText(failed.length)}: ${named(failed)}`;
  return { type: fluxType.ready, status: "False", reason: fluxReason.uninstallFailed, message };
}

/**
 * The event for a HelmRelease whose finalizer is removed; undefined when nothing was installed, or when the release stays. `waiting`: its
 * deployments in clusters that are not connected.
 */
export function uninstalledNote(
  { spec, status }: HelmRelease,
  waiting: readonly BundleDeployment[],
): Omit<EventNote, "metadata"> | undefined {
  const [newest] = status?.history ?? [];
  const isReleased = findCondition(status?.conditions, fluxType.released) !== undefined;
  if (spec?.suspend === true || (newest === undefined && !isReleased)) return undefined;
  const later =
    waiting.length === 0
      ? ""
      : `; it is uninstalled in ${named(waiting.map(clusterKeyOf))} when the agent is connected again`;
  const what =
    newest === undefined
      ? "the release in all connected clusters"
      : `release ${newest.namespace}/${newest.name}.v${newest.version} with chart ${newest.chartName}@${newest.chartVersion}`;
  return {
    type: "Normal",
    reason: fluxReason.uninstallSucceeded,
    action: "ReconcileRelease",
    note: `Helm uninstall succeeded for ${what}${later}`,
  };
}

function clustersText(count: number): string {
  return count === 1 ? "1 cluster" : `${count} clusters`;
}

function named(texts: readonly string[]): string {
  const more = texts.length > mostNamed ? `, and ${texts.length - mostNamed} more` : "";
  return `${texts.slice(0, mostNamed).join(", ")}${more}`;
}
