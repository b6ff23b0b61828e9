/** Faults of an API server, or of the network between it and its client, that are too rare on a real one for a test. */
import type { IncomingMessage, ServerResponse } from "node:http";

export type RequestKind = "list" | "watch" | "get" | "write";

/** A request that has arrived. */
export interface SeenRequest {
  readonly kind: RequestKind;
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

/** Responds to one request instead of the server. */
export type Fault = (response: ServerResponse, request: SeenRequest) => void;

/** Responds with a Status, as a real server does for anything that is not a success. */
export function respondStatus(
  code: number,
  reason: string,
  headers: Readonly<Record<string, string>> = {},
): Fault {
  return (response) => {
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    respondJson(response, code, statusOf(code, reason));
  };
}

/** Responds with bytes that are no object of the API. */
export function respondText(code: number, text: string): Fault {
  return (response) => {
    response.writeHead(code, { "content-type": "text/html" });
    response.end(text);
  };
}

/** Opens a watch, sends these lines, and ends it regularly. */
export function watchLines(...lines: readonly string[]): Fault {
  return (response) => {
    response.writeHead(200, { "content-type": "application/json" });
    response.end(lines.map((line) => `${line}\n`).join(""));
  };
}

/** Never responds, and keeps the connection: a peer that disappeared. */
export const stall: Fault = () => undefined;

/** Opens a watch and sends nothing: a half-open connection. */
export const openAndStall: Fault = (response) => {
  response.writeHead(200, { "content-type": "application/json" });
  response.flushHeaders();
};

/** Cuts the connection before the response. */
export const cutConnection: Fault = (response) => {
  response.socket?.destroy();
};

/** A line of a watch that ends it with an error. */
export function errorLine(code: number, reason: string): string {
  return JSON.stringify({ type: "ERROR", object: statusOf(code, reason) });
}

export function respondJson(response: ServerResponse, code: number, body: unknown): void {
  response.writeHead(code, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}

/** A Status object; `name` is set when an object is not found, rather than its kind. */
export function statusOf(code: number, reason: string, name?: string): object {
  return {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message: `injected fault ${reason}`,
    reason,
    code,
    ...(name !== undefined && { details: { name } }),
  };
}
