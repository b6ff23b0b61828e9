/**
 * Version skew between the hub and the other parts of the project (agents, the command line). Pure. The policy, which
 * docs/operations.md documents: the hub is upgraded first, and supports parts that are one minor version older.
 *
 * For the project's own versions only. Versions and constraints of charts follow Helm's rules (version/), not npm's.
 */
import parse from "semver/functions/parse.js";

export type Skew =
  | { readonly kind: "supported" }
  /** It works now. `message` says what to upgrade. */
  | { readonly kind: "warning"; readonly message: string }
  | { readonly kind: "unsupported"; readonly message: string }
  /** One of the two is not a semantic version, such as the version of a development build. */
  | { readonly kind: "unknown" };

/** The part that is compared with the hub, for messages. */
export type SkewPart = "agent" | "command line";

/** Compares the version of a part with the hub's. Patch versions and prereleases do not matter. */
export function versionSkew(part: SkewPart, version: string, hubVersion: string): Skew {
  const own = parse(version, { loose: true });
  const hub = parse(hubVersion, { loose: true });
  if (own === null || hub === null) return { kind: "unknown" };
  const versions = `the ${part} has version ${own.version}, the hub ${hub.version}`;
  if (own.major !== hub.major) {
    return {
      kind: "unsupported",
      message: `${versions}: another major version is not supported; upgrade the ${own.major < hub.major ? part : "hub"}`,
    };
  }
  const older = hub.minor - own.minor;
  if (older < -1) {
    return {
      kind: "unsupported",
      message: `${versions}: more than one minor version newer is not supported; upgrade the hub`,
    };
  }
  if (older < 0)
    return { kind: "warning", message: `${versions}: the ${part} is newer; upgrade the hub first` };
  if (older > 1) {
    return {
      kind: "unsupported",
      message: `${versions}: more than one minor version older is not supported; upgrade the ${part}`,
    };
  }
  if (older === 1) {
    return {
      kind: "warning",
      message: `${versions}: the next minor version of the hub does not support this ${part}; upgrade the ${part}`,
    };
  }
  return { kind: "supported" };
}
