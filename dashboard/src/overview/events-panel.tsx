/** What happened last, as the hub has recorded it. */
import { Link } from "wouter";
import { pageOf } from "../address/index.ts";
import { useFleet } from "../fleet/index.ts";
import { Ago } from "../time/index.ts";

const shownEvents = 15;

export function EventsPanel() {
  const events = useFleet().events.slice(0, shownEvents);
  return (
    <section className="card" aria-labelledby="events-title">
      <div className="panel-head">
        <h2 id="events-title">Recent events</h2>
        <Link href="/events">All events</Link>
      </div>
      {events.length === 0 && <p className="soft">Nothing in the last hour.</p>}
      <ul className="events">
        {events.map((event) => (
          <li key={event.id} className="event">
            <span className="event-time soft">
              <Ago at={event.time} />
            </span>
            <Link href={pageOf(event)}>
              {event.kind} {event.name}
            </Link>
            <span className={event.type === "Warning" ? "event-warning" : ""}>{event.reason}</span>
            <span className="event-message soft" title={event.message}>
              {event.message}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}
