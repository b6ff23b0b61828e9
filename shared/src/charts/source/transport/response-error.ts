/** Error responses of repositories: the status, the server's own message, and when to retry. */
import { STATUS_CODES } from "node:http";
import { constants, gunzipSync } from "node:zlib";
import type { ErrorKind } from "../../../runtime/errors/index.ts";
import {
  chartErrors,
  isHome,
  type RepositoryAccess,
  RepositoryError,
  withoutSecrets,
} from "../index.ts";
import { encodingOf } from "./body.ts";
import type { Exchange } from "./exchange.ts";

const maxDetailBytes = 4096;
const maxUnpackedBytes = 1024 * 1024;
const maxDetailLength = 200;

/** The error for an unexpected response. The body is read only as far as a message needs it. */
export async function responseError(
  response: Exchange,
  access: RepositoryAccess,
  otherwise: ErrorKind,
): Promise<RepositoryError> {
  const { status } = response;
  // A redirect may lead to a host that nobody has named.
  const isShown = access.showsResponses === true && !response.isRedirected;
  const detail = withoutSecrets(await readDetail(response, isShown), access);
  // `error code: 401` is Fleet's: scripts search for it.
  const base = `${response.request}: error code: ${status} ${STATUS_CODES[status] ?? ""}`.trimEnd();
  const what = detail === "" ? base : `${base} (${detail})`;
  const retryAfterMs = parseRetryAfter(response.header("retry-after"), Date.now());
  const later =
    retryAfterMs === undefined
      ? ""
      : `; the server asks to retry in ${Math.ceil(retryAfterMs / 1000)} s`;

  if (status === 429)
    return new RepositoryError(chartErrors.REGISTRY_RATE_LIMITED, `${what}${later}`, {
      status,
      retryAfterMs,
    });
  if (status === 401 || status === 403) {
    return new RepositoryError(
      chartErrors.REGISTRY_UNAUTHORIZED,
      `${what}${credentialsHint(response, access)}`,
      { status },
    );
  }
  return new RepositoryError(otherwise, `${what}${later}`, { status, retryAfterMs });
}

/** Retry-After in seconds or as a date; undefined when it is neither. */
export function parseRetryAfter(value: string | undefined, nowMs: number): number | undefined {
  if (value === undefined) return undefined;
  if (/^\d{1,9}$/.test(value.trim())) return Number(value.trim()) * 1000;
  const at = Date.parse(value);
  return Number.isNaN(at) ? undefined : Math.max(0, at - nowMs);
}

/** Distinguishes credentials that were rejected from credentials that were not sent. */
function credentialsHint(response: Exchange, access: RepositoryAccess): string {
  const { password, bearerToken, identityToken, clientCertificate, secretField } = access;
  if ((password ?? bearerToken ?? identityToken ?? clientCertificate) === undefined)
    return `; no credentials are set: set ${secretField ?? "helmSecretName"} to a Secret that has credentials for this host`;
  const isCertificateSent =
    clientCertificate !== undefined && !response.hasLeft && isHome(access, response.url);
  if (response.isAuthorized || isCertificateSent)
    return response.status === 401
      ? "; the credentials of the Secret are not accepted"
      : "; the credentials of the Secret do not permit this";
  if (response.hasLeft && isHome(access, response.url))
    return "; the credentials of the Secret were not sent: they do not follow a redirect to another scheme, host or port";
  return isHome(access, response.url)
    ? "; the credentials of the Secret were not sent: the server offers no supported authentication scheme"
    : "; the credentials of the Secret were not sent: they are for another host";
}

/**
 * The server's own message: the errors of the distribution API, or a short text. HTML is dropped. Where it is not shown, only the
 * codes that the distribution API defines.
 */
async function readDetail(response: Exchange, isShown: boolean): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of response.body as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      size += chunk.length;
      if (size >= maxDetailBytes) break;
    }
  } catch {
    // The status alone makes the message.
    return "";
  }
  const bytes = unpacked(Buffer.concat(chunks), encodingOf(response));
  const text = bytes.toString("utf8", 0, maxDetailBytes).trim();
  if (!isShown) return (registryErrors(text, registryCode) ?? "").slice(0, maxDetailLength);
  return shorten(
    registryErrors(text, registryError) ??
      (text.startsWith("<") ? "" : (text.split("\n", 1)[0] ?? "")),
  );
}

/** Decompresses a body that may be cut off; empty when that fails. */
function unpacked(bytes: Buffer, encoding: string): Buffer {
  if (encoding === "identity") return bytes;
  try {
    if (encoding === "gzip")
      return gunzipSync(bytes, {
        finishFlush: constants.Z_SYNC_FLUSH,
        maxOutputLength: maxUnpackedBytes,
      });
  } catch {
    // The status alone makes the message.
  }
  return Buffer.alloc(0);
}

function registryErrors(text: string, describe: (error: unknown) => string): string | undefined {
  if (!text.startsWith("{")) return undefined;
  try {
    const parsed: unknown = JSON.parse(text);
    if (typeof parsed !== "object" || parsed === null) return undefined;
    if ("errors" in parsed && Array.isArray(parsed.errors)) {
      return parsed.errors
        .map(describe)
        .filter((line) => line !== "")
        .join("; ");
    }
    return "error" in parsed && typeof parsed.error === "string"
      ? describe({ message: parsed.error })
      : undefined;
  } catch {
    return undefined;
  }
}

function registryError(error: unknown): string {
  if (typeof error !== "object" || error === null) return "";
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  const message = "message" in error && typeof error.message === "string" ? error.message : "";
  return [code, message].filter((part) => part !== "").join(": ");
}

/** The codes of the distribution specification, which say nothing but why. */
const registryCodes = new Set([
  "BLOB_UNKNOWN",
  "DENIED",
  "MANIFEST_UNKNOWN",
  "NAME_INVALID",
  "NAME_UNKNOWN",
  "TOOMANYREQUESTS",
  "UNAUTHORIZED",
  "UNSUPPORTED",
]);

function registryCode(error: unknown): string {
  const { code } = (error ?? {}) as { readonly code?: unknown };
  return typeof code === "string" && registryCodes.has(code) ? code : "";
}

function shorten(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters must not reach a condition
  const line = text.replace(/[\u0000-\u001f\u007f]+/g, " ");
  return line.length > maxDetailLength ? `${line.slice(0, maxDetailLength)}…` : line;
}
