/** A list of everything of a kind: filtered and sorted by what its address says, worst first. */
import { type ReactNode, useDeferredValue, useMemo } from "react";
import { useParameter } from "../address/index.ts";
import { NamespaceField, SearchField } from "../field/index.ts";
import { filtered, inStates, type Listed } from "./filter.ts";
import { parseSelector } from "./selector.ts";
import { StateChips } from "./state-chips.tsx";
import { type Column, VirtualTable } from "./virtual-table.tsx";
import "./list-page.css";

export interface ListPageProps<T extends Listed> {
  readonly title: string;
  readonly rows: readonly T[];
  /** How many there are without the filters in `controls`. */
  readonly total?: number;
  readonly columns: readonly Column<T>[];
  readonly keyOf: (row: T) => string;
  /** Filters that this list alone has. */
  readonly controls?: ReactNode;
}

export function ListPage<T extends Listed>(props: ListPageProps<T>) {
  const { title, rows, total = rows.length, columns, keyOf, controls } = props;
  const [text, setText] = useParameter("text", "");
  const [state, setState] = useParameter("state", "");
  const [namespace, setNamespace] = useParameter("namespace", "");
  const [labels, setLabels] = useParameter("labels", "");
  const filter = useDeferredValue(
    useMemo(() => ({ text, namespace, labels }), [text, namespace, labels]),
  );
  const { problem } = parseSelector(labels);
  const ofAnyState = useMemo(() => filtered(rows, filter), [rows, filter]);
  const shown = useMemo(() => inStates(ofAnyState, state), [ofAnyState, state]);
  const namespaces = useMemo(() => [...new Set(rows.map((row) => row.namespace))].sort(), [rows]);
  const isOfSeveral = namespaces.length > 1 || namespace !== "";
  const shownColumns = useMemo(
    () => (isOfSeveral ? columns.toSpliced(2, 0, namespaceColumn) : columns),
    [columns, isOfSeveral],
  );
  return (
    <section className="card list" aria-labelledby="list-title">
      <div className="panel-head">
        <h1 id="list-title">
          {title} <span className="soft">{countText(shown.length, total)}</span>
        </h1>
        <SearchField
          name="Filter by text"
          placeholder="Filter by text ( / )"
          value={text}
          onChange={setText}
        />
        <NamespaceField values={namespaces} value={namespace} onChange={setNamespace} />
        <SearchField
          name="Label selector"
          placeholder="Labels: env=prod,!edge"
          value={labels}
          onChange={setLabels}
          isInvalid={problem !== undefined}
        />
        {controls}
      </div>
      {problem !== undefined && (
        <p role="alert" className="list-problem">
          {problem}
        </p>
      )}
      <StateChips rows={ofAnyState} chosen={state} choose={setState} />
      <VirtualTable
        name={title}
        rows={shown}
        columns={shownColumns}
        keyOf={keyOf}
        empty={
          total === 0
            ? "Nothing is here yet, or nothing that you may list."
            : problem === undefined
              ? "Nothing matches the filters."
              : ""
        }
        maxHeightPx={620}
      />
    </section>
  );
}

/** Shown where the rows are of more than one. */
const namespaceColumn: Column<Listed> = {
  name: "Namespace",
  width: 8,
  cell: (row) => <span title={row.namespace}>{row.namespace}</span>,
  sortBy: (row) => row.namespace,
};

function countText(shown: number, all: number): string {
  const [one, other] = [shown, all].map((count) => count.toLocaleString("en"));
  return shown === all ? (other ?? "") : `${one} of ${other}`;
}
