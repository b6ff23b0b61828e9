/** What the pages of single objects have in common. */
import type { AppDetail, FleetEvent } from "@flotilla/shared/dashboard";
import { type ReactNode, useState } from "react";
import { ApiError } from "../api/index.ts";
import { StateIcon } from "../badge/index.ts";
import { Message } from "../message/index.ts";
import { scrollRegion } from "../scroll/index.ts";
import type { Tone } from "../state/index.ts";
import { Ago } from "../time/index.ts";
import { withEachMessageOnce } from "./condition-messages.ts";
import { wordsOf } from "./condition-words.ts";
import "./parts.css";

/** In place of a page that cannot be shown. */
export function Failure({ error }: { readonly error: Error }) {
  const status = error instanceof ApiError ? error.status : 0;
  const titles: Readonly<Record<number, string>> = {
    403: "You may not see this",
    404: "This does not exist",
  };
  return (
    <div className="card failure" role="alert">
      <h1>{titles[status] ?? "This cannot be shown now"}</h1>
      <p>{sentence(error.message)}</p>
    </div>
  );
}

/** Messages of the hub begin with a small letter, as errors of Go do. */
function sentence(text: string): string {
  return text === "" ? "" : `${text[0]?.toUpperCase() ?? ""}${text.slice(1)}`;
}

/** As large as a page, so that nothing jumps. */
export function Loading() {
  return <div className="page-loading" aria-busy="true" />;
}

export function Facts({ children }: { readonly children: ReactNode }) {
  return <dl className="facts">{children}</dl>;
}

export function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <div className="fact">
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

export function CopyButton({ text, what }: { readonly text: string; readonly what: string }) {
  const [isCopied, setCopied] = useState(false);
  return (
    <button
      type="button"
      className="copy"
      aria-label={`Copy ${what}`}
      onClick={() => {
        void navigator.clipboard.writeText(text).then(() => setCopied(true));
      }}
      onBlur={() => setCopied(false)}
    >
      {isCopied ? "copied" : "copy"}
    </button>
  );
}

/** What is wrong comes first. `above`: a message that the page shows already. */
export function Conditions({
  conditions,
  above = "",
}: Pick<AppDetail, "conditions"> & { readonly above?: string | undefined }) {
  const sorted = conditions
    .map((condition) => ({ ...condition, ...wordsOf(condition) }))
    .sort((one, other) => order.indexOf(one.tone) - order.indexOf(other.tone));
  const shown = withEachMessageOnce(sorted, above);
  return (
    <section className="card" aria-labelledby="conditions-title">
      <h2 id="conditions-title">Conditions</h2>
      <ul className="conditions">
        {shown.map(({ type, status, reason, message, since, tone, text }) => (
          <li key={type} className="condition">
            <span className={`condition-name tone-${tone}`}>
              <StateIcon tone={tone} /> {text}
            </span>
            <span className="soft">{since !== undefined && <Ago at={since} />}</span>
            <p>
              {type}={status}
              {reason !== undefined && `, ${reason}`}
            </p>
            {message !== undefined && (
              <p className="condition-message">
                <Message text={message} />
              </p>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

const order: readonly Tone[] = ["bad", "warn", "busy", "off", "good"];

export function EventList({ events }: { readonly events: readonly FleetEvent[] }) {
  return (
    <section className="card" aria-labelledby="object-events-title">
      <h2 id="object-events-title">Events</h2>
      {events.length === 0 && <p className="soft">None in the last hour.</p>}
      <ul className="conditions">
        {events.map(({ id, time, type, reason, message, count }) => (
          <li key={id} className="condition">
            <span className={type === "Warning" ? "event-warning" : ""}>
              {reason}
              {count > 1 ? ` (${count} times)` : ""}
            </span>
            <span className="soft">
              <Ago at={time} />
            </span>
            <p>
              <Message text={message} />
            </p>
          </li>
        ))}
      </ul>
    </section>
  );
}

export function Source({ yaml }: Pick<AppDetail, "yaml">) {
  return (
    <details className="card">
      <summary>YAML</summary>
      <pre className="yaml" {...scrollRegion}>
        {yaml}
      </pre>
    </details>
  );
}
