/** What to do with a pin that a repository now gives for what was pinned before. Pure. */
import { archiveDigest, describePin, type Pin } from "@flotilla/shared/source/pin.ts";
import { compareVersions, parseVersion } from "@flotilla/shared/version/version.ts";

export interface PinChoice {
  readonly pin: Pin;
  /** What a person should know of it, where the repository's answer was not simply followed. */
  readonly note?: string;
}

/**
 * What holds on to a known pin: `firm`, nobody has complained; `doubted`, an agent could not fetch it; `none`, somebody
 * asked for whatever there is, or it cannot be fetched and no cluster runs it.
 */
export type PinTrust = "firm" | "doubted" | "none";

/**
 * A newer version is followed. The same version with other bytes is not, nor is an older one: it means that a version
 * was withdrawn or that an index was only half published, and what is deployed still satisfies the constraint. The same
 * bytes at another address are of no interest until somebody cannot get them: an index may give new addresses every time.
 */
export function choosePin(known: Pin | undefined, fresh: Pin, hold: PinTrust = "firm"): PinChoice {
  if (
    known === undefined ||
    hold === "none" ||
    known.kind === "tarball" ||
    fresh.kind === "tarball"
  )
    return { pin: fresh };
  if (known.version === fresh.version) {
    const before = archiveDigest(known);
    const now = archiveDigest(fresh);
    if (before === undefined) return { pin: fresh };
    if (before === now) return { pin: hold === "doubted" ? fresh : known };
    if (now === undefined) return { pin: known };
    return {
      pin: known,
      note: `version ${known.version} was published again with other bytes (${now} instead of ${before}); what is deployed keeps the earlier ones`,
    };
  }
  const [from, to] = [parseVersion(known.version), parseVersion(fresh.version)];
  if (from === undefined || to === undefined || compareVersions(to, from) >= 0)
    return { pin: fresh };
  return {
    pin: known,
    note: `the best match is now ${describePin(fresh)}, which is older than ${known.version}; ${known.version} stays deployed`,
  };
}
