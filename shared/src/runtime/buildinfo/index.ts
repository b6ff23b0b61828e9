export { buildVersion } from "./build-version.ts";
export { type Skew, versionSkew } from "./skew.ts";
