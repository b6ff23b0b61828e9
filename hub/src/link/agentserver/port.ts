/**
 * The TCP port of the agents. It can close one connection: gRPC only ends calls, and keeps what it has buffered of them. And it
 * limits the connections on which no agent has authenticated, in their rate and their number, so that those who open
 * connections, with TLS handshakes or without, do not keep others from connecting.
 */

import { type AddressInfo, createServer, type Socket } from "node:net";
import { createFairPool } from "@flotilla/shared/concurrency";
import { AppError, messageOf } from "@flotilla/shared/errors";
import type { Log } from "@flotilla/shared/log";
import type { Clock } from "@flotilla/shared/time";
import { hubErrors } from "../../base/index.ts";
import type { Rejections } from "../rpc/rejections.ts";
import { addressBlock } from "./address-block.ts";
import { type Handshake, type HandshakeLimits, HandshakeQueue } from "./handshake-queue.ts";

export interface AgentPort {
  /** Returns the port; `port` 0 takes a free one. Throws PORT_UNAVAILABLE. */
  listen(host: string, port: number): Promise<number>;
  /** An agent has authenticated on the connection of that address (grpc-js's `getPeer`), which is no longer limited. */
  authenticated(peer: string): void;
  /** An agent has enrolled on the connection of that address: its handshake counts as one of an agent. */
  enrolled(peer: string): void;
  /** Bytes that have arrived on the connection of that address, encrypted. */
  bytesFrom(peer: string): number;
  /** Closes the connection of that address, if it is still open. */
  closeConnection(peer: string): void;
  /** Accepts no more connections; those whose handshake has begun stay. */
  close(): void;
}

export interface AgentPortOptions {
  /** Takes over a connection that has not been read from, and begins its TLS handshake. */
  readonly onConnection: (socket: Socket) => void;
  readonly rejections: Pick<Rejections, "rejected">;
  readonly clock: Clock;
  readonly log: Log;
  readonly limits?: ConnectionLimits;
}

export interface ConnectionLimits {
  readonly handshakes: HandshakeLimits;
  /** Connections without an agent whose handshake has begun; the agents of a whole fleet may connect at once. */
  readonly unauthenticated: number;
  /** Kept for this long when many come at once, see FairPool. */
  readonly keepMs: number;
  /** Until an agent has authenticated, or has enrolled and disconnected. */
  readonly timeoutMs: number;
}

const defaultLimits: ConnectionLimits = {
  // A handshake takes half a millisecond to one of the processor. At a time, so many agents are authenticated within a second.
  // A flood from fewer addresses than it may make handshakes in `rememberMs` waits behind all other callers.
  handshakes: { perSecond: 200, burst: 500, rememberMs: 180_000, maxWaiting: 10_000 },
  unauthenticated: 10_000,
  keepMs: 10_000,
  timeoutMs: 120_000,
};

interface Connection {
  readonly socket: Socket;
  readonly handshake: Handshake;
  readonly hasBegun: () => boolean;
  /** Ends its limits. */
  readonly settle: () => void;
}

const tooMany =
  "too many connections without an agent; closing connections of the addresses with the most";

export function createAgentPort({
  onConnection,
  rejections,
  clock,
  log,
  limits = defaultLimits,
}: AgentPortOptions): AgentPort {
  const connections = new Map<string, Connection>();
  const pool = createFairPool(clock, { capacity: limits.unauthenticated, keepMs: limits.keepMs });
  const handshakes = new HandshakeQueue(clock, limits.handshakes);
  // What has not begun its handshake is not read: it would be kept in memory.
  const server = createServer({ noDelay: true, pauseOnConnect: true }, (socket) => {
    const { remoteAddress = "", remotePort } = socket;
    const block = addressBlock(remoteAddress);
    const peer = `${remoteAddress}:${remotePort}`;
    let release: (() => void) | undefined;
    const timer = clock.setTimeout(() => socket.destroy(), limits.timeoutMs);
    const settle = () => {
      timer.cancel();
      release?.();
    };
    // A connection that was reset while it waited; its close follows.
    socket.on("error", () => undefined);
    socket.once("close", () => {
      settle();
      handshake.cancel();
      if (connections.get(peer) === connection) connections.delete(peer);
    });
    const handshake = handshakes.add(block, {
      start() {
        release = pool.admit(block, () => socket.destroy());
        if (release === undefined) socket.destroy();
        else onConnection(socket);
      },
      drop() {
        socket.destroy();
        rejections.rejected("", { reason: "handshake", fields: { peer }, message: tooMany });
      },
    });
    const connection = { socket, handshake, hasBegun: () => release !== undefined, settle };
    connections.set(peer, connection);
  });

  return {
    listen: (host, port) =>
      new Promise((resolve, reject) => {
        server.once("error", (error) => {
          const address = `${host.includes(":") ? `[${host}]` : host}:${port}`;
          const message = `cannot listen on the gRPC port ${address}: ${messageOf(error)}`;
          reject(new AppError(hubErrors.PORT_UNAVAILABLE, message, { cause: error }));
        });
        // The address of a TCP listener is never a path.
        server.listen(port, host, () => {
          server.on("error", (error) => {
            log.warn({ err: messageOf(error) }, "cannot accept a connection; still listening");
          });
          resolve((server.address() as AddressInfo).port);
        });
      }),
    authenticated(peer) {
      connections.get(peer)?.settle();
      connections.get(peer)?.handshake.settle();
    },
    enrolled: (peer) => connections.get(peer)?.handshake.settle(),
    bytesFrom: (peer) => connections.get(peer)?.socket.bytesRead ?? 0,
    closeConnection: (peer) => void connections.get(peer)?.socket.destroy(),
    close() {
      server.close();
      for (const { socket, hasBegun } of connections.values()) if (!hasBegun()) socket.destroy();
    },
  };
}
