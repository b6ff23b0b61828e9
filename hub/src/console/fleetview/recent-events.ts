/** The newest Events of the hub's own objects. They expire on the API server after an hour, as all Events do. */
import type { FleetEvent } from "@flotilla/shared/dashboard";
import type { Event } from "@flotilla/shared/kube/objects";

/** Undefined for one that does not say what it is about. Pure. */
export function eventOf(event: Event): FleetEvent | undefined {
  const { metadata, type, reason = "", note = "", regarding, series, eventTime } = event;
  const { kind, namespace, name } = regarding ?? {};
  const time = series?.lastObservedTime || eventTime || metadata.creationTimestamp;
  if (!kind || !name || !time || metadata.uid === undefined) return undefined;
  return {
    id: metadata.uid,
    time: String(time),
    type: type === "Warning" ? "Warning" : "Normal",
    reason,
    message: note,
    kind,
    namespace: namespace ?? "",
    name,
    count: series?.count ?? 1,
  };
}

/** Only what is shown, so that the cache stays small: it has all events of the last hour. */
export function shownPart({ apiVersion, kind, metadata, ...event }: Event): Event {
  const { type, reason, note, regarding, series, eventTime } = event;
  const { name, namespace, uid, resourceVersion, creationTimestamp } = metadata;
  return {
    apiVersion,
    kind,
    metadata: { name, namespace, uid, resourceVersion, creationTimestamp },
    type,
    reason,
    note,
    series,
    eventTime,
    regarding: {
      kind: regarding?.kind,
      namespace: regarding?.namespace,
      name: regarding?.name,
    },
  } as Event;
}

/** Newest first, at most `max`. Pure. */
export function newestOf(events: Iterable<FleetEvent>, max: number): readonly FleetEvent[] {
  return [...events].sort((one, other) => (one.time < other.time ? 1 : -1)).slice(0, max);
}
