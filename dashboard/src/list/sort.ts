/** The order of a table, as its address has it: `name`, or `-name` for the other direction. Pure. */

import { compareTexts } from "../text/index.ts";

/** Undefined comes last in both directions. */
export type SortValue = string | number | undefined;

interface ColumnSort {
  readonly id: string;
  readonly desc: boolean;
}

/** `text`: "": the order of the rows themselves. */
export function parseSort(text: string): ColumnSort[] {
  if (text === "") return [];
  const desc = text.startsWith("-");
  return [{ id: desc ? text.slice(1) : text, desc }];
}

export function formatSort([sort]: readonly ColumnSort[]): string {
  if (sort === undefined) return "";
  return sort.desc ? `-${sort.id}` : sort.id;
}

/** For one column: all are numbers, or all are texts. */
export function compareValues(one: SortValue, other: SortValue): number {
  if (typeof one === "number" && typeof other === "number") return one - other;
  return compareTexts(String(one), String(other));
}
