export { aCertificate } from "./a-certificate.ts";
export { agentMessage, hubMessage } from "./arbitraries.ts";
export { malformedText, mutated } from "./malformed-input.ts";
export { addedField, loadNextVersion, nextVersions } from "./next-version.ts";
