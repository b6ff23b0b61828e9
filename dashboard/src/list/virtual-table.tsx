/**
 * A table of any length, of which only the visible rows exist: they are placed by the page, so its roles make it a table. A click
 * on the head of a column sorts by it; the address has the order.
 */
import {
  type ColumnDef,
  createSortedRowModel,
  functionalUpdate,
  type Header,
  type Row,
  rowSortingFeature,
  tableFeatures,
  useTable,
} from "@tanstack/react-table";
import { useVirtualizer } from "@tanstack/react-virtual";
import { type ReactNode, useEffect, useMemo, useRef } from "react";
import { useParameter } from "../address/index.ts";
import { offsetIn, scrollRegion, withOffset } from "../scroll/index.ts";
import { compareValues, formatSort, parseSort, type SortValue } from "./sort.ts";
import { useNarrow } from "./use-narrow.ts";
import "./virtual-table.css";

export interface Column<T> {
  readonly name: string;
  /** In rem: the least that it has. */
  readonly width: number;
  /** Its part of the space that is left; absent: none. */
  readonly grow?: number;
  readonly cell: (row: T) => ReactNode;
  /** Where it is on a phone: in the line of the name, or below it; absent: it is left out there. */
  readonly narrow?: "line" | "below";
  /** What is in it on a phone, where that is more. */
  readonly narrowCell?: (row: T) => ReactNode;
  /** What the column is sorted by; absent: it cannot be. */
  readonly sortBy?: (row: T) => SortValue;
}

export interface VirtualTableProps<T extends object> {
  /** For those who do not see it. */
  readonly name: string;
  /** In the order that they have as long as no column is chosen. */
  readonly rows: readonly T[];
  readonly columns: readonly Column<T>[];
  readonly keyOf: (row: T) => string;
  /** Why there is no row, said in place of rows; "": something else says it. */
  readonly empty: string;
  /** Longer tables scroll. */
  readonly maxHeightPx?: number;
}

const rowHeight = 36;
/** Three lines: two of them for what is below the name. */
const narrowRowHeight = 76;
const features = tableFeatures({ rowSortingFeature, sortedRowModel: createSortedRowModel() });
type Features = typeof features;

export function VirtualTable<T extends object>(props: VirtualTableProps<T>) {
  const { name, rows, columns: all, keyOf, empty, maxHeightPx = 480 } = props;
  const isNarrow = useNarrow() && all.some(({ narrow }) => narrow !== undefined);
  const columns = useMemo(() => (isNarrow ? narrowed(all) : all), [all, isNarrow]);
  const height = isNarrow ? narrowRowHeight : rowHeight;
  const [sort, setSort] = useParameter("sort", "");
  const sorting = useMemo(() => parseSort(sort), [sort]);
  const definitions = useMemo(() => columns.map(definitionOf), [columns]);
  const table = useTable({
    features,
    columns: definitions,
    data: rows,
    getRowId: keyOf,
    state: { sorting },
    onSortingChange: (update) => setSort(formatSort(functionalUpdate(update, sorting))),
    enableMultiSort: false,
  });
  const shown = table.getRowModel().rows;
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: shown.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => height,
    overscan: 10,
    initialOffset: () => offsetIn(history.state, name),
  });
  // Before a link in it is followed.
  function keepOffset(): void {
    const offset = scroller.current?.scrollTop ?? 0;
    history.replaceState(withOffset(history.state, name, offset), "");
  }
  // Rows that were measured for the other width.
  // biome-ignore lint/correctness/useExhaustiveDependencies: only when the height changes
  useEffect(() => virtual.measure(), [height]);
  const template = isNarrow ? narrowTemplate : templateOf(columns);
  return (
    <div className="table-frame">
      <div
        className="table"
        role="table"
        aria-label={name}
        aria-rowcount={shown.length + 1}
        ref={scroller}
        style={{ maxBlockSize: maxHeightPx }}
        onClickCapture={keepOffset}
        {...scrollRegion}
      >
        <div className="table-row table-head" role="row" style={template}>
          {table.getFlatHeaders().map((header) => (
            <HeadCell key={header.id} header={header} />
          ))}
        </div>
        <div role="rowgroup" className="table-body" style={{ blockSize: virtual.getTotalSize() }}>
          {virtual.getVirtualItems().map(({ index, start }) => {
            const row = shown[index];
            return row === undefined ? null : (
              <div
                key={row.id}
                role="row"
                aria-rowindex={index + 2}
                className="table-row"
                style={{ ...template, transform: `translateY(${start}px)`, blockSize: height }}
              >
                <Cells row={row} columns={columns} />
              </div>
            );
          })}
        </div>
      </div>
      {shown.length === 0 && empty !== "" && <p className="soft">{empty}</p>}
    </div>
  );
}

/** On a phone: the name and the state beside each other, and the reason below them. */
const narrowTemplate = { gridTemplateColumns: "minmax(0, 1fr) auto", columnGap: "0.75rem" };

function narrowed<T>(columns: readonly Column<T>[]): readonly Column<T>[] {
  const kept = (where: Column<T>["narrow"]) => columns.filter(({ narrow }) => narrow === where);
  return [...kept("line"), ...kept("below")].map((column) => ({
    ...column,
    cell: column.narrowCell ?? column.cell,
  }));
}

const gap = 1;

/** Equal for all rows, whatever is in them. */
function templateOf(columns: readonly { readonly width: number; readonly grow?: number }[]) {
  const least = columns.reduce((sum, { width }) => sum + width + gap, -gap);
  return {
    gridTemplateColumns: columns
      .map(({ width, grow = 0 }) => (grow === 0 ? `${width}rem` : `minmax(${width}rem, ${grow}fr)`))
      .join(" "),
    columnGap: `${gap}rem`,
    minInlineSize: `${least}rem`,
  };
}

function definitionOf<T extends object>({ name, sortBy }: Column<T>): ColumnDef<Features, T> {
  return {
    id: name,
    accessorFn: (row) => sortBy?.(row),
    enableSorting: sortBy !== undefined,
    sortFn: (one, other, id) =>
      compareValues(one.getValue<SortValue>(id), other.getValue<SortValue>(id)),
    sortUndefined: "last",
    sortDescFirst: false,
  };
}

const arrows = { asc: "↑", desc: "↓" } as const;

function HeadCell<T extends object>({
  header: { column },
}: {
  readonly header: Header<Features, T>;
}) {
  const order = column.getIsSorted();
  if (!column.getCanSort()) return <span role="columnheader">{column.id}</span>;
  return (
    <span
      role="columnheader"
      aria-sort={order === "asc" ? "ascending" : order === "desc" ? "descending" : "none"}
    >
      <button type="button" className="table-sort" onClick={() => column.toggleSorting()}>
        {column.id} <span aria-hidden="true">{order === false ? "" : arrows[order]}</span>
      </button>
    </span>
  );
}

function Cells<T extends object>({
  row: { original },
  columns,
}: {
  readonly row: Row<Features, T>;
  readonly columns: readonly Column<T>[];
}) {
  return columns.map(({ name, narrow, cell }) => (
    <span key={name} role="cell" className={`table-cell table-${narrow ?? "wide"}`}>
      {cell(original)}
    </span>
  ));
}
