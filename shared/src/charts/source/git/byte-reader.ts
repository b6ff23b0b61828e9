/** Reads exact numbers of bytes from a socket, for the first messages of a protocol. */
import type { Socket } from "node:net";

export interface ReadBytes {
  /** Rejects when the connection ends or the time is over. */
  (count: number): Promise<Buffer>;
  /** Gives the socket back, with what was received beyond. */
  release(): void;
}

export function createByteReader(socket: Socket, timeoutMs: number): ReadBytes {
  let received = Buffer.alloc(0);
  let waiting: (() => void) | undefined;
  let problem: Error | undefined;

  function onData(chunk: Buffer): void {
    received = Buffer.concat([received, chunk]);
    waiting?.();
  }
  function fail(error: Error): void {
    problem ??= error;
    waiting?.();
  }
  const onClose = (): void => fail(new Error("the connection was closed"));
  const timer = setTimeout(() => fail(new Error("no answer in time")), timeoutMs);
  timer.unref();
  socket.on("data", onData).on("error", fail).on("close", onClose);

  async function read(count: number): Promise<Buffer> {
    while (received.length < count) {
      if (problem !== undefined) throw problem;
      await new Promise<void>((resolve) => {
        waiting = resolve;
      });
    }
    const bytes = received.subarray(0, count);
    received = received.subarray(count);
    return bytes;
  }

  return Object.assign(read, {
    release() {
      clearTimeout(timer);
      socket.off("data", onData).off("error", fail).off("close", onClose);
      socket.pause();
      if (received.length > 0) socket.unshift(received);
    },
  });
}
