/** Texts of other programs, for messages: of limited length and without credentials. Pure. */

const maxChars = 320;

/** On one line, and cut. */
export function shortText(text: string): string {
  const line = text.trim().replace(/\s+/g, " ");
  if (line.length <= maxChars) return line;
  // Half of a pair of surrogates is not valid UTF-8.
  return `${line.slice(0, maxChars - 1).replace(/[\ud800-\udbff]$/, "")}…`;
}

/** Without user names, passwords and query parameters of URLs: some registries redirect to addresses that are signed. */
export function withoutUrlSecrets(text: string): string {
  return text
    .replace(/(\w+:\/\/)[^\s/@"']+@/g, "$1")
    .replace(/(\w+:\/\/[^\s?"']+)\?[^\s"']*/g, "$1");
}
