/** The API server in memory over HTTP, for tests of clients: with injected faults and controlled watches. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { KubeStatusError } from "../client/index.ts";
import type { PatchBody } from "../client/rest.ts";
import type { KubeObject, ObjectRef, Resource } from "../objects/index.ts";
import {
  type Fault,
  type RequestKind,
  respondJson,
  type SeenRequest,
  statusOf,
} from "./http-faults.ts";
import {
  type CollectionPath,
  createObjectStorage,
  type ObjectPath,
  type ObjectStorage,
  type Preconditions,
} from "./object-storage.ts";

/** An open watch. */
export interface OpenWatch {
  readonly request: SeenRequest;
  /** Sends one unchanged line. */
  line(text: string): void;
  bookmark(resourceVersion: string): void;
  /** Ends it regularly. */
  end(): void;
  /** Cuts the connection in the middle. */
  cut(): void;
}

export interface HttpApiServer {
  readonly url: string;
  /** All requests so far. */
  readonly requests: readonly SeenRequest[];
  /** How many connections were opened so far. */
  readonly connections: number;
  /** Stores an object without a request and without checks; returns its new resourceVersion. */
  put<T extends KubeObject>(resource: Resource<T>, object: T): string;
  remove(resource: Resource<KubeObject>, ref: ObjectRef): void;
  get(resource: Resource<KubeObject>, ref: ObjectRef): KubeObject | undefined;
  /** Injects a fault into the next request of this kind; several queue up. */
  next(kind: RequestKind, fault: Fault): void;
  /** The next request of this kind that this function did not return yet. */
  arrival(kind: RequestKind): Promise<SeenRequest>;
  /** The next opened watch that this function did not return yet. */
  opened(): Promise<OpenWatch>;
  close(): Promise<void>;
}

/** The first write gets version 101. */
const startVersion = 100;

