/** The fields of Flux's status that describe one release, from its BundleDeployment. Pure. */

import type { Bundle, BundleDeployment, ReleaseRevision } from "@flotilla/shared/api";
import { findCondition } from "@flotilla/shared/conditions";
import type { HelmReleaseStatus, ReleaseSnapshot } from "@flotilla/shared/flux";
import { fluxReason, fluxType } from "@flotilla/shared/flux/reasons";
import { parseReleaseId } from "../../rules/index.ts";
import { inventoryOf } from "./inventory.ts";

/** The status of a HelmRelease with several clusters: `status.clusters` describes their releases. */
export function withoutReleaseFields({
  history: _history,
  storageNamespace: _namespace,
  lastAttemptedReleaseAction: _action,
  inventory: _inventory,
  failures: _failures,
  installFailures: _installs,
  upgradeFailures: _upgrades,
  ...others
}: HelmReleaseStatus): HelmReleaseStatus {
  return others;
}

/** `before`: what is known only from earlier statuses stays. */
export function withReleaseFields(
  before: HelmReleaseStatus,
  deployment: BundleDeployment,
  bundle: Pick<Bundle, "spec"> | undefined,
): HelmReleaseStatus {
  const { status } = deployment;
  const { namespace, name } = releaseOf(deployment, bundle);
  const history = (status?.history ?? []).map((revision) =>
    snapshotOf(revision, { namespace, name }, before),
  );
  const action = attemptedAction(status) ?? history.map((each) => each.action).find(isAttempt);
  const inventory = inventoryOf(deployment);
  const {
    history: earlier,
    inventory: _inventory,
    failures: _failures,
    installFailures: _installs,
    upgradeFailures: _upgrades,
    ...kept
  } = before;
  const isGone = status?.appliedDeploymentID === "";
  return {
    ...kept,
    ...(earlier !== undefined && !isGone && { history: earlier }),
    ...(history.length > 0 && { history }),
    ...(history.length > 0 && namespace !== "" && { storageNamespace: namespace }),
    ...(action !== undefined && { lastAttemptedReleaseAction: action }),
    ...(inventory !== undefined && { inventory }),
    ...failuresOf(status, action ?? before.lastAttemptedReleaseAction),
  };
}

/** The action of an attempt that has failed, perhaps before there was a revision of it. */
function attemptedAction(status: BundleDeployment["status"]): "install" | "upgrade" | undefined {
  switch (findCondition(status?.conditions, fluxType.released)?.reason) {
    case fluxReason.installFailed:
      return "install";
    case fluxReason.upgradeFailed:
      return "upgrade";
    default:
      return undefined;
  }
}

/** Agents before 0.4.0 do not count by action. */
function failuresOf(status: BundleDeployment["status"], action: string | undefined) {
  const { failures, installFailures = 0, upgradeFailures = 0 } = status ?? {};
  if (failures === undefined) return {};
  if (installFailures + upgradeFailures > 0)
    return {
      failures,
      ...(installFailures > 0 && { installFailures }),
      ...(upgradeFailures > 0 && { upgradeFailures }),
    };
  return {
    failures,
    ...(action === "install" && { installFailures: failures }),
    ...(action === "upgrade" && { upgradeFailures: failures }),
  };
}

/** The release that is there; before one has succeeded, the one that is desired. */
function releaseOf({ status }: BundleDeployment, bundle: Pick<Bundle, "spec"> | undefined) {
  const release = parseReleaseId(status?.release);
  if (release !== undefined) return { namespace: release.namespace, name: release.name };
  const { namespace: desired, helm } = bundle?.spec ?? {};
  return { namespace: desired ?? "", name: helm?.releaseName ?? "" };
}

function snapshotOf(
  revision: ReleaseRevision,
  { namespace, name }: { readonly namespace: string; readonly name: string },
  before: HelmReleaseStatus,
): ReleaseSnapshot {
  const { version, chartVersion = "", digest = "", lastDeployed = "" } = revision;
  const { action, appVersion, testHooks } = revision;
  const earlier = before.history?.filter((each) => each.name === name) ?? [];
  const ociDigest =
    earlier.find((each) => each.version === version && each.chartVersion === chartVersion)
      ?.ociDigest ??
    (chartVersion === before.lastAttemptedRevision
      ? before.lastAttemptedRevisionDigest
      : undefined);
  return {
    digest: `flotilla:${digest}`,
    configDigest: `flotilla:${digest}`,
    name,
    namespace,
    version,
    status: revision.status ?? "",
    chartName: revision.chartName ?? "",
    chartVersion,
    ...(isAction(action) && { action }),
    ...(appVersion !== undefined && { appVersion }),
    ...(ociDigest !== undefined && { ociDigest }),
    firstDeployed: earlier[0]?.firstDeployed || lastDeployed,
    lastDeployed,
    ...(testHooks !== undefined && { testHooks }),
  };
}

function isAction(text: string | undefined): text is "install" | "upgrade" | "rollback" {
  return text === "rollback" || isAttempt(text);
}

function isAttempt(text: string | undefined): text is "install" | "upgrade" {
  return text === "install" || text === "upgrade";
}
