/** What was approved to change in one cluster, as hub and agent name it, and whether a plan is that. Pure. */
import { createHash } from "node:crypto";
import type { PlanResult } from "../index.ts";

/** Nothing would change. */
export const noChange = "none";
/** A first installation: nothing was there to compare with, so no diff was approved. */
export const firstInstallation = "install";

/** Bytes of a digest that are stored. */
const diffBytes = 12;

/** The digest of a diff as it is stored and approved. */
export function diffOf(digest: string): string {
  const hex = /^sha256:([0-9a-f]{64})$/.exec(digest)?.[1];
  const bytes =
    hex === undefined ? createHash("sha256").update(digest).digest() : Buffer.from(hex, "hex");
  return bytes.subarray(0, diffBytes).toString("base64url");
}

/**
 * Whether a plan is what was approved. `approved`: a diff, `noChange` or `firstInstallation`. One that changes nothing always is, as
 * nobody is asked for it either. A first installation creates objects; where it would change some that are there already, nobody has
 * seen that.
 */
export function isAsApproved(
  approved: string,
  { result, counts, digest }: Pick<PlanResult, "result" | "counts" | "digest">,
): boolean {
  if (result === "none") return true;
  if (approved === firstInstallation)
    return result === "install" && counts.update + counts.replace + counts.delete === 0;
  return diffOf(digest) === approved;
}
