/** The Events of the objects of the release. */
import { entriesOf } from "../api/index.ts";
import { Shown, useAnswer } from "../requests/index.ts";
import { Ago } from "../time/index.ts";
import type { TabProps } from "./tab-props.ts";

interface ClusterEvent {
  readonly time: string;
  readonly type: string;
  readonly reason: string;
  readonly message: string;
  readonly count: number;
  readonly object: { readonly kind: string; readonly namespace: string; readonly name: string };
}

export function EventsTab({ path, change }: TabProps) {
  const answer = useAnswer(`${path}/events`, change);
  const events = entriesOf<ClusterEvent>(answer.text);
  return (
    <Shown answer={answer}>
      {answer.isComplete && answer.problem === undefined && events.length === 0 && (
        <p>There are no events on its objects in the last hour.</p>
      )}
      <ul className="conditions">
        {events.map(({ time, type, reason, message, count, object }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: events have no other identity, and none moves
          <li key={index} className="condition">
            <strong className={type === "Warning" ? "event-warning" : ""}>
              {reason}
              {count > 1 && ` (${count} times)`}
            </strong>
            <span className="soft">
              {object.kind} {object.name} <Ago at={time} />
            </span>
            <p>{message}</p>
          </li>
        ))}
      </ul>
    </Shown>
  );
}
