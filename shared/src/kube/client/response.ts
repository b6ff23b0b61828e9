/** What an answer of the API server means. */
import { parseExact } from "../../json/exact.ts";
import { KubeStatusError } from "./status-error.ts";
import { badResponse, type HttpResponse } from "./transport.ts";

/** The fields of a `Status` object that are used. Everything may be missing: proxies answer too. */
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

export interface RequestInfo {
  readonly what: string;
  readonly server: string;
  /** The objects are secret, so what the server complains about is not repeated. */
  readonly secret?: boolean;
}

/** The JSON of a successful answer. */
export function parseResponse(asked: RequestInfo, answer: HttpResponse): unknown {
  try {
    return parseExact(answer.text);
  } catch (error) {
    throw badResponse(
      asked,
      asked.server,
      `status ${answer.status} with ${answer.text.length} characters that are not JSON`,
      error,
    );
  }
}

/** The error that an answer stands for that is not a success. */
export function responseError(asked: RequestInfo, answer: HttpResponse): KubeStatusError {
  return errorOf(asked, statusIn(answer.text), answer.status, answer.retryAfter, answer.text);
}

/** The error that an ERROR line of a watch stands for. */
export function watchError(asked: RequestInfo, object: unknown): KubeStatusError {
  const status = isStatus(object) ? object : undefined;
  const code = typeof status?.code === "number" ? status.code : 500;
  return errorOf(asked, status, code, undefined, "");
}

/** Whether a 404 says that the kind is not served at all, rather than that there is no such object. */
export function isUnknownKind(answer: HttpResponse): boolean {
  return answer.status === 404 && statusIn(answer.text)?.details?.name === undefined;
}

function errorOf(
  asked: RequestInfo,
  status: Status | undefined,
  code: number,
  retryAfter: string | undefined,
  text: string,
): KubeStatusError {
  const reason = typeof status?.reason === "string" ? status.reason : "";
  const retryAfterMs = retryAfterOf(status, retryAfter);
  const said =
    asked.secret === true && code === 422
      ? fieldsOf(status)
      : typeof status?.message === "string"
        ? status.message
        : excerpt(text);
  return new KubeStatusError(
    `${asked.what} on ${asked.server}: ${code}${reason === "" ? "" : ` ${reason}`}: ${said}`,
    {
      status: code,
      reason,
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
