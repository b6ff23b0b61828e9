/** The signature of a request to S3 (version 4). Pure. */
import { createHash, createHmac } from "node:crypto";

export interface SigningKeys {
  readonly accessKey: string;
  readonly secretKey: string;
}

export interface UnsignedRequest {
  /** Its path and its query must be encoded as `encodeKey` and `queryText` do. */
  readonly url: URL;
  readonly region: string;
  readonly nowMs: number;
  /** Default: GET. */
  readonly method?: "GET" | "PUT" | "DELETE";
  readonly body?: Uint8Array;
}

export interface SignedHeaders {
  readonly authorization: string;
  readonly headers: Readonly<Record<string, string>>;
}

export function signRequest(
  { url, region, nowMs, method = "GET", body = new Uint8Array() }: UnsignedRequest,
  { accessKey, secretKey }: SigningKeys,
  others: Readonly<Record<string, string>> = {},
): SignedHeaders {
  const time = new Date(nowMs).toISOString().replace(/[-:]|\.\d+/g, "");
  const day = time.slice(0, 8);
  const bodyDigest = sha256(body);
  const headers = { ...others, "x-amz-content-sha256": bodyDigest, "x-amz-date": time };
  const signed = Object.entries({ ...headers, host: url.host }).sort(byName);
  const names = signed.map(([name]) => name).join(";");
  const canonical = [
    method,
    url.pathname,
    url.search.slice(1).split("&").sort().join("&"),
    ...signed.map(([name, value]) => `${name}:${value}`),
    "",
    names,
    bodyDigest,
  ].join("\n");
  const scope = `${day}/${region}/s3/aws4_request`;
  const text = `AWS4-HMAC-SHA256\n${time}\n${scope}\n${sha256(canonical)}`;
  const key = [day, region, "s3", "aws4_request"].reduce<Buffer>(
    (previous, part) => hmac(previous, part),
    Buffer.from(`AWS4${secretKey}`),
  );
  const signature = hmac(key, text).toString("hex");
  return {
    authorization: `AWS4-HMAC-SHA256 Credential=${accessKey}/${scope},SignedHeaders=${names},Signature=${signature}`,
    headers,
  };
}

/** A key in the path of a request: slashes stay. */
export function encodeKey(key: string): string {
  return key.split("/").map(encode).join("/");
}

export function queryText(query: Readonly<Record<string, string>>): string {
  return Object.entries(query)
    .sort(byName)
    .map(([name, value]) => `${encode(name)}=${encode(value)}`)
    .join("&");
}

/** Every byte but letters, digits and `-._~`. */
function encode(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replace(
    /[!'()*]/g,
    (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function byName([a]: readonly [string, string], [b]: readonly [string, string]): number {
  return a < b ? -1 : 1;
}

function sha256(text: string | Uint8Array): string {
  return createHash("sha256").update(text).digest("hex");
}

function hmac(key: Buffer, text: string): Buffer {
  return createHmac("sha256", key).update(text).digest();
}
