/**
 * A small API server that can be told to misbehave: what a real one does too rarely to be waited for in a test. It
 * serves one collection, whatever path is asked for: lists it in pages, tells its watches of changes, and refuses writes
 * that are not based on the current version.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { KubeObject } from "../objects/object.ts";

export type RequestKind = "list" | "watch" | "get" | "write";

/** A request that has arrived. */
export interface SeenRequest {
  readonly kind: RequestKind;
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage["headers"];
  /** The object in the path, for get and write. */
  readonly name: string | undefined;
  readonly body: string;
}

/** Answers one request instead of the server. */
export type Misbehaviour = (response: ServerResponse, request?: SeenRequest) => void;

/** A watch that is open. */
export interface OpenWatch {
  readonly request: SeenRequest;
  /** One line, as it is. */
  line(text: string): void;
  bookmark(resourceVersion: string): void;
  end(): void;
  /** Breaks the connection in the middle. */
  cut(): void;
}

export interface UnrulyServer {
  readonly url: string;
  /** All requests so far. */
  readonly requests: readonly SeenRequest[];
  /** How many connections were made to it so far. */
  readonly connections: number;
  /** Adds or changes an object; gives its new resourceVersion. */
  put(object: KubeObject): string;
  remove(name: string): void;
  get(name: string): KubeObject | undefined;
  /** Answers the next request of this kind, once; several queue up. */
  next(kind: RequestKind, misbehaviour: Misbehaviour): void;
  /** The next request of this kind that was not handed out by this function yet. */
  arrival(kind: RequestKind): Promise<SeenRequest>;
  /** The next watch that was opened and not handed out yet. */
  opened(): Promise<OpenWatch>;
  close(): Promise<void>;
}

interface Stored {
  readonly object: KubeObject;
  readonly version: number;
}

