/**
 * The TCP port of the agents. It can close one connection: gRPC only ends calls, and keeps what it has buffered of them. And it
 * limits the connections on which no agent has authenticated, so that those who open connections and leave them incomplete do
 * not keep others from connecting.
 */
import { type AddressInfo, createServer, type Socket } from "node:net";
import { createFairPool } from "@flotilla/shared/concurrency";
import { AppError, messageOf } from "@flotilla/shared/errors";
import type { Log } from "@flotilla/shared/log";
import type { Clock } from "@flotilla/shared/time";
import { rpcErrors } from "../rpc/index.ts";

export interface AgentPort {
  /** Returns the port; `port` 0 takes a free one. Throws PORT_UNAVAILABLE. */
  listen(host: string, port: number): Promise<number>;
  /** An agent has authenticated on the connection of that address (grpc-js's `getPeer`), which is no longer limited. */
  authenticated(peer: string): void;
  /** Bytes that have arrived on the connection of that address, encrypted. */
  bytesFrom(peer: string): number;
  /** Closes the connection of that address, if it is still open. */
  closeConnection(peer: string): void;
  /** Accepts no more connections; open ones stay. */
  close(): void;
}

export interface AgentPortOptions {
  /** Takes over a connection that has not been read from. */
  readonly onConnection: (socket: Socket) => void;
  readonly clock: Clock;
  readonly log: Log;
  readonly limits?: ConnectionLimits;
}

export interface ConnectionLimits {
  /** Connections without an agent; the agents of a whole fleet may connect at once. */
  readonly unauthenticated: number;
  /** Kept for this long when many come at once, see FairPool. */
  readonly keepMs: number;
  /** Until an agent has authenticated, or has enrolled and disconnected. */
  readonly timeoutMs: number;
}

const defaultLimits: ConnectionLimits = {
  unauthenticated: 10_000,
  keepMs: 10_000,
  timeoutMs: 120_000,
};

interface Connection {
  readonly socket: Socket;
  /** Ends its limits. */
  readonly settle: () => void;
}

export function createAgentPort({
  onConnection,
  clock,
  log,
  limits = defaultLimits,
}: AgentPortOptions): AgentPort {
  const connections = new Map<string, Connection>();
  const pool = createFairPool(clock, { capacity: limits.unauthenticated, keepMs: limits.keepMs });
  const server = createServer({ noDelay: true }, (socket) => {
    const { remoteAddress = "", remotePort } = socket;
    const release = pool.admit(remoteAddress, () => socket.destroy());
    if (release === undefined) {
      socket.destroy();
      return;
    }
    const peer = `${remoteAddress}:${remotePort}`;
    const timer = clock.setTimeout(() => socket.destroy(), limits.timeoutMs);
    const settle = () => {
      timer.cancel();
      release();
    };
    const connection = { socket, settle };
    connections.set(peer, connection);
    socket.once("close", () => {
      settle();
      if (connections.get(peer) === connection) connections.delete(peer);
    });
    onConnection(socket);
  });

  return {
    listen: (host, port) =>
      new Promise((resolve, reject) => {
        server.once("error", (error) => {
          const address = `${host.includes(":") ? `[${host}]` : host}:${port}`;
          const message = `cannot listen on the gRPC port ${address}: ${messageOf(error)}`;
          reject(new AppError(rpcErrors.PORT_UNAVAILABLE, message, { cause: error }));
        });
        // The address of a TCP listener is never a path.
        server.listen(port, host, () => {
          server.on("error", (error) => {
            log.warn({ err: messageOf(error) }, "cannot accept a connection; still listening");
          });
          resolve((server.address() as AddressInfo).port);
        });
      }),
    authenticated: (peer) => connections.get(peer)?.settle(),
    bytesFrom: (peer) => connections.get(peer)?.socket.bytesRead ?? 0,
    closeConnection: (peer) => void connections.get(peer)?.socket.destroy(),
    close: () => void server.close(),
  };
}
