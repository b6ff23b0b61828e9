/** What changed, when, and by whom: the events of the last hour, as the API server keeps them. */
import type { FleetEvent } from "@flotilla/shared/dashboard";
import { useMemo } from "react";
import { Link } from "wouter";
import { pageOf, useParameter } from "../address/index.ts";
import { usePageTitle } from "../detail/index.ts";
import { NamespaceField, SearchField, SelectField } from "../field/index.ts";
import { useFleet } from "../fleet/index.ts";
import { type Column, VirtualTable } from "../list/index.ts";
import { Ago } from "../time/index.ts";
import { filterEvents } from "./filter-events.ts";

const columns: readonly Column<FleetEvent>[] = [
  {
    name: "When",
    width: 5,
    cell: ({ time }) => <Ago at={time} />,
    sortBy: ({ time }) => -Date.parse(time),
  },
  {
    name: "Object",
    width: 12,
    grow: 1,
    narrow: "line",
    cell: (event) => (
      <Link href={pageOf(event)} title={`${event.namespace}/${event.name}`}>
        <span className="soft">{event.kind}</span> {event.name}
      </Link>
    ),
    sortBy: ({ kind, name }) => `${kind} ${name}`,
  },
  {
    name: "Reason",
    width: 12,
    cell: Reason,
    sortBy: ({ reason }) => reason,
  },
  { name: "Times", width: 3.5, cell: ({ count }) => count, sortBy: ({ count }) => count },
  {
    name: "Message",
    width: 14,
    grow: 4,
    narrow: "below",
    cell: ({ message }) => <span title={message}>{message}</span>,
    // Reasons may be as long as the line of the name.
    narrowCell: (event) => (
      <>
        <span className="soft">
          <Ago at={event.time} />
          {event.count > 1 && `, ${event.count} times`},
        </span>{" "}
        <Reason {...event} />: {event.message}
      </>
    ),
  },
];

function Reason({ type, reason }: Pick<FleetEvent, "type" | "reason">) {
  return <span className={type === "Warning" ? "event-warning" : ""}>{reason}</span>;
}

export function EventsPage() {
  usePageTitle("Events");
  const { events } = useFleet();
  const [text, setText] = useParameter("text", "");
  const [type, setType] = useParameter("type", "");
  const [namespace, setNamespace] = useParameter("namespace", "");
  const shown = useMemo(
    () => filterEvents(events, { text, type, namespace }),
    [events, text, type, namespace],
  );
  const namespaces = [...new Set(events.map((event) => event.namespace))].sort();
  return (
    <section className="card" aria-labelledby="events-title">
      <div className="panel-head">
        <h1 id="events-title">
          Events{" "}
          <span className="soft">
            {shown.length === events.length ? shown.length : `${shown.length} of ${events.length}`}
          </span>
        </h1>
        <SearchField
          name="Filter by text"
          placeholder="Filter by text ( / )"
          value={text}
          onChange={setText}
        />
        <SelectField
          name="Type"
          all="every type"
          values={["Normal", "Warning"]}
          value={type}
          onChange={setType}
        />
        <NamespaceField values={namespaces} value={namespace} onChange={setNamespace} />
      </div>
      <VirtualTable
        name="Events"
        rows={shown}
        columns={columns}
        keyOf={({ id }) => id}
        empty={
          events.length === 0
            ? "Nothing in the last hour, or nothing that you may list."
            : "Nothing matches the filters."
        }
        maxHeightPx={620}
      />
    </section>
  );
}
