/** The reading verbs of the Kubernetes API: get, list, watch. */
import { apiVersionOf, type KubeObject, type ObjectRef, type Resource } from "../objects/index.ts";
import {
  collectionPath,
  describeKind,
  describeObject,
  objectPath,
  withQuery,
} from "./request-path.ts";
import {
  isUnknownKind,
  type Origin,
  parseResponse,
  type RequestInfo,
  responseError,
} from "./response.ts";
import type { CallOptions, KubeRest, ListOptions, ListPage, WatchOptions } from "./rest.ts";
import { type Call, type Sender, sendSuccessfully } from "./sender.ts";
import { badResponse, type HttpResponse } from "./transport.ts";
import { watchStream } from "./watch-stream.ts";

/** How much longer than the server the client waits for the end of a watch. */
const watchGraceMs = 15_000;

export function readsOver(
  sender: Sender,
  origin: Origin,
): Pick<KubeRest, "get" | "list" | "watch" | "raw"> {
  return {
    async get<T extends KubeObject>(
      resource: Resource<T>,
      ref: ObjectRef,
      options: CallOptions = {},
    ): Promise<T | undefined> {
      const what = `get ${describeObject(resource, ref)}`;
      const path = objectPath(resource, ref);
      const response = await sender.send({ what, method: "GET", path, idempotent: true, options });
      if (response.status === 404 && !isUnknownKind(response)) return undefined;
      const request = { what, ...origin, secret: resource.kind === "Secret" };
      if (response.status !== 200) throw responseError(request, response);
      // The server's objects of a resource have its type.
      return parseResponse(request, response) as T;
    },

    async list(resource, options = {}) {
      const what = `list ${describeKind(resource)}`;
      const path = withQuery(collectionPath(resource, options.namespace), listQuery(options));
      const headers = acceptedBy(resource, "PartialObjectMetadataList");
      const call: Call = { what, method: "GET", path, idempotent: true, headers, options };
      return pageOf({ what, ...origin }, resource, await sendSuccessfully(sender, origin, call));
    },

    watch(resource, options) {
      const what = `watch ${describeKind(resource)}`;
      const { signal } = options;
      const call: Call = {
        what,
        method: "GET",
        path: withQuery(collectionPath(resource, options.namespace), watchQuery(options)),
        idempotent: true,
        headers: acceptedBy(resource, "PartialObjectMetadata"),
        options: {
          timeoutMs: options.timeoutSeconds * 1000 + watchGraceMs,
          ...(signal === undefined ? {} : { signal }),
        },
      };
      return watchStream({ what, ...origin }, signal, (sink) => sender.stream(call, sink));
    },

    async raw(path, { headers, body, ...options } = {}) {
      const isRead = body === undefined;
      const call: Call = {
        what: `${isRead ? "get" : "post"} ${path}`,
        path,
        options,
        method: isRead ? "GET" : "POST",
        idempotent: isRead,
        ...(headers !== undefined && { headers }),
        ...(!isRead && { body, contentType: "application/json" }),
      };
      return (await sendSuccessfully(sender, origin, call)).text;
    },
  };
}

function acceptedBy(
  { metadataOnly }: Resource<KubeObject>,
  kind: string,
): Readonly<Record<string, string>> {
  return metadataOnly === true ? { accept: `application/json;as=${kind};g=meta.k8s.io;v=v1` } : {};
}

function listQuery(options: ListOptions) {
  const { labelSelector, fieldSelector, limit, next, resourceVersion, resourceVersionMatch } =
    options;
  return {
    labelSelector,
    fieldSelector,
    limit,
    continue: next,
    resourceVersion,
    resourceVersionMatch,
  };
}

function watchQuery(options: WatchOptions) {
  const { labelSelector, fieldSelector, resourceVersion, timeoutSeconds } = options;
  return {
    watch: true,
    allowWatchBookmarks: true,
    labelSelector,
    fieldSelector,
    resourceVersion,
    timeoutSeconds,
  };
}

interface ListResponse {
  readonly metadata?: { readonly resourceVersion?: string; readonly continue?: string };
  readonly items?: readonly Record<string, unknown>[] | null;
}

function pageOf<T extends KubeObject>(
  request: RequestInfo,
  resource: Resource<T>,
  response: HttpResponse,
): ListPage<T> {
  const list = parseResponse(request, response) as ListResponse | null;
  const resourceVersion = list?.metadata?.resourceVersion;
  if (resourceVersion === undefined) throw badResponse(request, request.server, "it is not a list");
  const items = list?.items ?? [];
  // Items of a list have no kind, a watch's do.
  const apiVersion = apiVersionOf(resource);
  for (const item of resource.metadataOnly === true ? [] : items) {
    item["apiVersion"] ??= apiVersion;
    item["kind"] ??= resource.kind;
  }
  const next = list?.metadata?.continue;
  return {
    items: items as readonly unknown[] as readonly T[],
    resourceVersion,
    ...(next === undefined || next === "" ? {} : { next }),
  };
}
