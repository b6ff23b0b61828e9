/** Tables as kubectl prints them: columns apart by three spaces, no borders. Pure. */

/** The text of a table, ending with a line break; "" without rows. */
export function formatTable(
  headers: readonly string[],
  rows: readonly (readonly string[])[],
): string {
  if (rows.length === 0) return "";
  const all = [headers, ...rows];
  const widths = headers.map((_, column) =>
    Math.max(...all.map((row) => row[column]?.length ?? 0)),
  );
  return `${all
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("   ")
        .trimEnd(),
    )
    .join("\n")}\n`;
}
