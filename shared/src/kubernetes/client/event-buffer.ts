/** Events between a stream that pushes them and one reader that awaits them, with backpressure. */

export interface EventBuffer<E> {
  readonly isEnded: boolean;
  push(event: E): void;
  /** No events follow; the reader still gets those that were pushed, then the error or the end. Counts once. */
  end(error?: Error): void;
  /** The next event. To be called again only after it has settled. */
  next(): Promise<IteratorResult<E, undefined>>;
  /** Ends it, and drops what was not read. */
  discard(): void;
}

export interface EventBufferOptions {
  /** How many unread events call `onFull`; `onDrained` follows when all were read. */
  readonly highWaterMark: number;
  readonly onFull: () => void;
  readonly onDrained: () => void;
}

const done = { done: true, value: undefined } as const;

export function createEventBuffer<E>(options: EventBufferOptions): EventBuffer<E> {
  let unread: E[] = [];
  /** How many of `unread` were read: shifting a long array for each event would be slow. */
  let read = 0;
  let isFull = false;
  let isEnded = false;
  let failure: Error | undefined;
  let reader: PromiseWithResolvers<IteratorResult<E, undefined>> | undefined;

  /** The reader gets an error once, and the end after it. */
  function result(): Promise<IteratorResult<E, undefined>> {
    const error = failure;
    failure = undefined;
    return error === undefined ? Promise.resolve(done) : Promise.reject(error);
  }

  function end(error?: Error): void {
    if (isEnded) return;
    isEnded = true;
    failure = error;
    reader?.resolve(result());
    reader = undefined;
  }

  return {
    get isEnded() {
      return isEnded;
    },
    push(event) {
      if (reader !== undefined) {
        reader.resolve({ done: false, value: event });
        reader = undefined;
        return;
      }
      unread.push(event);
      if (isFull || unread.length - read < options.highWaterMark) return;
      isFull = true;
      options.onFull();
    },
    end,
    next() {
      const event = unread[read];
      if (event === undefined) {
        if (isEnded) return result();
        reader = Promise.withResolvers();
        return reader.promise;
      }
      read += 1;
      if (read === unread.length) {
        unread = [];
        read = 0;
        if (isFull) {
          isFull = false;
          options.onDrained();
        }
      }
      return Promise.resolve({ done: false, value: event });
    },
    discard() {
      unread = [];
      read = 0;
      end();
    },
  };
}
