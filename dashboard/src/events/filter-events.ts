/** Which of the recent events a page shows, as its address has it. Pure. */
import type { FleetEvent } from "@flotilla/shared/dashboard";

export interface EventFilter {
  /** Words, all of which occur. */
  readonly text: string;
  /** `Normal` or `Warning`; "": both. */
  readonly type: string;
  readonly namespace: string;
}

export function filterEvents(
  events: readonly FleetEvent[],
  { text, type, namespace }: EventFilter,
): readonly FleetEvent[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return events.filter((event) => {
    if (type !== "" && event.type !== type) return false;
    if (namespace !== "" && event.namespace !== namespace) return false;
    const all = `${event.kind} ${event.namespace}/${event.name} ${event.reason} ${event.message}`;
    return words.every((word) => all.toLowerCase().includes(word));
  });
}
