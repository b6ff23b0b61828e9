export {
  differentAddresses,
  refusedAddresses,
  sameAddresses,
  sampleDigest,
  sampleKey,
  samplePem,
} from "./addresses.ts";
export { anyAddress, nearlyAddress, sameAddress } from "./arbitraries.ts";
export { readHelmfileGolden, writeHelmfileGolden } from "./golden-file.ts";
export { type HelmfileSource, meaningOf, meaningToHelmfile } from "./meaning.ts";