export async function startHttpApiServer(): Promise<HttpApiServer> {
  const storage = createObjectStorage(startVersion);
  const requests: SeenRequest[] = [];
  const faults: Record<RequestKind, Fault[]> = { list: [], watch: [], get: [], write: [] };
  const arrivals = {
    list: createHandoff<SeenRequest>(),
    watch: createHandoff<SeenRequest>(),
    get: createHandoff<SeenRequest>(),
    write: createHandoff<SeenRequest>(),
  };
  const opened = createHandoff<OpenWatch>();
  const sockets = new Set<Socket>();
  let connections = 0;

  const server = createServer((message, response) => {
    const chunks: Buffer[] = [];
    message.on("data", (chunk: Buffer) => chunks.push(chunk));
    message.on("end", () => {
      const request = describe(message, Buffer.concat(chunks).toString());
      requests.push(request);
      const fault = faults[request.kind].shift();
      if (fault !== undefined) fault(response, request);
      else respond(storage, request, response, opened.give);
      arrivals[request.kind].give(request);
    });
  });
  server.on("connection", (socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;

  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    get connections() {
      return connections;
    },
    put: (resource, object) =>
      storage.put(pathFor(resource, object.metadata), object).metadata.resourceVersion ?? "",
    remove: (resource, ref) => void storage.remove(pathFor(resource, ref)),
    get: (resource, ref) => storage.get(pathFor(resource, ref)),
    next: (kind, fault) => void faults[kind].push(fault),
    arrival: (kind) => arrivals[kind].take(),
    opened: opened.take,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function respond(
  storage: ObjectStorage,
  request: SeenRequest,
  response: ServerResponse,
  onOpened: (watch: OpenWatch) => void,
): void {
  const target = parsePath(request.path);
  if (target === undefined) {
    respondJson(response, 404, statusOf(404, "NotFound"));
    return;
  }
  const { path, name, subresource } = target;
  try {
    if (request.kind === "watch") respondWatch(storage, path, request, response, onOpened);
    else if (request.kind === "list") respondJson(response, 200, listOf(storage, path, request));
    else if (request.kind === "get") {
      const found = storage.get({ ...path, name });
      if (found === undefined) respondJson(response, 404, statusOf(404, "NotFound", name));
      else respondJson(response, 200, found);
    } else respondJson(response, ...write(storage, { ...path, name }, request, subresource));
  } catch (error) {
    if (!(error instanceof KubeStatusError)) throw error;
    respondJson(response, error.status, statusOf(error.status, error.reason, name));
  }
}

function write(
  storage: ObjectStorage,
  path: ObjectPath,
  { method, body, headers }: SeenRequest,
  subresource: string | undefined,
): [code: number, object: unknown] {
  const part = subresource === "status" ? "status" : "main";
  const parsed: unknown = body === "" ? {} : JSON.parse(body);
  switch (method) {
    case "POST": {
      const object = parsed as KubeObject;
      return [201, storage.create({ ...path, name: object.metadata.name }, object)];
    }
    case "PUT":
      return [200, storage.replace(path, parsed as KubeObject, part)];
    case "PATCH": {
      const type = headers["content-type"] === "application/json-patch+json" ? "json" : "merge";
      return [200, storage.patch(path, { type, body: parsed } as PatchBody, part)];
    }
    default: {
      const { preconditions = {} } = parsed as { readonly preconditions?: Preconditions };
      const left = storage.delete(path, preconditions);
      return left === undefined ? [404, statusOf(404, "NotFound", path.name)] : [200, left];
    }
  }
}

/** A page; its `continue` has the start of the next one, and the version of the list. */
function listOf(storage: ObjectStorage, path: CollectionPath, { query }: SeenRequest): object {
  const all = storage.list(path, selectionOf(query));
  const [from = 0, at = storage.version] = (query.get("continue") ?? "")
    .split("@")
    .filter(Boolean)
    .map(Number);
  const to = from + Number(query.get("limit") ?? all.length);
  const metadata = {
    resourceVersion: String(at),
    ...(to < all.length && { continue: `${to}@${at}` }),
  };
  return { kind: "List", apiVersion: "v1", metadata, items: all.slice(from, to) };
}

function respondWatch(
  storage: ObjectStorage,
  path: CollectionPath,
  request: SeenRequest,
  response: ServerResponse,
  onOpened: (watch: OpenWatch) => void,
): void {
  const { query } = request;
  const line = (text: string): void => void response.write(`${text}\n`);
  const from = Number(query.get("resourceVersion"));
  const unsubscribe = storage.subscribe(path, selectionOf(query), from, (event) =>
    line(JSON.stringify(event)),
  );
  response.on("close", unsubscribe);
  response.flushHeaders();
  onOpened({
    request,
    line,
    bookmark: (resourceVersion) =>
      line(JSON.stringify({ type: "BOOKMARK", object: { metadata: { resourceVersion } } })),
    end: () => void response.end(),
    cut: () => void response.socket?.destroy(),
  });
}

function selectionOf(query: URLSearchParams) {
  return {
    labelSelector: query.get("labelSelector") ?? undefined,
    fieldSelector: query.get("fieldSelector") ?? undefined,
  };
}

function pathFor({ group, plural }: Resource<KubeObject>, ref: ObjectRef): ObjectPath {
  return { group, plural, namespace: ref.namespace, name: ref.name };
}

function describe(message: IncomingMessage, body: string): SeenRequest {
  const url = new URL(message.url ?? "/", "http://server");
  const method = message.method ?? "GET";
  const isWatch = url.searchParams.get("watch") === "true";
  const isList = parsePath(url.pathname)?.name === "";
  const kind = method !== "GET" ? "write" : isWatch ? "watch" : isList ? "list" : "get";
  return {
    kind,
    method,
    path: url.pathname,
    query: url.searchParams,
    headers: message.headers,
    body,
  };
}

interface Target {
  readonly path: CollectionPath;
  /** Empty for the collection itself. */
  readonly name: string;
  readonly subresource: string | undefined;
}

/** `/api/v1/namespaces/default/configmaps/NAME/status`, `/apis/GROUP/v1/nodes/NAME`; `undefined` for any other path. */
function parsePath(path: string): Target | undefined {
  const [, root, ...segments] = path.split("/");
  if (root !== "api" && root !== "apis") return undefined;
  const group = root === "api" ? "" : (segments[0] ?? "");
  const rest = segments.slice(root === "api" ? 1 : 2);
  const isNamespaced = rest[0] === "namespaces" && rest.length > 2 && rest[2] !== "status";
  const [plural, name = "", subresource] = isNamespaced ? rest.slice(2) : rest;
  if (plural === undefined) return undefined;
  const namespace = isNamespaced ? rest[1] : undefined;
  return { path: { group, plural, namespace }, name, subresource };
}

interface Handoff<V> {
  give(value: V): void;
  take(): Promise<V>;
}

/** Delivers values to readers in order; either side may come first. */
function createHandoff<V>(): Handoff<V> {
  const values: V[] = [];
  const readers: ((value: V) => void)[] = [];
  return {
    give(value) {
      const reader = readers.shift();
      if (reader === undefined) values.push(value);
      else reader(value);
    },
    take() {
      const value = values.shift();
      return value === undefined
        ? new Promise((resolve) => readers.push(resolve))
        : Promise.resolve(value);
    },
  };
}
