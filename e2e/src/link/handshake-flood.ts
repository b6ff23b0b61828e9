/** Callers without a certificate that begin one TLS handshake after the other, from many addresses of this machine. */
import { connect as connectTcp } from "node:net";
import { connect as connectTls, type TLSSocket } from "node:tls";
import { hubServerName } from "@flotilla/proto";

export interface HandshakeFlood {
  /** Handshakes that the hub has completed. */
  readonly completed: number;
  /** Resolves once the hub has completed this many. */
  waitFor(count: number): Promise<void>;
  stop(): void;
}

export interface FloodOptions {
  readonly port: number;
  /** Different source addresses, none of which is 127.0.0.1; at most 60,000. */
  readonly addresses: number;
  /** Handshakes at a time. */
  readonly concurrency: number;
}

export function startHandshakeFlood(options: FloodOptions): HandshakeFlood {
  const { port, addresses, concurrency } = options;
  const sockets = new Set<TLSSocket>();
  const waiting = new Map<number, () => void>();
  let opened = 0;
  let completed = 0;
  let isStopped = false;

  function next(): void {
    if (isStopped) return;
    const source = opened % addresses;
    opened += 1;
    const localAddress = `127.99.${source >> 8}.${source & 255}`;
    const connection = connectTcp({ port, host: "127.0.0.1", localAddress });
    connection.on("error", () => undefined);
    const socket = connectTls({
      socket: connection,
      servername: hubServerName,
      ALPNProtocols: ["h2"],
      // It trusts anybody: it has not enrolled.
      rejectUnauthorized: false,
    });
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.once("secureConnect", () => {
      completed += 1;
      waiting.get(completed)?.();
      socket.destroy();
    });
    socket.once("close", () => {
      sockets.delete(socket);
      setImmediate(next);
    });
  }

  for (let index = 0; index < concurrency; index += 1) next();
  return {
    get completed() {
      return completed;
    },
    waitFor: (count) =>
      completed >= count
        ? Promise.resolve()
        : new Promise((resolve) => void waiting.set(count, resolve)),
    stop() {
      isStopped = true;
      for (const socket of sockets) socket.destroy();
    },
  };
}
