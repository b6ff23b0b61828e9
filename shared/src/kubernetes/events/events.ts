/**
 * Records Kubernetes Events, which `kubectl describe` shows. Best effort: recording never fails and never waits, repeated events
 * become a series with a count, and events beyond a limit are dropped.
 */
import { randomBytes } from "node:crypto";
import { AppError } from "../../runtime/errors/index.ts";
import type { Log } from "../../runtime/log/index.ts";
import { type Clock, formatMicroTime, systemClock } from "../../runtime/time/index.ts";
import { isNotFound, type KubeRest } from "../client/index.ts";
import { type Event, events, type KubeObject, keyOf, type ObjectRef } from "../objects/index.ts";

export interface EventNote {
  readonly type: "Normal" | "Warning";
  /** Why: one CamelCase word, for programs. */
  readonly reason: string;
  /** What was done: one CamelCase word, for programs. */
  readonly action: string;
  /** For people. */
  readonly note: string;
  /**
   * More of the event: keys with the API group of the object as prefix, such as `fleet.cattle.io/revision`. Annotations of the Event,
   * and metadata of notifications.
   */
  readonly metadata?: Readonly<Record<string, string>>;
}

export interface EventRecorder {
  /** `regarding` needs its apiVersion and kind, as objects from the API server have them here. */
  record(regarding: KubeObject, event: EventNote): void;
  /** Resolves when what was recorded so far was sent or dropped. */
  flush(): Promise<void>;
}

export interface EventRecorderOptions {
  readonly rest: KubeRest;
  /** The reporting controller, such as `flotilla.dev/hub`. */
  readonly controller: string;
  /** The reporting instance: one process of the controller. */
  readonly instance: string;
  readonly log: Log;
  readonly clock?: Clock;
}

/** An event that was sent, and how often it was repeated. */
interface Series {
  readonly ref: Required<ObjectRef>;
  readonly expiresAt: number;
  count: number;
  /** When the count was last sent. */
  sentAt: number;
}

/** The same event within this time is part of the series. */
const seriesMs = 6 * 60_000;
/** The count of a series is sent at most this often. */
const countEveryMs = 60_000;
const seriesKept = 1000;
const maxPending = 200;
/** The API takes 1024. */
const maxNoteBytes = 1000;
const maxWordLength = 128;

export function createEventRecorder(options: EventRecorderOptions): EventRecorder {
  const { rest, log, clock = systemClock } = options;
  const known = new Map<string, Series>();
  /** One request at a time: events are never urgent. */
  let sending: Promise<void> = Promise.resolve();
  let pending = 0;

  function enqueue(send: () => Promise<unknown>): void {
    if (pending >= maxPending) return;
    pending++;
    sending = sending.then(async () => {
      try {
        await send();
      } catch (error) {
        // For instance in a namespace that is being deleted.
        log.debug({ err: AppError.from(error) }, "event not recorded");
      } finally {
        pending--;
      }
    });
  }

  function remember(key: string, ref: Required<ObjectRef>): void {
    const now = clock.monotonic();
    known.delete(key);
    known.set(key, { ref, expiresAt: now + seriesMs, count: 1, sentAt: now });
    for (const [oldKey, old] of known) {
      if (known.size <= seriesKept && old.expiresAt > now) break;
      known.delete(oldKey);
    }
  }

  function repeat(key: string, series: Series): void {
    series.count++;
    const now = clock.monotonic();
    if (series.count > 2 && now - series.sentAt < countEveryMs) return;
    series.sentAt = now;
    const body = {
      series: { count: series.count, lastObservedTime: formatMicroTime(clock.now()) },
    };
    enqueue(async () => {
      try {
        await rest.patch(events, series.ref, { type: "merge", body });
      } catch (error) {
        // The server keeps events for an hour or less: the next one starts a new series.
        if (isNotFound(error)) known.delete(key);
        throw error;
      }
    });
  }

  return {
    record(regarding, note) {
      const key = [
        regarding.metadata.uid ?? keyOf(regarding),
        note.type,
        note.reason,
        note.action,
        note.note,
      ].join("\n");
      const series = known.get(key);
      if (series !== undefined && series.expiresAt > clock.monotonic()) {
        repeat(key, series);
        return;
      }
      const event = eventOf(regarding, note, options, clock.now());
      remember(key, {
        namespace: event.metadata.namespace ?? "default",
        name: event.metadata.name,
      });
      enqueue(() => rest.create(events, event));
    },
    flush: () => sending,
  };
}

function eventOf(
  regarding: KubeObject,
  note: EventNote,
  from: EventRecorderOptions,
  nowMs: number,
): Event {
  const { name, namespace, uid, resourceVersion } = regarding.metadata;
  const suffix = randomBytes(8).toString("hex");
  return {
    // Events of cluster-scoped objects live in `default`.
    metadata: {
      name: `${name.slice(0, 236)}.${suffix}`,
      namespace: namespace ?? "default",
      ...(note.metadata !== undefined && { annotations: note.metadata }),
    },
    eventTime: formatMicroTime(nowMs),
    reportingController: from.controller,
    reportingInstance: from.instance.slice(0, maxWordLength),
    type: note.type,
    reason: note.reason.slice(0, maxWordLength),
    action: note.action.slice(0, maxWordLength),
    note: shorten(note.note),
    regarding: {
      name,
      ...(regarding.apiVersion === undefined ? {} : { apiVersion: regarding.apiVersion }),
      ...(regarding.kind === undefined ? {} : { kind: regarding.kind }),
      ...(namespace === undefined ? {} : { namespace }),
      ...(uid === undefined ? {} : { uid }),
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
    },
  };
}

function shorten(note: string): string {
  if (Buffer.byteLength(note) <= maxNoteBytes) return note;
  // The cut may be inside of a character, which decodes as U+FFFD.
  return `${Buffer.from(note)
    .subarray(0, maxNoteBytes)
    .toString()
    .replace(/\uFFFD$/, "")}…`;
}
