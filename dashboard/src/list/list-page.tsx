/** A list of everything of a kind: filtered by what its address says, worst first. */
import { useDeferredValue, useMemo } from "react";
import { useParameter } from "../address/index.ts";
import { lookOf, statesByUrgency } from "../state/index.ts";
import { filtered, type Listed } from "./filter.ts";
import { type Column, VirtualTable } from "./virtual-table.tsx";
import "./list-page.css";

export interface ListPageProps<T extends Listed> {
  readonly title: string;
  readonly rows: readonly T[];
  readonly columns: readonly Column<T>[];
  readonly keyOf: (row: T) => string;
  readonly hasLabels?: boolean;
}

export function ListPage<T extends Listed>(props: ListPageProps<T>) {
  const { title, rows, columns, keyOf, hasLabels = false } = props;
  const [text, setText] = useParameter("text", "");
  const [state, setState] = useParameter("state", "");
  const [namespace, setNamespace] = useParameter("namespace", "");
  const [labels, setLabels] = useParameter("labels", "");
  const filter = useDeferredValue(
    useMemo(() => ({ text, state, namespace, labels }), [text, state, namespace, labels]),
  );
  const shown = useMemo(() => filtered(rows, filter), [rows, filter]);
  const namespaces = useMemo(() => [...new Set(rows.map((row) => row.namespace))].sort(), [rows]);
  const states = useMemo(() => new Set(rows.map((row) => row.state)), [rows]);
  return (
    <section className="card list" aria-labelledby="list-title">
      <div className="panel-head">
        <h1 id="list-title">
          {title} <span className="soft">{countText(shown.length, rows.length)}</span>
        </h1>
        <input
          type="search"
          className="list-filter"
          placeholder="Filter by text ( / )"
          aria-label="Filter by text"
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
        <select aria-label="State" value={state} onChange={(event) => setState(event.target.value)}>
          <option value="">every state</option>
          {statesByUrgency
            .filter((each) => states.has(each) || each === state)
            .map((each) => (
              <option key={each} value={each}>
                {lookOf(each).word}
              </option>
            ))}
        </select>
        <select
          aria-label="Namespace"
          value={namespace}
          onChange={(event) => setNamespace(event.target.value)}
        >
          <option value="">every namespace</option>
          {namespaces.map((each) => (
            <option key={each}>{each}</option>
          ))}
        </select>
        {hasLabels && (
          <input
            type="search"
            placeholder="env=prod,region"
            aria-label="Label selector"
            value={labels}
            onChange={(event) => setLabels(event.target.value)}
          />
        )}
      </div>
      <VirtualTable name={title} rows={shown} columns={columns} keyOf={keyOf} tallest={620} />
    </section>
  );
}

function countText(shown: number, all: number): string {
  return shown === all ? String(all) : `${shown} of ${all}`;
}
