/** A watch: lines of JSON over one long response, as an async iterable with backpressure. */
import { AppError, commonErrors } from "../../runtime/errors/index.ts";
import { parseExact } from "../../text/json/index.ts";
import type { KubeObject } from "../objects/index.ts";
import type { StreamControl, StreamSink } from "./dispatch.ts";
import { createEventBuffer } from "./event-buffer.ts";
import { type RequestInfo, responseError, watchError } from "./response.ts";
import type { WatchEvent } from "./rest.ts";
import { badResponse } from "./transport.ts";

/** Beyond this many unread events the connection is paused. */
const highWaterMark = 1000;
/** Far beyond any object; a longer line is not a watch. */
const maxLineBytes = 64 * 1024 * 1024;
const newline = 0x0a;

/** Opens the stream on the first `next()`; leaving the loop ends it, and so does `signal` (without an error). */
export function watchStream<T extends KubeObject>(
  request: RequestInfo,
  signal: AbortSignal | undefined,
  open: (sink: StreamSink) => Promise<StreamControl>,
): AsyncIterable<WatchEvent<T>> {
  return { [Symbol.asyncIterator]: () => iterate(request, signal, open) };
}

function iterate<T extends KubeObject>(
  request: RequestInfo,
  signal: AbortSignal | undefined,
  open: (sink: StreamSink) => Promise<StreamControl>,
): AsyncIterator<WatchEvent<T>> {
  let control: StreamControl | undefined;
  let isOpened = false;
  const events = createEventBuffer<WatchEvent<T>>({
    highWaterMark,
    onFull: () => control?.pause(),
    onDrained: () => control?.resume(),
  });
  const cancelled = (): AppError =>
    new AppError(commonErrors.CANCELLED, `${request.what}: cancelled`);

  function end(error?: unknown): void {
    events.end(error === undefined || signal?.aborted === true ? undefined : AppError.from(error));
  }

  const sink = lineSink(request, {
    onLine(text) {
      try {
        events.push(parseLine(request, text));
      } catch (error) {
        // An invalid line is an error even if the signal has aborted.
        events.end(AppError.from(error));
        control?.abort(AppError.from(error));
      }
    },
    onEnd: end,
    isEnded: () => events.isEnded,
  });

  async function start(): Promise<void> {
    try {
      control = await open(sink);
      // It may have ended while it was being opened, by either side.
      if (events.isEnded) control.abort(cancelled());
    } catch (error) {
      end(error);
    }
  }

  return {
    next() {
      if (!isOpened) {
        isOpened = true;
        void start();
      }
      return events.next();
    },
    return() {
      events.discard();
      control?.abort(cancelled());
      return Promise.resolve({ done: true, value: undefined });
    },
  };
}

interface LineTaker {
  onLine(text: string): void;
  onEnd(error: AppError | undefined): void;
  isEnded(): boolean;
}

/** Cuts a stream into lines; a response that is not a success becomes its error. */
function lineSink(request: RequestInfo, taker: LineTaker): StreamSink {
  let status = 0;
  let retryAfter: string | undefined;
  let partial: Buffer[] = [];
  let partialBytes = 0;

  function keep(rest: Buffer): void {
    if (rest.length === 0) return;
    partial.push(rest);
    partialBytes += rest.length;
    if (partialBytes > maxLineBytes)
      taker.onEnd(
        badResponse(request, request.server, `a line of more than ${maxLineBytes} bytes`),
      );
  }

  function takePartial(): string {
    const text = Buffer.concat(partial).toString();
    partial = [];
    partialBytes = 0;
    return text;
  }

  return {
    onStatus(code, after) {
      status = code;
      retryAfter = after;
    },
    onData(chunk) {
      if (status !== 200) {
        keep(chunk);
        return;
      }
      // A chunk may end inside of a character, so only whole lines are decoded.
      let from = 0;
      for (let at = chunk.indexOf(newline); at >= 0; at = chunk.indexOf(newline, from)) {
        keep(chunk.subarray(from, at));
        const line = takePartial();
        from = at + 1;
        if (line !== "" && !taker.isEnded()) taker.onLine(line);
      }
      keep(chunk.subarray(from));
    },
    onEnd(error) {
      if (error !== undefined) taker.onEnd(error);
      else if (status !== 200)
        taker.onEnd(responseError(request, { status, retryAfter, text: takePartial() }));
      else taker.onEnd(undefined);
    },
  };
}

interface Line {
  readonly type: unknown;
  readonly object: unknown;
}

function parseLine<T extends KubeObject>(request: RequestInfo, text: string): WatchEvent<T> {
  const line = parseJson(request, text);
  switch (line.type) {
    case "ADDED":
    case "MODIFIED":
    case "DELETED":
      return { type: line.type, object: objectIn<T>(request, line.object) };
    case "BOOKMARK":
      return {
        type: "BOOKMARK",
        resourceVersion: objectIn(request, line.object).metadata.resourceVersion ?? "",
      };
    case "ERROR":
      throw watchError(request, line.object);
    default:
      throw badResponse(request, request.server, "a line of an unknown type");
  }
}

function parseJson(request: RequestInfo, text: string): Line {
  try {
    const parsed = parseExact(text);
    if (typeof parsed === "object" && parsed !== null && "type" in parsed && "object" in parsed)
      return parsed;
  } catch (error) {
    const problem = `a line of ${text.length} characters that is not JSON`;
    throw badResponse(request, request.server, problem, error);
  }
  throw badResponse(request, request.server, "a line that is not an event");
}

function objectIn<T extends KubeObject>(request: RequestInfo, object: unknown): T {
  if (
    typeof object === "object" &&
    object !== null &&
    "metadata" in object &&
    typeof object.metadata === "object" &&
    object.metadata !== null
  ) {
    // The server's objects of a resource have its type.
    return object as T;
  }
  throw badResponse(request, request.server, "an event without an object");
}
