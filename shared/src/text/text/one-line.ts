/** A text without line ends, for a row of a table. */
export function oneLine(text: string): string {
  return text.replace(/\s+/g, " ");
}
