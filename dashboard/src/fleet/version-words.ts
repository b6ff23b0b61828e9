/** What a count of a version says, in words. Pure. */
import type { VersionCount } from "./count-versions.ts";

/** `1.2.0`, or why there is no version: nothing was installed yet, or nobody knows. */
export function versionName({ version, count, offline }: VersionCount): string {
  if (version !== "") return version;
  if (offline === 0) return "not installed yet";
  return offline === count ? "unknown" : "not installed yet, or unknown";
}

/** What is to be said beside the number of clusters; "": nothing. */
export function versionNote({ version, notReady, offline }: VersionCount): string {
  if (version !== "") return notReady === 0 ? "" : `${notReady.toLocaleString("en")} not ready`;
  return offline === 0 ? "" : `${offline.toLocaleString("en")} offline`;
}
