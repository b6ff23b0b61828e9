/** A real HTTP server that takes what Providers send. */
import { createServer, type IncomingHttpHeaders } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import type { ObjectRef } from "@flotilla/shared/kube/objects";
import { createChangeSignal } from "../harness/change-signal.ts";

export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly event: ReceivedEvent;
}

export interface ReceivedEvent {
  readonly involvedObject: {
    readonly kind: string;
    readonly name: string;
    readonly namespace: string;
  };
  readonly severity: string;
  readonly reason: string;
  readonly message: string;
  readonly metadata?: Readonly<Record<string, string>>;
}

export interface Sink {
  readonly url: string;
  readonly received: readonly Received[];
  /** What was received at one path. */
  at(path: string): readonly Received[];
  /** Resolves with the first event at a path for which `isIt` holds. */
  wait(path: string, what: string, isIt: (event: ReceivedEvent) => boolean): Promise<Received>;
  /** Answers with this status; 0: never answers. */
  answer(path: string, status: number): void;
  close(): Promise<void>;
}

/** Whether an event is about an object, for this reason. */
export function isAbout(
  ref: Required<ObjectRef>,
  reason: string,
): (event: ReceivedEvent) => boolean {
  return ({ involvedObject: { namespace, name }, reason: is }) =>
    namespace === ref.namespace && name === ref.name && is === reason;
}

export async function startSink(tls?: {
  readonly key: string;
  readonly cert: string;
}): Promise<Sink> {
  const received: Received[] = [];
  const statuses = new Map<string, number>();
  const signal = createChangeSignal(() => received.map(({ path, text }) => `${path} ${text}`));
  const listener: Parameters<typeof createServer>[1] = (request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      // The statuses that a commit has at a Git host: none.
      if (request.method === "GET") {
        response.writeHead(200, { "content-type": "application/json" }).end("[]");
        return;
      }
      const { url: path = "/", headers } = request;
      const text = Buffer.concat(chunks).toString();
      const status = statuses.get(path) ?? 200;
      if (status === 0) return;
      if (status === 200) {
        received.push({ path, headers, text, event: JSON.parse(text) as ReceivedEvent });
        signal.changed();
      }
      response.writeHead(status).end();
    });
  };
  const server = tls === undefined ? createServer(listener) : createTlsServer({ ...tls }, listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const at = (path: string) => received.filter((each) => each.path === path);
  return {
    url: `${tls === undefined ? "http" : "https"}://127.0.0.1:${port}`,
    received,
    at,
    wait: (path, what, isIt) => signal.found(() => at(path).find(({ event }) => isIt(event)), what),
    answer: (path, status) => void statuses.set(path, status),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
