/** The requests to buckets: GETs, signed (version 4) for the region of the bucket, anonymous without credentials. */
import { createLruCache } from "../../../runtime/cache/index.ts";
import { AppError } from "../../../runtime/errors/index.ts";
import type { Clock } from "../../../runtime/time/index.ts";
import type { RepositoryAccess } from "../index.ts";
import { abandon, type Exchange, type Exchanger } from "../transport/index.ts";
import { bucketErrors } from "./errors.ts";
import { type BucketLocation, bucketAddress, regionOf, requestUrl } from "./location.ts";
import { failureError, readFailure, type S3Failure } from "./response.ts";
import { signRequest } from "./signature.ts";

/** What all requests of one call have in common. */
export interface BucketCall {
  readonly location: BucketLocation;
  readonly access: RepositoryAccess;
  readonly limit: Deadline;
}

/** One time for all requests of a call. */
export interface Deadline {
  readonly signal: AbortSignal | undefined;
  leftMs(): number;
}

/** An object; with `etag`, no other one of its key. */
export interface ObjectRef {
  readonly key: string;
  readonly etag?: string | undefined;
}

/** The bucket itself without a key. */
interface Target extends Partial<ObjectRef> {
  readonly query?: Readonly<Record<string, string>>;
}

interface Refused {
  readonly response: Exchange;
  readonly refused: S3Failure;
}

const maxKnownRegions = 1_000;

export class BucketRequests {
  readonly #exchange: Exchanger;
  readonly #clock: Pick<Clock, "now">;
  /** By address of the bucket, where only the server knows it. */
  readonly #regions = createLruCache<string>(maxKnownRegions);

  constructor({
    exchange,
    clock,
  }: {
    readonly exchange: Exchanger;
    readonly clock: Pick<Clock, "now">;
  }) {
    this.#exchange = exchange;
    this.#clock = clock;
  }

  /**
   * A response of status 200 to a request to the bucket itself. Rejects with a RepositoryError when the server responds with
   * another one, whose body is read then.
   */
  async query(call: BucketCall, query: Readonly<Record<string, string>>): Promise<Exchange> {
    const response = await this.#get(call, { query });
    if ("refused" in response) throw failureError(response.response, call.access, response.refused);
    return response;
  }

  /**
   * The response with an object, whose body is the caller's to read or to abandon; undefined: there is none of this key. Rejects with
   * BUCKET_CHANGED when its ETag is another one, and with a RepositoryError for other responses; no body is open then.
   */
  async read(call: BucketCall, object: ObjectRef): Promise<Exchange | undefined> {
    const response = await this.#get(call, object);
    if (!("refused" in response)) {
      // A server that does not know If-Match sends what it has.
      const etag = response.header("etag")?.replace(/^(?:W\/)?"|"$/g, "");
      if (object.etag === undefined || etag === undefined || etag === object.etag) return response;
      abandon(response.body);
      throw objectChanged(call.location, object.key);
    }
    const { status, code } = response.refused;
    if (status === 412) throw objectChanged(call.location, object.key);
    if (status === 404 && (code === "NoSuchKey" || code === "")) return undefined;
    throw failureError(response.response, call.access, response.refused);
  }

  /** A second time for the region that the server names, which is known from then on. */
  async #get(call: BucketCall, target: Target): Promise<Exchange | Refused> {
    const address = bucketAddress(call.location);
    const configured = regionOf(call.location);
    const isFixed = (call.location.region ?? "") !== "";
    const region = (isFixed ? undefined : this.#regions.get(address)) ?? configured;
    const first = await this.#getIn(region, call, target);
    if (!("refused" in first)) return first;
    const actual = first.refused.region;
    if (isFixed || actual === undefined || actual === region) return first;
    const second = await this.#getIn(actual, call, target);
    if (!("refused" in second)) this.#regions.set(address, actual);
    return second;
  }

  async #getIn(
    region: string,
    { location, access, limit }: BucketCall,
    { etag, ...target }: Target,
  ): Promise<Exchange | Refused> {
    const url = requestUrl(location, region, target);
    const others = etag === undefined ? undefined : { "if-match": `"${etag}"` };
    const signed = this.#sign({ url, region }, access, others);
    const response = await this.#exchange({
      method: "GET",
      url,
      // Amazon has a bucket at a host of its own.
      access: { ...access, origin: url.origin },
      authorization: signed?.authorization,
      headers: signed?.headers ?? others ?? {},
      timeoutMs: limit.leftMs(),
      signal: limit.signal,
      errorKind: bucketErrors.BUCKET_REQUEST,
      what: `${target.key === undefined ? "list" : `read ${JSON.stringify(target.key)} of`} bucket ${bucketAddress(location)}`,
    });
    if (response.status === 200) return response;
    return { response, refused: await readFailure(response) };
  }

  #sign(
    request: { readonly url: URL; readonly region: string },
    { username: accessKey, password: secretKey }: RepositoryAccess,
    headers: Readonly<Record<string, string>> | undefined,
  ) {
    if (accessKey === undefined || secretKey === undefined) return undefined;
    const nowMs = this.#clock.now();
    return signRequest({ ...request, nowMs }, { accessKey, secretKey }, headers);
  }
}

export function objectChanged(location: BucketLocation, key: string): AppError {
  return new AppError(
    bucketErrors.BUCKET_CHANGED,
    `object ${JSON.stringify(key)} of bucket ${bucketAddress(location)} changed while it was read`,
  );
}
