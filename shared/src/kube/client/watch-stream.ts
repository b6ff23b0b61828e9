/** A watch: lines of JSON over one long answer, as an async iterable with backpressure. */
import { AppError, commonErrors } from "../../errors/app-error.ts";
import { parseExact } from "../../json/exact.ts";
import type { KubeObject } from "../objects/object.ts";
import type { StreamControl, StreamSink } from "./dispatch.ts";
import { type RequestInfo, responseError, watchError } from "./response.ts";
import type { WatchEvent } from "./rest.ts";
import { badResponse } from "./transport.ts";

/** Beyond this many events that nobody has taken the connection is not read any further. */
const highWater = 1000;
/** Far beyond any object; what is longer is not a watch. */
const maxLineBytes = 64 * 1024 * 1024;
const newline = 0x0a;

interface Line {
  readonly type: unknown;
  readonly object: unknown;
}

/** Opens the stream on the first `next()`; leaving the loop ends it, as does `signal` (silently). */
export function watchStream<T extends KubeObject>(
  asked: RequestInfo,
  signal: AbortSignal | undefined,
  open: (sink: StreamSink) => Promise<StreamControl>,
): AsyncIterable<WatchEvent<T>> {
  return { [Symbol.asyncIterator]: () => iterate(asked, signal, open) };
}

function iterate<T extends KubeObject>(
  asked: RequestInfo,
  signal: AbortSignal | undefined,
  open: (sink: StreamSink) => Promise<StreamControl>,
): AsyncIterator<WatchEvent<T>> {
  let control: StreamControl | undefined;
  let events: WatchEvent<T>[] = [];
  let taken = 0;
  let waiting:
    | { resolve(result: IteratorResult<WatchEvent<T>>): void; reject(error: unknown): void }
    | undefined;
  let ended = false;
  let failure: unknown;
  let paused = false;

  /** No events come after this; those that came are still handed out. */
  function end(error?: unknown): void {
    if (ended) return;
    ended = true;
    failure = error;
    if (waiting === undefined) return;
    const { resolve, reject } = waiting;
    waiting = undefined;
    if (error === undefined) resolve({ done: true, value: undefined });
    else {
      failure = undefined;
      reject(error);
    }
  }

  function stop(reason: AppError): void {
    end(signal?.aborted === true ? undefined : reason);
    control?.abort(reason);
  }

  function push(event: WatchEvent<T>): void {
    if (waiting !== undefined) {
      const { resolve } = waiting;
      waiting = undefined;
      resolve({ done: false, value: event });
      return;
    }
    events.push(event);
    if (!paused && events.length - taken >= highWater) {
      paused = true;
      control?.pause();
    }
  }

  const sink = lineSink(asked, {
    onLine(text) {
      try {
        push(parseLine(asked, text));
      } catch (error) {
        end(error);
        control?.abort(AppError.from(error));
      }
    },
    onEnd: (error) => end(signal?.aborted === true ? undefined : error),
    isEnded: () => ended,
  });

  async function start(): Promise<void> {
    try {
      control = await open(sink);
      // The stream may have ended while it was being opened, by us or by the server.
      if (ended) control.abort(new AppError(commonErrors.CANCELLED, `${asked.what}: given up`));
    } catch (error) {
      end(signal?.aborted === true ? undefined : error);
    }
  }

  let isOpened = false;

  return {
    next() {
      if (!isOpened) {
        isOpened = true;
        void start();
      }
      const event = events[taken];
      if (event !== undefined) {
        taken++;
        if (taken === events.length) {
          events = [];
          taken = 0;
          if (paused) {
            paused = false;
            control?.resume();
          }
        }
        return Promise.resolve({ done: false, value: event });
      }
      if (failure !== undefined) {
        const error = failure;
        failure = undefined;
        return Promise.reject(AppError.from(error));
      }
      if (ended) return Promise.resolve({ done: true, value: undefined });
      return new Promise((resolve, reject) => {
        waiting = { resolve, reject };
      });
    },
    return() {
      events = [];
      taken = 0;
      end();
      stop(new AppError(commonErrors.CANCELLED, `${asked.what}: no longer wanted`));
      return Promise.resolve({ done: true, value: undefined });
    },
  };
}

interface LineTaker {
  onLine(text: string): void;
  onEnd(error: unknown): void;
  isEnded(): boolean;
}

/** Cuts a stream into lines; an answer that is not a success becomes its error. */
function lineSink(asked: RequestInfo, taker: LineTaker): StreamSink {
  let status = 0;
  let retryAfter: string | undefined;
  let partial: Buffer[] = [];
  let partialBytes = 0;

  function keep(rest: Buffer): void {
    if (rest.length === 0) return;
    partial.push(rest);
    partialBytes += rest.length;
    if (partialBytes > maxLineBytes)
      taker.onEnd(badResponse(asked, asked.server, `a line of more than ${maxLineBytes} bytes`));
  }

  /** What has come of the line that is not complete, with `last` behind it. */
  function takePartial(last: string): string {
    if (partial.length === 0) return last;
    const text = Buffer.concat(partial).toString() + last;
    partial = [];
    partialBytes = 0;
    return text;
  }

  return {
    onStatus(answered, after) {
      status = answered;
      retryAfter = after;
    },
    onData(chunk) {
      if (status !== 200) {
        keep(chunk);
        return;
      }
      // A line may end within a chunk that began within a character, so only whole lines are decoded.
      let from = 0;
      for (let at = chunk.indexOf(newline); at >= 0; at = chunk.indexOf(newline, from)) {
        keep(chunk.subarray(from, at));
        const line = takePartial("");
        from = at + 1;
        if (line !== "" && !taker.isEnded()) taker.onLine(line);
      }
      keep(chunk.subarray(from));
    },
    onEnd(error) {
      if (error !== undefined) taker.onEnd(error);
      else if (status !== 200)
        taker.onEnd(responseError(asked, { status, retryAfter, text: takePartial("") }));
      else taker.onEnd(undefined);
    },
  };
}

function parseLine<T extends KubeObject>(asked: RequestInfo, text: string): WatchEvent<T> {
  const line = parseJson(asked, text);
  switch (line.type) {
    case "ADDED":
    case "MODIFIED":
    case "DELETED":
      return { type: line.type, object: objectIn<T>(asked, line.object) };
    case "BOOKMARK":
      return {
        type: "BOOKMARK",
        resourceVersion: objectIn(asked, line.object).metadata.resourceVersion ?? "",
      };
    case "ERROR":
      throw watchError(asked, line.object);
    default:
      throw badResponse(asked, asked.server, "a line of a type that is not known");
  }
}

function parseJson(asked: RequestInfo, text: string): Line {
  try {
    const parsed = parseExact(text);
    if (typeof parsed === "object" && parsed !== null && "type" in parsed && "object" in parsed)
      return parsed;
  } catch (error) {
    throw badResponse(
      asked,
      asked.server,
      `a line of ${text.length} characters that is not JSON`,
      error,
    );
  }
  throw badResponse(asked, asked.server, "a line that is not an event");
}

function objectIn<T extends KubeObject>(asked: RequestInfo, object: unknown): T {
  if (
    typeof object === "object" &&
    object !== null &&
    "metadata" in object &&
    typeof object.metadata === "object" &&
    object.metadata !== null
  ) {
    // The type of what an API server stores under a kind is what the kind's handle promises.
    return object as T;
  }
  throw badResponse(asked, asked.server, "an event without an object");
}
