export { buildVersion } from "./build-version.ts";
