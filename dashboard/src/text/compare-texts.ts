/** The order of texts of which some are versions. Pure. */
import { compareVersions, parseVersion } from "@flotilla/shared/version";

const texts = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

/**
 * Versions as Helm compares them: 1.10.0 is above 1.9.0, and above 1.10.0-rc.1. Other texts come after all versions, so that one between
 * two versions does not change their order; in them, numbers count as numbers.
 */
export function compareTexts(one: string, other: string): number {
  const [a, b] = [parseVersion(one), parseVersion(other)];
  if (a === undefined && b === undefined) return texts.compare(one, other);
  if (a === undefined) return 1;
  if (b === undefined) return -1;
  return compareVersions(a, b) || texts.compare(one, other);
}
