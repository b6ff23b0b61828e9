/**
 * What one side has yet to send on a stream, by key: the latest of a key replaces what still waits, in its place, so
 * that a peer which reads slowly costs one entry for each key and no more. A message is made only when it is its turn.
 */
import type { Writable } from "node:stream";

export interface SendQueueOptions<M> {
  /** Resolves when the stream has taken the message and wants another. */
  readonly send: (message: M) => Promise<void>;
  /** Called once, when `send` or a `make` fails; nothing is sent after it. */
  readonly onError: (thrown: unknown) => void;
}

/** Makes a message when it is its turn; `undefined` when there is nothing to say by then. */
export type MakeMessage<M> = () => M | undefined | Promise<M | undefined>;

export interface SendQueue<M> {
  /** How many keys wait. */
  readonly size: number;
  put(key: string, make: MakeMessage<M>): void;
  /** Resolves when nothing waits and nothing is on its way. */
  idle(): Promise<void>;
  /** Sends nothing more and forgets what waits. */
  close(): void;
}

export function createSendQueue<M>({ send, onError }: SendQueueOptions<M>): SendQueue<M> {
  const waiting = new Map<string, MakeMessage<M>>();
  let observers: (() => void)[] = [];
  let isRunning = false;
  let isClosed = false;

  /** Never rejects. */
  async function pump(): Promise<void> {
    isRunning = true;
    try {
      for (const [key, make] of waiting) {
        waiting.delete(key);
        const message = await make();
        if (isClosed) return;
        if (message !== undefined) await send(message);
      }
    } catch (thrown) {
      if (!isClosed) {
        close();
        onError(thrown);
      }
    } finally {
      isRunning = false;
      for (const resolve of observers) resolve();
      observers = [];
    }
  }

  function close(): void {
    isClosed = true;
    waiting.clear();
  }

  return {
    get size() {
      return waiting.size;
    },
    put(key, make) {
      if (isClosed) return;
      waiting.set(key, make);
      if (!isRunning) void pump();
    },
    idle: () =>
      isRunning ? new Promise((resolve) => void observers.push(resolve)) : Promise.resolve(),
    close,
  };
}

/** Writes one message to a stream of grpc-js; resolves once it has left, which is when the peer has room for it. */
export function writeMessage<M>(stream: Writable, message: M): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.write(message, (error) => {
      if (error instanceof Error) reject(error);
      else resolve();
    });
  });
}
