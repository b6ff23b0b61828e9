/**
 * The plain layout of an index.yaml, line by line: the one that Helm writes, in which the lines of a chart are found without
 * parsing. A state and a pure step; `index-cut.ts` finds the lines, and cuts where a chart begins or ends.
 *
 *     before ── entries: ──▶ entries ── name: ──▶ chart ── another key ──▶ after
 *                               │                 │   ▲
 *                               │                 └───┘ name:
 *                               └──────── another key ──────────────────▶ after
 */

/** Where a line of the index is. */
export type Layout = { readonly hasApiVersion: boolean } & (
  | { readonly kind: "before" }
  /** In the entries, whose first chart has not begun. */
  | { readonly kind: "entries" }
  /** In the lines of a chart, whose name has this indent. */
  | { readonly kind: "chart"; readonly name: string; readonly indent: number }
  | { readonly kind: "after" }
);

export interface LayoutLine {
  /** Leading spaces; -1 for an empty line or a comment, undefined for a line that a tab indents. */
  readonly indent: number | undefined;
  /** Whether it is an item of a list. */
  readonly isItem: boolean;
  /** Its text after the indent, of a long line only its begin. */
  readonly content: string;
}

export const startOfIndex: Layout = { kind: "before", hasApiVersion: false };

const topLevelKey = /^([A-Za-z][\w-]*)[ ]*:(?:[ ]+(.*))?$/;
const chartKey = /^(?:"([^"\\]+)"|'([^']+)'|([A-Za-z0-9][\w.+-]*))[ ]*:(?:[ ]|$)/;

/**
 * The layout after a line; undefined when the index does not have the plain layout. A line that begins nothing has the layout
 * before it, the same object, so most lines cost a comparison of indents.
 */
export function stepLine(layout: Layout, line: LayoutLine): Layout | undefined {
  const { indent } = line;
  if (indent === undefined) return undefined;
  if (indent === -1) return layout;
  if (indent === 0) return stepTopLevel(layout, line.content);
  switch (layout.kind) {
    case "before":
    case "after":
      return layout;
    case "entries":
      return line.isItem ? undefined : beginChart(layout, indent, line.content);
    case "chart":
      if (indent > layout.indent) return layout;
      if (indent < layout.indent) return undefined;
      return line.isItem ? layout : beginChart(layout, indent, line.content);
  }
}

/** Whether the index may end here. */
export function isComplete({ kind, hasApiVersion }: Layout): boolean {
  return kind !== "before" && hasApiVersion;
}

function stepTopLevel(layout: Layout, content: string): Layout | undefined {
  const isInEntries = layout.kind === "entries" || layout.kind === "chart";
  if (content === "---")
    return layout.kind === "before" && !layout.hasApiVersion ? layout : undefined;
  if (content.startsWith("-")) return isInEntries || content.startsWith("---") ? undefined : layout;
  const [, key, value = ""] = topLevelKey.exec(content) ?? [];
  if (key === undefined) return undefined;
  const { hasApiVersion } = layout;
  if (key === "entries")
    return layout.kind === "before" && isEmptyValue(value)
      ? { kind: "entries", hasApiVersion }
      : undefined;
  return {
    kind: layout.kind === "before" ? "before" : "after",
    hasApiVersion: hasApiVersion || (key === "apiVersion" && !isEmptyValue(value)),
  };
}

function beginChart(
  { hasApiVersion }: Layout,
  indent: number,
  content: string,
): Layout | undefined {
  const [, double, single, plain] = chartKey.exec(content) ?? [];
  const name = double ?? single ?? plain;
  return name === undefined ? undefined : { kind: "chart", name, indent, hasApiVersion };
}

function isEmptyValue(value: string): boolean {
  return value === "" || value.startsWith("#");
}
