/** Windows as a week: when each is open, and now. What the picture shows is said in words beside it. */
import type { ShownWindow } from "@flotilla/shared/dashboard";
import { plural } from "../fleet/index.ts";
import { Ago, useCoarseNow } from "../time/index.ts";
import { startOfDay, weekOf } from "./week.ts";

export function Week({ windows }: { readonly windows: readonly ShownWindow[] }) {
  const now = useCoarseNow();
  const start = startOfDay(now);
  return (
    <ul className="windows">
      {windows.map((window) => (
        <li key={`${window.schedule} ${window.name}`} className="window">
          <div className="window-head">
            <strong>{window.name}</strong>
            <span className="soft">
              {window.expression}, for {window.duration || "no time"}, {window.location}
            </span>
            <span>
              <WindowState {...window} />
            </span>
          </div>
          <WeekBar window={window} start={start} now={now} />
          {window.clusters !== undefined && window.clusters.count > 0 && (
            <p className="soft">
              For {plural(window.clusters.count, "cluster")}: {window.clusters.first.join(", ")}
              {window.clusters.count > window.clusters.first.length && ", …"}
            </p>
          )}
        </li>
      ))}
    </ul>
  );
}

function WindowState({ isOpen, deny, changesAt, problem }: ShownWindow) {
  if (problem !== undefined) return <span className="action-problem">Never open: {problem}</span>;
  const word = isOpen ? "Open" : "Closed";
  const what = isOpen ? "closes" : "opens";
  return (
    <>
      {word}
      {deny && " (nothing is changed while it is open)"}
      {changesAt === undefined ? (
        ", and stays so"
      ) : (
        <>
          , {what} <Ago at={changesAt} style="due" />
        </>
      )}
    </>
  );
}

interface WeekBarProps {
  readonly window: ShownWindow;
  readonly start: Date;
  readonly now: number;
}

function WeekBar({ window, start, now }: WeekBarProps) {
  const { days, spans, nowPercent } = weekOf(window.spans, start, now);
  return (
    <div className="week" aria-hidden="true">
      {days.map(({ name, left, width }) => (
        <span key={name} className="week-day" style={{ left: `${left}%`, width: `${width}%` }}>
          {name}
        </span>
      ))}
      {spans.map(({ key, left, width }) => (
        <span
          key={key}
          className={`week-open tone-${window.deny ? "bad" : "good"}`}
          style={{ left: `${left}%`, width: `${width}%` }}
        />
      ))}
      <span className="week-now" style={{ left: `${nowPercent}%` }} />
    </div>
  );
}
