/** The status of a HelmRelease as its events are made from it. Pure. */
import type { Bundle } from "@flotilla/shared/api";
import type { HelmReleaseStatus } from "@flotilla/shared/flux";
import type { ReleaseStatus } from "../../events/index.ts";

/** With the chart that it is about: its version, and its app version, digest and commit where they are known. */
export function notifiedStatus(
  status: HelmReleaseStatus | undefined,
  bundle: Bundle | undefined,
): ReleaseStatus {
  const [newest] = status?.history ?? [];
  const version = status?.lastAttemptedRevision ?? newest?.chartVersion;
  const appVersion = newest?.chartVersion === version ? newest?.appVersion : undefined;
  const originRevision = commitOf(bundle, version);
  const ociDigest = status?.lastAttemptedRevisionDigest;
  return {
    ...status,
    ...(version !== undefined && { version }),
    ...(appVersion !== undefined && { appVersion }),
    ...(ociDigest !== undefined && { ociDigest }),
    ...(originRevision !== undefined && { originRevision }),
  };
}

/** The revision of the Git repository that this version of the chart is from. */
function commitOf(bundle: Bundle | undefined, version: string | undefined): string | undefined {
  const [pinned] = bundle?.spec.helmOpOptions?.pins ?? [];
  if (pinned?.version !== version || pinned?.pin.kind !== "git") return undefined;
  return `sha1:${pinned.pin.commit}`;
}
