/** The status of a HelmRelease as its events are made from it. Pure. */
import type { HelmReleaseStatus } from "@flotilla/shared/flux";
import type { ReleaseStatus } from "../notification/index.ts";

/** With the chart that it is about: its version, and its app version and digest where they are known. */
export function notifiedStatus(status: HelmReleaseStatus | undefined): ReleaseStatus {
  const [newest] = status?.history ?? [];
  const version = status?.lastAttemptedRevision ?? newest?.chartVersion;
  const appVersion = newest?.chartVersion === version ? newest?.appVersion : undefined;
  const ociDigest = status?.lastAttemptedRevisionDigest;
  return {
    ...status,
    ...(version !== undefined && { version }),
    ...(appVersion !== undefined && { appVersion }),
    ...(ociDigest !== undefined && { ociDigest }),
  };
}
