/** The TCP port of the agents, which can also end a connection: gRPC ends calls, and keeps what has come of their messages. */
import { type AddressInfo, createServer, type Socket } from "node:net";
import { AppError, messageOf } from "@flotilla/shared/errors/app-error.ts";
import type { Log } from "@flotilla/shared/log/log.ts";
import { rpcErrors } from "../rpc/errors.ts";

export interface AgentPort {
  /** Gives the port; `port` 0 takes a free one. Throws PORT_UNAVAILABLE. */
  listen(host: string, port: number): Promise<number>;
  /** Ends the connection of that address (grpc-js's `getPeer`), if it is still there. */
  drop(peer: string): void;
  /** Takes no more connections; those that there are stay. */
  close(): void;
}

/** `onConnection` takes a connection over, which has not been read from. */
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
          const message = `the gRPC port ${address} cannot be opened: ${messageOf(error)}`;
          reject(new AppError(rpcErrors.PORT_UNAVAILABLE, message, { cause: error }));
        });
        // Listening on a TCP port, so the address is one.
        server.listen(port, host, () => {
          server.on("error", (error) => {
            log.warn(
              { err: messageOf(error) },
              "a connection could not be taken; the port stays open",
            );
          });
          resolve((server.address() as AddressInfo).port);
        });
      }),
    drop: (peer) => void sockets.get(peer)?.destroy(),
    close: () => void server.close(),
  };
}
