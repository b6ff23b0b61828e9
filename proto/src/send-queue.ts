/**
 * The messages that one side still has to send on a stream, by key. A newer message replaces the queued one of its key, so a
 * slow peer costs one entry for each key. A message is built only when it is sent. Bulk, such as the chunks of an answer, is
 * sent when nothing else is queued.
 */
import type { Writable } from "node:stream";

export interface SendQueueOptions<M> {
  /** Resolves when the stream has taken the message and accepts another. */
  readonly send: (message: M) => Promise<void>;
  /** Called once, when `send` or a `make` fails; nothing is sent after it. */
  readonly onError: (thrown: unknown) => void;
}

/** Builds a message when it is sent; `undefined`: there is nothing to send any more. */
export type MakeMessage<M> = () => M | undefined | Promise<M | undefined>;

export interface SendQueue<M> {
  /** The number of queued keys. */
  readonly size: number;
  put(key: string, make: MakeMessage<M>): void;
  /** As `put`, and any message that is put later without this is sent before it. */
  putBulk(key: string, make: MakeMessage<M>): void;
  /** Resolves when the queue is empty and nothing is being sent. */
  idle(): Promise<void>;
  /** Drops the queue; nothing more is sent. */
  close(): void;
}

export function createSendQueue<M>({ send, onError }: SendQueueOptions<M>): SendQueue<M> {
  const queued = new Map<string, MakeMessage<M>>();
  const bulk = new Map<string, MakeMessage<M>>();
  let observers: (() => void)[] = [];
  let isRunning = false;
  let isClosed = false;

  function take(): MakeMessage<M> | undefined {
    for (const messages of [queued, bulk])
      for (const [key, make] of messages) {
        messages.delete(key);
        return make;
      }
    return undefined;
  }

  /** Never rejects. */
  async function run(): Promise<void> {
    isRunning = true;
    try {
      for (let make = take(); make !== undefined; make = take()) {
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
    queued.clear();
    bulk.clear();
  }

  function putInto(messages: Map<string, MakeMessage<M>>, key: string, make: MakeMessage<M>) {
    if (isClosed) return;
    messages.set(key, make);
    if (!isRunning) void run();
  }

  return {
    get size() {
      return queued.size + bulk.size;
    },
    put: (key, make) => putInto(queued, key, make),
    putBulk: (key, make) => putInto(bulk, key, make),
    idle: () =>
      isRunning ? new Promise((resolve) => void observers.push(resolve)) : Promise.resolve(),
    close,
  };
}

/** Writes a message to a stream of grpc-js; resolves once it was flushed, which respects the peer's flow control. */
export function writeMessage<M>(stream: Writable, message: M): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.write(message, (error) => {
      if (error instanceof Error) reject(error);
      else resolve();
    });
  });
}
