export { parseConstraint, satisfies, versionErrors } from "./constraint.ts";
export { isStaticVersion, selectVersion } from "./select.ts";
export { compareVersions, parseVersion } from "./version.ts";
