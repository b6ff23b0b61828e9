export { sampleDigest, sampleKey, samplePem } from "./addresses.ts";
export { anyAddress, nearlyAddress } from "./arbitraries.ts";
