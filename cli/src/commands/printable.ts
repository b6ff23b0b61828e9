/** Text of a cluster that is safe for a terminal: without control characters, except line breaks and tabs. Pure. */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu, (character) =>
    character === "\n" || character === "\t" ? character : "\ufffd",
  );
}
