/** The address of a request: `/requests/v1/namespaces/NS/{helmops,bundles,...}/NAME/KIND?cluster=...`. Pure. */

import type { LogOptions, UserRequestBody } from "@flotilla/proto";
import { type AppKind, appDefinition, appKinds } from "@flotilla/shared/api/apps";
import { AppError } from "@flotilla/shared/errors";
import { parseGoDuration } from "@flotilla/shared/time";
import { hubErrors } from "../../base/index.ts";

/** What a user wants to read, and of what. */
export interface UserRequest {
  /** The namespace of the app. */
  readonly workspace: string;
  readonly kind: AppKind;
  readonly name: string;
  /** `NAME`, in the workspace, or `NAMESPACE/NAME`; absent: the only one. */
  readonly cluster?: string;
  readonly body: UserRequestBody;
}

/** The pattern of the name of an object. */
export const namePattern = "[a-z0-9](?:[-.a-z0-9]{0,251}[a-z0-9])?";
/** The kinds of app by their plural. */
export const kindsByPlural: ReadonlyMap<string, AppKind> = new Map(
  appKinds.map((kind) => [appDefinition(kind).resource.plural, kind]),
);
const plurals = [...kindsByPlural.keys()].join(",");
const path = new RegExp(
  `^/requests/v1/namespaces/(${namePattern})/([a-z]+)/(${namePattern})/([a-z]+)$`,
);
/** `NAME` or `NAMESPACE/NAME`. */
export const clusterName = new RegExp(`^(?:${namePattern}/)?${namePattern}$`);
const objectName = new RegExp(`^${namePattern}$`);

/** What agents can be asked for; each is a subresource of bundledeployments. */
export const requestKinds = [
  "log",
  "diff",
  "history",
  "resources",
  "events",
  "values",
] as const satisfies readonly UserRequestBody["kind"][];

const logParameters = ["pod", "container", "tail", "since", "previous", "tests"];
const defaultTailLines = 100;
const maxTailLines = 100_000;

/** What is requested, of any release. `what`: such as `log`. Throws REQUEST_INVALID. */
export function parseBody(what: string, query: URLSearchParams): UserRequestBody {
  const kind = requestKinds.find((each) => each === what);
  if (kind === undefined) throw invalid(`a request is for ${requestKinds.join(", ")}, not ${what}`);
  const known = ["cluster", ...(kind === "log" ? logParameters : [])];
  for (const key of new Set(query.keys()))
    if (!known.includes(key)) throw invalid(`a request for a ${kind} has no parameter ${key}`);
  switch (kind) {
    case "log":
      return { kind, ...logOptions(query) };
    case "values":
      // The targets are known once the deployment is found.
      return { kind, target: "", targetPaths: [] };
    default:
      return { kind };
  }
}

/** `url`: path and query. Throws REQUEST_INVALID. */
export function parseUserRequest(url: string): UserRequest {
  const { pathname, searchParams } = new URL(url, "http://hub");
  const [, workspace, plural = "", target, what = ""] = path.exec(pathname) ?? [];
  const kind = kindsByPlural.get(plural);
  if (workspace === undefined || target === undefined || kind === undefined)
    throw invalid(`the address is not /requests/v1/namespaces/NAMESPACE/{${plurals}}/NAME/KIND`);
  const body = parseBody(what, searchParams);
  const cluster = matching(searchParams, "cluster", clusterName);
  return { workspace, kind, name: target, ...(cluster !== undefined && { cluster }), body };
}

function logOptions(query: URLSearchParams): LogOptions {
  const pod = matching(query, "pod", objectName);
  const container = matching(query, "container", objectName);
  const since = query.get("since");
  const sinceMs = since === null ? undefined : parseGoDuration(since);
  if (since !== null && (sinceMs === undefined || sinceMs <= 0))
    throw invalid("the parameter since is not a duration such as 10m");
  const tail = query.get("tail");
  const tailLines = tail === null ? defaultTailLines : Number(tail);
  if (!Number.isInteger(tailLines) || tailLines < 1 || tailLines > maxTailLines)
    throw invalid(`the parameter tail is not a number from 1 to ${maxTailLines}`);
  return {
    ...(pod !== undefined && { pod }),
    ...(container !== undefined && { container }),
    ...(sinceMs !== undefined && { sinceSeconds: Math.ceil(sinceMs / 1_000) }),
    tailLines,
    previous: flag(query, "previous"),
    tests: flag(query, "tests"),
  };
}

function flag(query: URLSearchParams, key: string): boolean {
  const value = query.get(key);
  if (value !== null && value !== "true" && value !== "false")
    throw invalid(`the parameter ${key} is neither true nor false`);
  return value === "true";
}

/** Undefined: the parameter is absent. Throws REQUEST_INVALID. */
export function matching(query: URLSearchParams, key: string, pattern: RegExp): string | undefined {
  const value = query.get(key);
  if (value === null) return undefined;
  if (!pattern.test(value)) throw invalid(`the parameter ${key} is not a name`);
  return value;
}

export function invalid(message: string): AppError {
  return new AppError(hubErrors.REQUEST_INVALID, message);
}
