/** Reads responses of the API server: their JSON, and the errors that they represent. */
import { parseExact } from "../../text/json/index.ts";
import { explainDenials, type GrantOf } from "./missing-right.ts";
import { KubeStatusError } from "./status-error.ts";
import { badResponse, type HttpResponse } from "./transport.ts";

/** The fields of a `Status` object that are used. Any may be missing: proxies respond too. */
interface Status {
  readonly kind?: unknown;
  readonly code?: unknown;
  readonly reason?: unknown;
  readonly message?: unknown;
  readonly details?: {
    readonly name?: unknown;
    readonly retryAfterSeconds?: unknown;
    readonly causes?: readonly { readonly field?: unknown; readonly reason?: unknown }[];
  };
}

/** Whom is asked, for messages. */
export interface Origin {
  readonly server: string;
  readonly grantOf?: GrantOf | undefined;
}

/** What was requested, for messages. */
export interface RequestInfo extends Origin {
  /** `get configmaps default/settings`. */
  readonly what: string;
  /** The objects are Secrets: the server's message may quote them, and is omitted. */
  readonly secret?: boolean;
}

/** The JSON of a successful response. */
export function parseResponse(request: RequestInfo, response: HttpResponse): unknown {
  try {
    return parseExact(response.text);
  } catch (error) {
    throw badResponse(
      request,
      request.server,
      `status ${response.status} with ${response.text.length} characters that are not JSON`,
      error,
    );
  }
}

/** The error of a response that is not a success. */
export function responseError(request: RequestInfo, response: HttpResponse): KubeStatusError {
  return errorOf(
    request,
    statusIn(response.text),
    response.status,
    response.retryAfter,
    response.text,
  );
}

/** The error of an ERROR line of a watch. */
export function watchError(request: RequestInfo, object: unknown): KubeStatusError {
  const status = isStatus(object) ? object : undefined;
  const code = typeof status?.code === "number" ? status.code : 500;
  return errorOf(request, status, code, undefined, "");
}

/** Whether a 404 means that the kind is not served, rather than that there is no such object. */
export function isUnknownKind(response: HttpResponse): boolean {
  return response.status === 404 && statusIn(response.text)?.details?.name === undefined;
}

function errorOf(
  request: RequestInfo,
  status: Status | undefined,
  code: number,
  retryAfter: string | undefined,
  text: string,
): KubeStatusError {
  const reason = typeof status?.reason === "string" ? status.reason : "";
  const retryAfterMs = retryAfterOf(status, retryAfter);
  const message =
    request.secret === true && code === 422
      ? fieldsOf(status)
      : typeof status?.message === "string"
        ? explainDenials(status.message, request.grantOf)
        : excerpt(text);
  return new KubeStatusError(
    `${request.what} on ${request.server}: ${code}${reason === "" ? "" : ` ${reason}`}: ${message}`,
    {
      status: code,
      reason,
      serverMessage: message,
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
      causes: causesOf(status).map((cause) => String(cause.reason)),
    },
  );
}

function retryAfterOf(status: Status | undefined, header: string | undefined): number | undefined {
  const fromHeader = header === undefined ? Number.NaN : Number(header);
  if (Number.isFinite(fromHeader) && fromHeader >= 0) return fromHeader * 1000;
  const seconds = status?.details?.retryAfterSeconds;
  return typeof seconds === "number" && seconds > 0 ? seconds * 1000 : undefined;
}

function fieldsOf(status: Status | undefined): string {
  return causesOf(status)
    .map((cause) => `${String(cause.field)}: ${String(cause.reason)}`)
    .join("; ");
}

function causesOf(status: Status | undefined) {
  const causes = status?.details?.causes;
  return Array.isArray(causes) ? causes : [];
}

function excerpt(text: string): string {
  const line = text.trim().replaceAll(/\s+/g, " ");
  return line.length <= 200 ? line : `${line.slice(0, 200)}…`;
}

function statusIn(text: string): Status | undefined {
  try {
    const parsed: unknown = JSON.parse(text);
    return isStatus(parsed) ? parsed : undefined;
  } catch {
    return undefined;
  }
}

function isStatus(value: unknown): value is Status {
  return typeof value === "object" && value !== null && "kind" in value && value.kind === "Status";
}
