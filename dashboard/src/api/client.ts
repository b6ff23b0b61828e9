/** Requests to the hub's API. Its types come from the same schemas as the hub's. */
import {
  type BodyOf,
  csrfHeader,
  type EndpointName,
  type Problem,
  type ResponseOf,
} from "@flotilla/shared/dashboard";

/** Dispatched on the window when the hub answers that there is no session any more. */
export const unauthorizedEvent = "flotilla:unauthorized";

/** A request that was answered with a Problem, or not at all. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  /** The HTTP status; 0: there was no answer. */
  readonly status: number;
  /** As in docs/errors.md. */
  readonly code: string;

  constructor(status: number, { code, message }: Problem) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/** For people. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** Whether a retry may help: there was no answer, or the hub is starting or stopping. */
export function isTransient(error: unknown): boolean {
  return error instanceof ApiError && (error.status === 0 || error.status === 503);
}

export interface RequestOptions {
  readonly method?: "GET" | "POST" | "DELETE";
  readonly body?: unknown;
  /** The CSRF token of the session. */
  readonly csrfToken?: string;
  readonly signal?: AbortSignal;
}

/** Throws ApiError. */
export async function send(path: string, options: RequestOptions = {}): Promise<Response> {
  const { method = "GET", body, csrfToken, signal } = options;
  const response = await fetch(path, {
    method,
    headers: {
      ...(body !== undefined && { "content-type": "application/json" }),
      ...(csrfToken !== undefined && { [csrfHeader]: csrfToken }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    ...(signal !== undefined && { signal }),
  }).catch((thrown: unknown) => {
    if (signal?.aborted === true) throw thrown;
    throw new ApiError(0, { code: "UNREACHABLE", message: "The hub does not answer." });
  });
  if (response.ok) return response;
  if (response.status === 401) window.dispatchEvent(new Event(unauthorizedEvent));
  const problem = (await response.json().catch(() => undefined)) as Problem | undefined;
  const message = `The hub answered with HTTP status ${response.status}.`;
  throw new ApiError(response.status, problem ?? { code: "HTTP", message });
}

/** Throws ApiError. */
export async function get<N extends EndpointName>(
  path: string,
  signal?: AbortSignal,
): Promise<ResponseOf<N>> {
  const response = await send(path, signal === undefined ? {} : { signal });
  return (await response.json()) as ResponseOf<N>;
}

/** Throws ApiError. */
export async function post<N extends EndpointName>(
  path: string,
  body: BodyOf<N>,
  csrfToken: string,
): Promise<ResponseOf<N> | undefined> {
  const response = await send(path, { method: "POST", body, csrfToken });
  return response.status === 204 ? undefined : ((await response.json()) as ResponseOf<N>);
}
