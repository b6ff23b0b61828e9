export {
  type AccessSettings,
  accessKey,
  accessTo,
  basicAuthorization,
  homeAuthorization,
  isHome,
  type RepositoryAccess,
  registryHost,
  withoutSecrets,
} from "./access.ts";
export { describeUrl, isLoopback, joinAddress, mayHoldSecret } from "./address.ts";
export { chartErrors, RepositoryError } from "./errors.ts";
export {
  type ArchiveLocation,
  classifySource,
  type HttpLocation,
  type OciLocation,
  type OciName,
  parseOciName,
  type SourceLocation,
} from "./location.ts";
export {
  type ArchivePin,
  archiveDigest,
  describePin,
  type HttpPin,
  type OciPin,
  type Pin,
  pinSchema,
  sha256Schema,
} from "./pin.ts";
export type {
  FetchArchive,
  FetchedArchive,
  FetchRequest,
  Freshness,
  ListedVersion,
  Listing,
  Resolution,
  Source,
  SourceRequest,
  WriteChunk,
} from "./source.ts";
