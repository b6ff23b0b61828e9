/** Decides between a known pin and the one that its repository has now. Pure. */
import { archiveDigest, describePin, type Pin } from "@flotilla/shared/source";
import { compareVersions, parseVersion } from "@flotilla/shared/version";

export interface PinChoice {
  readonly pin: Pin;
  /** A remark for the user, when the repository's new pin was not simply followed. */
  readonly note?: string;
}

/**
 * How firmly a known pin is kept: `firm`; `unfetchable`: an agent cannot fetch it; `none`: a user requested a new one,
 * or it cannot be fetched and no cluster runs it.
 */
export type PinTrust = "firm" | "unfetchable" | "none";

/**
 * A newer version is followed. The same version with other bytes is not, nor is an older one: it means that a version
 * was withdrawn or that an index was only half published, and what is deployed still satisfies the constraint. The same
 * bytes at another address are ignored until an agent cannot fetch them: an index may give new addresses every time.
 */
export function choosePin(known: Pin | undefined, fresh: Pin, trust: PinTrust = "firm"): PinChoice {
  if (
    known === undefined ||
    trust === "none" ||
    known.kind === "tarball" ||
    fresh.kind === "tarball"
  )
    return { pin: fresh };
  if (known.version === fresh.version) {
    const before = archiveDigest(known);
    const now = archiveDigest(fresh);
    if (before === undefined) return { pin: fresh };
    if (before === now) return { pin: trust === "unfetchable" ? fresh : known };
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
