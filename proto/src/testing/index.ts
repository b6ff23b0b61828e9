export { aCertificate } from "./a-certificate.ts";
export { agentMessage, hubMessage } from "./arbitraries.ts";
export { addedField, loadNextVersion, nextVersions } from "./next-version.ts";
export { mutated, oddText } from "./odd.ts";
