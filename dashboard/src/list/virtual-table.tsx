/** A table of any length, of which only the visible rows exist: they are placed by the page, so its roles make it a table. */
import { useVirtualizer } from "@tanstack/react-virtual";
import { type ReactNode, useRef } from "react";
import "./virtual-table.css";

export interface Column<T> {
  readonly name: string;
  /** Of a grid track. */
  readonly width: string;
  readonly cell: (row: T) => ReactNode;
}

export interface VirtualTableProps<T> {
  /** For those who do not see it. */
  readonly name: string;
  readonly rows: readonly T[];
  readonly columns: readonly Column<T>[];
  readonly keyOf: (row: T) => string;
  /** In pixels; longer tables scroll. */
  readonly tallest?: number;
}

const rowHeight = 36;

export function VirtualTable<T>({
  name,
  rows,
  columns,
  keyOf,
  tallest = 480,
}: VirtualTableProps<T>) {
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: 10,
  });
  const template = { gridTemplateColumns: columns.map(({ width }) => width).join(" ") };
  return (
    <div className="table-frame">
      <div
        className="table"
        role="table"
        aria-label={name}
        aria-rowcount={rows.length + 1}
        ref={scroller}
        style={{ maxBlockSize: tallest }}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls has to be reachable with the keyboard
        tabIndex={0}
      >
        <div className="table-row table-head" role="row" style={template}>
          {columns.map(({ name: title }) => (
            <span key={title} role="columnheader">
              {title}
            </span>
          ))}
        </div>
        <div role="rowgroup" className="table-body" style={{ blockSize: virtual.getTotalSize() }}>
          {virtual.getVirtualItems().map(({ index, start }) => {
            const row = rows[index];
            return row === undefined ? null : (
              <div
                key={keyOf(row)}
                role="row"
                aria-rowindex={index + 2}
                className="table-row"
                style={{ ...template, transform: `translateY(${start}px)`, blockSize: rowHeight }}
              >
                {columns.map(({ name: title, cell }) => (
                  <span key={title} role="cell" className="table-cell">
                    {cell(row)}
                  </span>
                ))}
              </div>
            );
          })}
        </div>
      </div>
      {rows.length === 0 && <p className="soft">Nothing matches.</p>}
    </div>
  );
}
