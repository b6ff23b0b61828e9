/** The order of texts of which some are versions. Pure. */
import { compareVersions, parseVersion } from "@flotilla/shared/version";

const texts = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

/** Versions as Helm compares them: 1.10.0 is above 1.9.0, and above 1.10.0-rc.1. In other texts, numbers count as numbers. */
export function compareTexts(one: string, other: string): number {
  const [a, b] = [parseVersion(one), parseVersion(other)];
  const byVersion = a !== undefined && b !== undefined ? compareVersions(a, b) : 0;
  return byVersion || texts.compare(one, other);
}