export async function startUnrulyServer(): Promise<UnrulyServer> {
  const objects = new Map<string, Stored>();
  const watches = new Set<ServerResponse>();
  const requests: SeenRequest[] = [];
  const misbehaviours: Record<RequestKind, Misbehaviour[]> = {
    list: [],
    watch: [],
    get: [],
    write: [],
  };
  const arrivals = {
    list: createHandOver<SeenRequest>(),
    watch: createHandOver<SeenRequest>(),
    get: createHandOver<SeenRequest>(),
    write: createHandOver<SeenRequest>(),
  };
  const openings = createHandOver<OpenWatch>();
  const sockets = new Set<Socket>();
  let version = 100;
  let incarnation = 0;

  function tell(type: string, object: KubeObject): void {
    for (const watch of watches) watch.write(`${JSON.stringify({ type, object })}\n`);
  }

  function answerList(response: ServerResponse, { query }: SeenRequest): void {
    const all = [...objects.values()].map(({ object }) => object);
    const [from = 0, at = version] = (query.get("continue") ?? "")
      .split("@")
      .filter(Boolean)
      .map(Number);
    const to = from + Number(query.get("limit") ?? all.length);
    const metadata = {
      resourceVersion: String(at),
      ...(to < all.length ? { continue: `${to}@${at}` } : {}),
    };
    // Lists of a real server have no kinds in their items either.
    const items = all
      .slice(from, to)
      .map(({ metadata: own, ...rest }) => ({ ...rest, metadata: own }));
    answerJson(response, 200, { kind: "List", apiVersion: "v1", metadata, items });
  }

  function answerWatch(response: ServerResponse, request: SeenRequest): void {
    response.writeHead(200, { "content-type": "application/json" });
    response.flushHeaders();
    const from = Number(request.query.get("resourceVersion"));
    for (const stored of objects.values()) {
      if (stored.version > from)
        response.write(`${JSON.stringify({ type: "MODIFIED", object: stored.object })}\n`);
    }
    watches.add(response);
    response.on("close", () => watches.delete(response));
    openings.give({
      request,
      line: (text) => void response.write(`${text}\n`),
      bookmark: (resourceVersion) =>
        void response.write(
          `${JSON.stringify({ type: "BOOKMARK", object: { metadata: { resourceVersion } } })}\n`,
        ),
      end: () => void response.end(),
      cut: () => void response.socket?.destroy(),
    });
  }

  function put(object: KubeObject): KubeObject {
    const known = objects.get(object.metadata.name);
    const uid = known?.object.metadata.uid ?? `uid-${++incarnation}`;
    const stored = {
      ...object,
      metadata: { ...object.metadata, uid, resourceVersion: String(++version) },
    };
    objects.set(object.metadata.name, { object: stored, version });
    tell(known === undefined ? "ADDED" : "MODIFIED", stored);
    return stored;
  }

  function remove(name: string): KubeObject | undefined {
    const stored = objects.get(name)?.object;
    if (stored === undefined) return undefined;
    objects.delete(name);
    tell("DELETED", {
      ...stored,
      metadata: { ...stored.metadata, resourceVersion: String(++version) },
    });
    return stored;
  }

  function answerGet(response: ServerResponse, { name = "" }: SeenRequest): void {
    const found = objects.get(name);
    if (found === undefined) answerJson(response, 404, notFound(name));
    else answerJson(response, 200, found.object);
  }

  function answerWrite(response: ServerResponse, request: SeenRequest): void {
    const { method, name = "", body } = request;
    const known = objects.get(name)?.object;
    if (method === "POST") {
      const object = JSON.parse(body) as KubeObject;
      if (objects.has(object.metadata.name)) answersStatus(409, "AlreadyExists")(response);
      else answerJson(response, 201, put(object));
      return;
    }
    if (known === undefined) {
      answerJson(response, 404, notFound(name));
    } else if (method === "DELETE") {
      answerJson(response, 200, remove(name));
    } else if (method === "PUT") {
      const object = JSON.parse(body) as KubeObject;
      if (object.metadata.resourceVersion !== known.metadata.resourceVersion)
        answersStatus(409, "Conflict")(response);
      else answerJson(response, 200, put(object));
    } else {
      answerJson(response, 200, put({ ...known, ...(JSON.parse(body) as Partial<KubeObject>) }));
    }
  }

  function answer(response: ServerResponse, request: SeenRequest): void {
    const misbehaviour = misbehaviours[request.kind].shift();
    if (misbehaviour !== undefined) misbehaviour(response, request);
    else if (request.kind === "list") answerList(response, request);
    else if (request.kind === "watch") answerWatch(response, request);
    else if (request.kind === "get") answerGet(response, request);
    else answerWrite(response, request);
  }

  const server: Server = createServer((message, response) => {
    const chunks: Buffer[] = [];
    message.on("data", (chunk: Buffer) => chunks.push(chunk));
    message.on("end", () => {
      const request = describe(message, Buffer.concat(chunks).toString());
      requests.push(request);
      answer(response, request);
      arrivals[request.kind].give(request);
    });
  });
  let connections = 0;
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
    put: (object) => put(object).metadata.resourceVersion ?? "",
    remove: (name) => void remove(name),
    get: (name) => objects.get(name)?.object,
    next: (kind, misbehaviour) => void misbehaviours[kind].push(misbehaviour),
    arrival: (kind) => arrivals[kind].take(),
    opened: () => openings.take(),
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Answers with a Status, as a real server does for anything that is not a success. */
export function answersStatus(
  code: number,
  reason: string,
  headers: Readonly<Record<string, string>> = {},
): Misbehaviour {
  return (response) => {
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    answerJson(response, code, statusOf(code, reason));
  };
}

/** Answers with bytes that are not what the API promises. */
export function answersText(code: number, text: string): Misbehaviour {
  return (response) => {
    response.writeHead(code, { "content-type": "text/html" });
    response.end(text);
  };
}

/** Opens a watch, sends these lines, and ends it properly. */
export function watchesOnly(...lines: readonly string[]): Misbehaviour {
  return (response) => {
    response.writeHead(200, { "content-type": "application/json" });
    response.end(lines.map((line) => `${line}\n`).join(""));
  };
}

/** Never answers, and keeps the connection: what a peer that vanished looks like. */
export const staysSilent: Misbehaviour = () => undefined;

/** Breaks the connection before there is an answer. */
export const cutsConnection: Misbehaviour = (response) => {
  response.socket?.destroy();
};

export function errorLine(code: number, reason: string): string {
  return JSON.stringify({ type: "ERROR", object: statusOf(code, reason) });
}

/** A real server names the object; it does not when it is the kind that it does not know. */
function notFound(name: string): object {
  return { ...statusOf(404, "NotFound"), details: { name } };
}

function statusOf(code: number, reason: string) {
  return {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message: `told to say ${reason}`,
    reason,
    code,
  };
}

function answerJson(response: ServerResponse, code: number, body: unknown): void {
  response.writeHead(code, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}

function describe(message: IncomingMessage, body: string): SeenRequest {
  const url = new URL(message.url ?? "/", "http://server");
  const method = message.method ?? "GET";
  const name = nameIn(url.pathname);
  const isWatch = url.searchParams.get("watch") === "true";
  const reads = name !== undefined || !url.pathname.startsWith("/api") ? "get" : "list";
  const kind = method !== "GET" ? "write" : isWatch ? "watch" : reads;
  return {
    kind,
    method,
    path: url.pathname,
    query: url.searchParams,
    headers: message.headers,
    name,
    body,
  };
}

/** `/api/v1/namespaces/default/configmaps/NAME`, `/apis/GROUP/v1/nodes/NAME`. */
function nameIn(path: string): string | undefined {
  const [, root, ...segments] = path.split("/");
  const [first, , second, ...rest] = root === "api" ? segments.slice(1) : segments.slice(2);
  if (first !== "namespaces" || second === undefined)
    return root === "api" ? segments[2] : segments[3];
  return rest[0];
}

interface HandOver<V> {
  give(value: V): void;
  take(): Promise<V>;
}

/** Hands values to takers in order; either side may come first. */
function createHandOver<V>(): HandOver<V> {
  const values: V[] = [];
  const takers: ((value: V) => void)[] = [];
  return {
    give(value) {
      const taker = takers.shift();
      if (taker === undefined) values.push(value);
      else taker(value);
    },
    take() {
      const value = values.shift();
      return value === undefined
        ? new Promise((resolve) => takers.push(resolve))
        : Promise.resolve(value);
    },
  };
}
