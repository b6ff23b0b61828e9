/** `KubeRest` over HTTP: the one place that knows the verbs and content types of the Kubernetes API. */

import { AppError } from "../../errors/app-error.ts";
import { type Clock, systemClock } from "../../time/clock.ts";
import { apiVersionOf, type KubeObject, type Resource } from "../objects/object.ts";
import { kubeErrors } from "./errors.ts";
import type { KubeConfig } from "./kubeconfig.ts";
import {
  collectionPath,
  creationPath,
  describeKind,
  describeObject,
  objectPath,
  withQuery,
} from "./request-path.ts";
import { isUnknownKind, parseResponse, type RequestInfo, responseError } from "./response.ts";
import type {
  CallOptions,
  KubeConnection,
  KubeRest,
  ListPage,
  PatchBody,
  WriteOptions,
} from "./rest.ts";
import { type Call, createSender, type Sender } from "./sender.ts";
import { badResponse, type HttpResponse } from "./transport.ts";
import { watchStream } from "./watch-stream.ts";

export interface ConnectOptions {
  readonly userAgent?: string;
  /** Most connections at a time for requests; watches have connections of their own. */
  readonly connections?: number;
  readonly clock?: Clock;
}

/** As fast for 1,000 creates as 64 are. */
const defaultConnections = 32;
/** How much longer than the server a client waits for the end of a watch. */
const deadManMs = 15_000;
const defaultFieldManager = "flotilla";

const patchTypes = {
  merge: "application/merge-patch+json",
  json: "application/json-patch+json",
  // JSON is YAML too.
  apply: "application/apply-patch+yaml",
} as const;

/** Opens nothing yet: connections are made as they are needed. */
export function connectKube(config: KubeConfig, options: ConnectOptions = {}): KubeConnection {
  const { server } = config;
  const sender = createSender({
    config,
    clock: options.clock ?? systemClock,
    userAgent: options.userAgent ?? "flotilla",
    connections: options.connections ?? defaultConnections,
  });
  return {
    ...restOver(sender, server),
    as: (who) => ({ ...restOver(sender.as(who), server), close: () => Promise.resolve() }),
  };
}

