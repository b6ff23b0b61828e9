/**
 * Versions as Helm reads them: Masterminds/semver v3.5.0, which accepts `v1.2`, `01.2.3` and numbers up to 2^64-1. npm's
 * `semver` rejects all three, so it is not used here. The text is kept: it is the name of the tag in a registry.
 */

/** A parsed version, with its text. */
export interface Version {
  readonly text: string;
  readonly major: bigint;
  readonly minor: bigint;
  readonly patch: bigint;
  /** What follows the `-`, or empty for a release. */
  readonly prerelease: string;
  /** What follows the `+`, or empty. It never takes part in a comparison. */
  readonly build: string;
}

const maxLength = 256;
const maxNumber = 2n ** 64n - 1n;
const lenient =
  /^v?([0-9]+)(?:\.([0-9]+))?(?:\.([0-9]+))?(?:-([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?(?:\+([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?$/;
const strict = /^(?:0|[1-9][0-9]*)\.(?:0|[1-9][0-9]*)\.(?:0|[1-9][0-9]*)(?:[-+]|$)/;
const digits = /^[0-9]+$/;

/** Parses a version leniently (`NewVersion`): a leading `v`, missing parts and leading zeros are valid, spaces are not. */
export function parseVersion(text: string): Version | undefined {
  if (text.length > maxLength) return undefined;
  const match = lenient.exec(text);
  if (match === null) return undefined;

  const [, major = "0", minor = "0", patch = "0", prerelease = "", build = ""] = match;
  const version: Version = {
    text,
    major: BigInt(major),
    minor: BigInt(minor),
    patch: BigInt(patch),
    prerelease,
    build,
  };
  if (version.major > maxNumber || version.minor > maxNumber || version.patch > maxNumber)
    return undefined;
  return prerelease.split(".").some(hasLeadingZero) ? undefined : version;
}

/** Parses a version strictly (`StrictNewVersion`): three numbers without `v` and without leading zeros. */
export function parseStrictVersion(text: string): Version | undefined {
  return strict.test(text) ? parseVersion(text) : undefined;
}

/** Below, equal or above zero, as `Version.Compare`; build metadata is ignored. */
export function compareVersions(a: Version, b: Version): number {
  return (
    compareNumbers(a.major, b.major) ||
    compareNumbers(a.minor, b.minor) ||
    compareNumbers(a.patch, b.patch) ||
    comparePrereleases(a.prerelease, b.prerelease)
  );
}

/** A release is above all of its pre-releases; those are compared identifier by identifier. */
function comparePrereleases(a: string, b: string): number {
  if (a === b) return 0;
  if (a === "") return 1;
  if (b === "") return -1;

  const left = a.split(".");
  const right = b.split(".");
  for (let at = 0; at < Math.max(left.length, right.length); at++) {
    const order = compareIdentifiers(left[at], right[at]);
    if (order !== 0) return order;
  }
  return 0;
}

function compareIdentifiers(a: string | undefined, b: string | undefined): number {
  if (a === b) return 0;
  if (a === undefined) return -1;
  if (b === undefined) return 1;

  const left = numberOf(a);
  const right = numberOf(b);
  if (left !== undefined && right !== undefined) return compareNumbers(left, right);
  if (left !== undefined) return -1;
  if (right !== undefined) return 1;
  return a < b ? -1 : 1;
}

/** Go compares a number above 2^64-1 as text, and so do we. */
function numberOf(identifier: string): bigint | undefined {
  if (!digits.test(identifier)) return undefined;
  const value = BigInt(identifier);
  return value > maxNumber ? undefined : value;
}

function compareNumbers(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function hasLeadingZero(identifier: string): boolean {
  return identifier.length > 1 && identifier.startsWith("0") && digits.test(identifier);
}
