/** The TCP port of the agents. It can close one connection: gRPC only ends calls, and keeps what it has buffered of them. */
import { type AddressInfo, createServer, type Socket } from "node:net";
import { AppError, messageOf } from "@flotilla/shared/errors";
import type { Log } from "@flotilla/shared/log";
import { rpcErrors } from "../rpc/index.ts";

export interface AgentPort {
  /** Returns the port; `port` 0 takes a free one. Throws PORT_UNAVAILABLE. */
  listen(host: string, port: number): Promise<number>;
  /** Closes the connection of that address (grpc-js's `getPeer`), if it is still open. */
  closeConnection(peer: string): void;
  /** Accepts no more connections; open ones stay. */
  close(): void;
}

/** `onConnection` takes over a connection that has not been read from. */
export function createAgentPort(onConnection: (socket: Socket) => void, log: Log): AgentPort {
  const sockets = new Map<string, Socket>();
  const server = createServer({ noDelay: true }, (socket) => {
    const peer = `${socket.remoteAddress}:${socket.remotePort}`;
    sockets.set(peer, socket);
    socket.once("close", () => {
      if (sockets.get(peer) === socket) sockets.delete(peer);
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
    closeConnection: (peer) => void sockets.get(peer)?.destroy(),
    close: () => void server.close(),
  };
}