function restOver(sender: Sender, server: string): KubeRest {
  async function succeed(call: Call, secret = false): Promise<HttpResponse> {
    const answer = await sender.send(call);
    if (answer.status >= 200 && answer.status < 300) return answer;
    throw responseError({ what: call.what, server, secret }, answer);
  }

  /** Sends an object; gives the one that the server answers, whose type is what the kind's handle promises. */
  async function write<T extends KubeObject>(resource: Resource<T>, call: Call): Promise<T> {
    const answer = await succeed(call, resource.kind === "Secret");
    return parseResponse({ what: call.what, server }, answer) as T;
  }

  async function get<T extends KubeObject>(
    resource: Resource<T>,
    call: Call,
  ): Promise<T | undefined> {
    const answer = await sender.send(call);
    if (answer.status === 404 && !isUnknownKind(answer)) return undefined;
    if (answer.status !== 200)
      throw responseError({ what: call.what, server, secret: resource.kind === "Secret" }, answer);
    return parseResponse({ what: call.what, server }, answer) as T;
  }

  return {
    server,

    async get(resource, ref, callOptions = {}) {
      const what = `get ${describeObject(resource, ref)}`;
      const path = objectPath(resource, ref);
      return get(resource, { what, method: "GET", path, idempotent: true, options: callOptions });
    },

    async list(resource, listOptions = {}) {
      const {
        namespace,
        next,
        labelSelector,
        fieldSelector,
        limit,
        resourceVersion,
        resourceVersionMatch,
      } = listOptions;
      const what = `list ${describeKind(resource)}`;
      const query = {
        labelSelector,
        fieldSelector,
        limit,
        continue: next,
        resourceVersion,
        resourceVersionMatch,
      };
      const path = withQuery(collectionPath(resource, namespace), query);
      const answer = await succeed({
        what,
        method: "GET",
        path,
        idempotent: true,
        options: listOptions,
      });
      return pageOf({ what, server }, resource, answer);
    },

    watch(
      resource,
      { namespace, labelSelector, fieldSelector, resourceVersion, timeoutSeconds, signal },
    ) {
      const what = `watch ${describeKind(resource)}`;
      const query = {
        watch: true,
        allowWatchBookmarks: true,
        labelSelector,
        fieldSelector,
        resourceVersion,
        timeoutSeconds,
      };
      const call: Call = {
        what,
        method: "GET",
        path: withQuery(collectionPath(resource, namespace), query),
        idempotent: true,
        options: {
          timeoutMs: timeoutSeconds * 1000 + deadManMs,
          ...(signal === undefined ? {} : { signal }),
        },
      };
      return watchStream({ what, server }, signal, (sink) => sender.stream(call, sink));
    },

    async create(resource, object, writeOptions = {}) {
      return write(resource, {
        what: `create ${describeObject(resource, object.metadata)}`,
        method: "POST",
        path: withQuery(creationPath(resource, object.metadata), writeQuery(writeOptions)),
        contentType: "application/json",
        body: bodyOf(resource, object),
        idempotent: false,
        options: writeOptions,
      });
    },

    async replace(resource, object, writeOptions = {}) {
      const what = `replace ${describeObject(resource, object.metadata)}`;
      if ((object.metadata.resourceVersion ?? "") === "") {
        throw new AppError(
          kubeErrors.KUBE_REQUEST,
          `${what}: it has no resourceVersion, so it could overwrite a newer one`,
        );
      }
      const path = objectPath(resource, object.metadata, writeOptions.subresource);
      return write(resource, {
        what,
        method: "PUT",
        path: withQuery(path, writeQuery(writeOptions)),
        contentType: "application/json",
        body: bodyOf(resource, object),
        idempotent: true,
        options: writeOptions,
      });
    },

    async patch(resource, ref, patch, writeOptions = {}) {
      return write(resource, {
        what: `patch ${describeObject(resource, ref)}`,
        method: "PATCH",
        path: withQuery(
          objectPath(resource, ref, writeOptions.subresource),
          patchQuery(patch, writeOptions),
        ),
        contentType: patchTypes[patch.type],
        body: JSON.stringify(patch.body),
        idempotent: patch.type === "apply",
        options: writeOptions,
      });
    },

    async delete(resource, ref, deleteOptions = {}) {
      const { uid, resourceVersion, propagation } = deleteOptions;
      const what = `delete ${describeObject(resource, ref)}`;
      const preconditions =
        uid === undefined && resourceVersion === undefined ? undefined : { uid, resourceVersion };
      const answer = await sender.send({
        what,
        method: "DELETE",
        path: withQuery(objectPath(resource, ref), { timeout: serverTimeout(deleteOptions) }),
        contentType: "application/json",
        body: JSON.stringify({
          apiVersion: "v1",
          kind: "DeleteOptions",
          preconditions,
          propagationPolicy: propagation,
        }),
        idempotent: true,
        options: deleteOptions,
      });
      if (answer.status === 404 && !isUnknownKind(answer)) return false;
      if (answer.status >= 200 && answer.status < 300) return true;
      throw responseError({ what, server }, answer);
    },

    async raw(path, callOptions = {}) {
      const answer = await succeed({
        what: `get ${path}`,
        method: "GET",
        path,
        idempotent: true,
        options: callOptions,
      });
      return answer.text;
    },

    nextResponse: (signal) => sender.nextAnswer(signal),
    close: () => sender.close(),
  };
}

/** Custom resources are refused without their kind. */
function bodyOf(resource: Resource<KubeObject>, object: KubeObject): string {
  return JSON.stringify({ ...object, apiVersion: apiVersionOf(resource), kind: resource.kind });
}

function writeQuery(options: WriteOptions) {
  return {
    fieldManager: options.fieldManager,
    dryRun: options.dryRun === true ? "All" : undefined,
    timeout: serverTimeout(options),
  };
}

function patchQuery(patch: PatchBody, options: WriteOptions) {
  if (patch.type !== "apply") return writeQuery(options);
  return {
    ...writeQuery(options),
    fieldManager: options.fieldManager ?? defaultFieldManager,
    force: patch.force,
  };
}

/** So that a write that was given up here is not carried out later there. */
function serverTimeout(options: CallOptions): string | undefined {
  return options.timeoutMs === undefined
    ? undefined
    : `${Math.max(1, Math.floor(options.timeoutMs))}ms`;
}

interface ListAnswer {
  readonly metadata?: { readonly resourceVersion?: string; readonly continue?: string };
  readonly items?: readonly Record<string, unknown>[] | null;
}

function pageOf<T extends KubeObject>(
  asked: RequestInfo,
  resource: Resource<T>,
  answer: HttpResponse,
): ListPage<T> {
  const list = parseResponse(asked, answer) as ListAnswer | null;
  const resourceVersion = list?.metadata?.resourceVersion;
  if (resourceVersion === undefined) throw badResponse(asked, asked.server, "it is not a list");
  const items = list?.items ?? [];
  // Items of a list come without their kind, those of a watch with it.
  const apiVersion = apiVersionOf(resource);
  for (const item of items) {
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
