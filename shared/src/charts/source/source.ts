/**
 * The contract of a chart source.
 *
 * A source lists its versions, pins one of them to an address and a digest, and fetches the bytes of a pin. The choice between
 * versions is not the source's: `client/resolve.ts` chooses from the list by the constraint, the same for all sources. A
 * source whose references are no versions (a fixed address, a branch, a key in a bucket) lists nothing and pins the
 * reference itself.
 */
import type { AppError } from "../../runtime/errors/index.ts";
import type { RepositoryAccess } from "./access.ts";
import type { SourceLocation } from "./location.ts";
import type { DownloadPin, Pin } from "./pin.ts";

/** Which earlier results, failures included, are fresh enough. By default none is: a request is sent or joined. */
export interface Freshness {
  /** Results of requests that were sent at or after this time, on the monotonic clock of the client. */
  readonly since?: number | undefined;
  /**
   * Why the request is sent. It is shared with callers of the same trigger only: the response to a request that started
   * before a push to the registry does not have what was pushed.
   */
  readonly trigger?: string | undefined;
}

export interface SourceRequest extends Freshness {
  readonly access: RepositoryAccess;
  readonly signal?: AbortSignal | undefined;
}

/** A version as the source has it: of an OCI registry, the tag. */
export interface ListedVersion {
  readonly version: string;
  readonly created?: string;
  readonly deprecated?: boolean;
  readonly appVersion?: string;
}

export interface Listing<V extends ListedVersion = ListedVersion> {
  /** How constraints select from the versions (version/select.ts). */
  readonly rules: "index" | "tags";
  /** In the order of the source. */
  readonly versions: readonly V[];
  /** The entries that were skipped or ignored, and why. */
  readonly problems: readonly string[];
  /** What lists them, for messages: `GET https://charts.example.com/index.yaml`. */
  readonly listedBy: string;
  /** Set when the source does not have the chart at all. */
  readonly notFound?: AppError;
}

export interface PinRequest<V extends ListedVersion = ListedVersion> extends SourceRequest {
  /** The listing that the version was selected from, so that the pin is from the same state of the source. */
  readonly listing?: Listing<V>;
}

/** What a version of a chart is pinned to. */
export interface ResolvedPin {
  /** An index may point into a registry, so a pin may be of another kind than its source. */
  readonly pin: DownloadPin;
  /** What is wrong with the chart although it can be used, for people. */
  readonly problems: readonly string[];
}

export interface FetchRequest {
  readonly access: RepositoryAccess;
  readonly signal?: AbortSignal | undefined;
  /** For the whole request, the body included. */
  readonly timeoutMs: number;
  readonly maxBytes: number;
}

export interface FetchedArchive {
  /** `sha256:` and hex. */
  readonly digest: string;
  readonly sizeBytes: number;
  /** The digest of the bytes that the source sent, where they are not the archive itself and the pin says nothing of them: of a bucket. */
  readonly sourceDigest?: string;
}

/** Accepts the next bytes; resolves when more can be accepted. */
export type WriteChunk = (chunk: Buffer) => Promise<void>;

/** Fetches or makes the archive of a pin; as `Source.fetch`. */
export type FetchArchive<P extends Pin = Pin> = (
  pin: P,
  write: WriteChunk,
  request: FetchRequest,
) => Promise<FetchedArchive>;

export interface Source<
  L extends SourceLocation = SourceLocation,
  P extends Pin = Pin,
  V extends ListedVersion = ListedVersion,
> {
  /** Whether `pin` needs no listing, so that an exact version is pinned before the versions are listed. */
  readonly pinsUnlisted: boolean;
  /** Undefined: the source has no versions to select from. */
  list(location: L, request: SourceRequest): Promise<Listing<V> | undefined>;
  /** Undefined: the source does not have that version. */
  pin(location: L, version: string, request: PinRequest<V>): Promise<ResolvedPin | undefined>;
  /**
   * Passes the bytes of a pin to `write` while they arrive. Rejects when they do not match the digest or size of the pin: bytes
   * that were written before are not to be used then.
   */
  fetch(pin: P, write: WriteChunk, request: FetchRequest): Promise<FetchedArchive>;
}
