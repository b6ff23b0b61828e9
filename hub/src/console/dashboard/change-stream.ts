/**
 * Server-sent events with the changes of the fleet. Changes are sent at once when there were none for a while, and otherwise
 * together, a few times a second: viewers with the same rights and the same position get the same bytes. A viewer whose
 * connection is slow gets nothing until it has received what was sent, and then the changes since.
 */

import type { ServerResponse } from "node:http";
import { heartbeatMs, streamEvents } from "@flotilla/shared/dashboard";
import { AppError } from "@flotilla/shared/errors";
import type { Clock, Timer } from "@flotilla/shared/time";
import { hubErrors } from "../../base/index.ts";
import type { Scope } from "../access/scope.ts";
import type { FleetView } from "../fleetview/index.ts";
import { formatPosition, parsePosition } from "./position.ts";

export interface Viewer {
  readonly response: ServerResponse;
  readonly session: StreamSession;
  /** What it may see now; undefined if its session has ended. Rejects if that cannot be reviewed now. */
  readonly scope: () => Promise<Scope | undefined>;
  /** The last position that it has, as a text of `formatPosition`; absent: none. */
  readonly after: string | undefined;
}

export interface StreamSession {
  /** Whose it is: a user may have any number of sessions. */
  readonly user: string;
  readonly expiresAtMs: number;
}

export interface ChangeStreamsDeps {
  readonly view: Pick<FleetView, "position" | "changesSince" | "onChange">;
  /** The epoch of this process: another one has other positions. */
  readonly epoch: string;
  readonly clock: Clock;
}

/** Between two messages to a viewer. */
const batchMs = 250;
/** Between two reviews of the rights of a viewer, whose answers may come from a cache. */
const reviewMs = 10_000;
/** The limit of one user: tabs, and those that browsers have not closed yet. */
export const maxStreams = 50;

interface Stream {
  readonly response: ServerResponse;
  readonly user: string;
  scope: Scope;
  position: number;
}

export function createChangeStreams({ view, epoch, clock }: ChangeStreamsDeps) {
  const streams = new Map<Stream, () => void>();
  let timer: Timer | undefined;
  let sentAt = Number.NEGATIVE_INFINITY;

  function schedule(): void {
    if (timer !== undefined || streams.size === 0) return;
    const waitMs = Math.max(0, sentAt + batchMs - clock.monotonic());
    timer = clock.setTimeout(sendAll, waitMs);
  }

  function sendAll(): void {
    timer = undefined;
    sentAt = clock.monotonic();
    const messages = new Map<string, string>();
    for (const stream of streams.keys()) {
      const { response, scope, position } = stream;
      if (position === view.position || response.writableNeedDrain) continue;
      const id = `${position} ${scope.key}`;
      const message = messages.get(id) ?? messageSince(position, scope);
      messages.set(id, message);
      stream.position = view.position;
      if (message !== "") response.write(message);
    }
  }

  /** "" if nothing that the viewer may see has changed. */
  function messageSince(position: number, scope: Scope): string {
    const changes = view.changesSince(position, scope);
    if (changes === undefined) return `event: ${streamEvents.reset}\ndata: {}\n\n`;
    if (changes.length === 0) return "";
    const id = formatPosition(epoch, view.position);
    return `id: ${id}\nevent: ${streamEvents.changes}\ndata: ${JSON.stringify(changes)}\n\n`;
  }

  const unlisten = view.onChange(schedule);

  return {
    get viewers(): number {
      return streams.size;
    },
    /** Streams until the viewer disconnects or its session ends. Throws STREAMS_LIMITED. */
    open({ response, session, scope: currentScope, after }: Viewer, scope: Scope): void {
      const own = [...streams.keys()].filter(({ user }) => user === session.user);
      if (own.length >= maxStreams) throw limited();
      response.writeHead(200, {
        "content-type": "text/event-stream",
        "cache-control": "no-store",
        // For proxies that would collect the whole answer.
        "x-accel-buffering": "no",
      });
      const from = after === undefined ? undefined : parsePosition(after);
      const isKnown = from?.epoch === epoch;
      const position = isKnown ? from.position : view.position;
      const stream: Stream = { response, scope, position, user: session.user };
      response.write(
        isKnown || after === undefined
          ? ": connected\n\n"
          : `event: ${streamEvents.reset}\ndata: {}\n\n`,
      );

      const heartbeat = every(clock, heartbeatMs, () => {
        if (!response.writableNeedDrain) response.write(": alive\n\n");
      });
      const review = every(clock, reviewMs, () => {
        currentScope().then(
          (next) => {
            if (!streams.has(stream)) return;
            if (next === undefined) end();
            else if (next.key !== stream.scope.key) {
              stream.scope = next;
              stream.position = view.position;
              response.write(`event: ${streamEvents.reset}\ndata: {}\n\n`);
            }
          },
          // The API server does not answer: without a review nothing more is sent.
          end,
        );
      });
      const expiry = clock.setTimeout(end, session.expiresAtMs - clock.now());
      function remove(): void {
        for (const timer of [heartbeat, review, expiry]) timer.cancel();
        streams.delete(stream);
      }
      function end(): void {
        remove();
        response.end();
      }
      streams.set(stream, end);
      response.on("drain", schedule);
      response.once("close", remove);
      schedule();
    },
    close(): void {
      unlisten();
      timer?.cancel();
      for (const end of streams.values()) end();
    },
  };
}

function limited(): AppError {
  return new AppError(
    hubErrors.STREAMS_LIMITED,
    `this user has ${maxStreams} open streams of changes; close other tabs of the dashboard`,
  );
}

function every(clock: Clock, periodMs: number, run: () => void): Timer {
  let timer = clock.setTimeout(next, periodMs);
  function next(): void {
    timer = clock.setTimeout(next, periodMs);
    run();
  }
  return { cancel: () => timer.cancel() };
}
