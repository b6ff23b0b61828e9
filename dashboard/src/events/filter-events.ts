/** Which of the recent events a page shows, as its address has it. Pure. */
import type { FleetEvent } from "@flotilla/shared/dashboard";
import { matchesText } from "../text/index.ts";

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
  return events.filter((event) => {
    if (type !== "" && event.type !== type) return false;
    if (namespace !== "" && event.namespace !== namespace) return false;
    const { kind, name, reason, message } = event;
    return matchesText([kind, `${event.namespace}/${name}`, reason, message], text);
  });
}
