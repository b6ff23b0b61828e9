export { buildVersion } from "./build-version.ts";
export { type Skew, type SkewPart, versionSkew } from "./skew.ts";
