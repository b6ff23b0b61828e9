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

export function createSendQueue<M>(options: SendQueueOptions<M>): SendQueue<M> {
  return new Queue(options);
}

/** A class, because each agent has one, and an object with a getter of its own takes several times as much memory. */
class Queue<M> implements SendQueue<M> {
  readonly #options: SendQueueOptions<M>;
  readonly #queued = new Map<string, MakeMessage<M>>();
  readonly #bulk = new Map<string, MakeMessage<M>>();
  #observers: (() => void)[] = [];
  #isRunning = false;
  #isClosed = false;

  constructor(options: SendQueueOptions<M>) {
    this.#options = options;
  }

  get size(): number {
    return this.#queued.size + this.#bulk.size;
  }

  put(key: string, make: MakeMessage<M>): void {
    this.#putInto(this.#queued, key, make);
  }

  putBulk(key: string, make: MakeMessage<M>): void {
    this.#putInto(this.#bulk, key, make);
  }

  idle(): Promise<void> {
    return this.#isRunning
      ? new Promise((resolve) => void this.#observers.push(resolve))
      : Promise.resolve();
  }

  close(): void {
    this.#isClosed = true;
    this.#queued.clear();
    this.#bulk.clear();
  }

  #putInto(messages: Map<string, MakeMessage<M>>, key: string, make: MakeMessage<M>): void {
    if (this.#isClosed) return;
    messages.set(key, make);
    if (!this.#isRunning) void this.#run();
  }

  #take(): MakeMessage<M> | undefined {
    for (const messages of [this.#queued, this.#bulk])
      for (const [key, make] of messages) {
        messages.delete(key);
        return make;
      }
    return undefined;
  }

  /** Never rejects. */
  async #run(): Promise<void> {
    this.#isRunning = true;
    try {
      for (let make = this.#take(); make !== undefined; make = this.#take()) {
        const message = await make();
        if (this.#isClosed) return;
        if (message !== undefined) await this.#options.send(message);
      }
    } catch (thrown) {
      if (!this.#isClosed) {
        this.close();
        this.#options.onError(thrown);
      }
    } finally {
      this.#isRunning = false;
      for (const resolve of this.#observers) resolve();
      this.#observers = [];
    }
  }
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
