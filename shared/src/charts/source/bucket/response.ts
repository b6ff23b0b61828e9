/** Responses of S3 that are errors. */
import { STATUS_CODES } from "node:http";
import type { ErrorKind } from "../../../runtime/errors/index.ts";
import { type RepositoryAccess, RepositoryError } from "../index.ts";
import type { Exchange } from "../transport/index.ts";
import { bucketErrors } from "./errors.ts";
import { readRaw } from "./read-raw.ts";
import { childText, parseXml } from "./xml.ts";

/** What an error response says. */
export interface S3Failure {
  readonly status: number;
  /** One of S3's codes; "" for any other text, which may be from a server that is none. */
  readonly code: string;
  /** The region of the bucket, where the request was for another. */
  readonly region: string | undefined;
}

const maxErrorBytes = 16 * 1024;

const knownCodes = new Set([
  ...["AccessDenied", "AccountProblem", "AllAccessDisabled", "AuthorizationHeaderMalformed"],
  ...["ExpiredToken", "IllegalLocationConstraintException", "InternalError", "InvalidAccessKeyId"],
  ...["InvalidBucketName", "InvalidObjectState", "InvalidRegion", "InvalidRequest", "InvalidToken"],
  ...["MethodNotAllowed", "NoSuchBucket", "NoSuchKey", "NotImplemented", "PermanentRedirect"],
  ...["PreconditionFailed", "RequestTimeTooSkewed", "ServiceUnavailable", "SignatureDoesNotMatch"],
  ...["SlowDown", "TemporaryRedirect", "TooManyRequests"],
]);

/** Reads the body of an error response. */
export async function readFailure(response: Exchange): Promise<S3Failure> {
  const { status } = response;
  const fromHeader = response.header("x-amz-bucket-region");
  try {
    const bytes = await readRaw(response, {
      maxBytes: maxErrorBytes,
      tooLarge: bucketErrors.BUCKET_REQUEST,
    });
    const root = parseXml(bytes.toString("utf8"));
    const code = childText(root, "Code") ?? "";
    const region = fromHeader ?? childText(root, "Region");
    return { status, code: knownCodes.has(code) ? code : "", region: regionName(region) };
  } catch {
    // The status alone makes the message.
    return { status, code: "", region: regionName(fromHeader) };
  }
}

function regionName(text: string | undefined): string | undefined {
  return text !== undefined && /^[a-z0-9-]{1,64}$/.test(text) ? text : undefined;
}

/** The error for a response that is not what was asked for. */
export function failureError(
  response: Exchange,
  access: RepositoryAccess,
  { status, code, region }: S3Failure,
): RepositoryError {
  const base = `${response.request}: error code: ${status} ${STATUS_CODES[status] ?? ""}`.trimEnd();
  const what = code === "" ? base : `${base} (${code})`;
  const [kind, hint] = explain({ status, code, region }, access);
  return new RepositoryError(kind, `${what}${hint}`, {
    status,
    retryAfterMs: retryAfterMs(response.header("retry-after")),
  });
}

function explain(
  { status, code, region }: S3Failure,
  access: RepositoryAccess,
): readonly [kind: ErrorKind, hint: string] {
  const isAnonymous = access.password === undefined;
  if (code === "NoSuchBucket")
    return [bucketErrors.BUCKET_NOT_FOUND, "; the endpoint has no bucket of this name"];
  // Some servers respond so for an access key that they do not know.
  if (status === 404)
    return [
      bucketErrors.BUCKET_NOT_FOUND,
      "; the endpoint has no bucket of this name, or does not know accesskey of the Secret",
    ];
  if (code === "RequestTimeTooSkewed")
    return [bucketErrors.BUCKET_REQUEST, "; the clocks of the server and of this machine differ"];
  if (code === "AuthorizationHeaderMalformed" || code === "PermanentRedirect")
    return [
      bucketErrors.BUCKET_REQUEST,
      `; the bucket is in another region${region === undefined ? "" : `, ${region}`}: set spec.region`,
    ];
  if (status === 401 || status === 403)
    return [
      bucketErrors.BUCKET_UNAUTHORIZED,
      isAnonymous
        ? "; no credentials are set: set spec.secretRef to a Secret with accesskey and secretkey"
        : code === "AccessDenied"
          ? "; accesskey of the Secret does not permit this"
          : "; accesskey and secretkey of the Secret are not accepted",
    ];
  return [bucketErrors.BUCKET_REQUEST, ""];
}

function retryAfterMs(value: string | undefined): number | undefined {
  return value !== undefined && /^\d{1,6}$/.test(value.trim()) ? Number(value) * 1000 : undefined;
}
