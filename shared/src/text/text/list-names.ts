/** Names in a sentence. */

/** More are counted: a sentence with twenty names is not read. */
const maxNames = 5;

/** `a, b, c`, and of more than five the first ones and `and 7 more`; "" without names. Pure. */
export function listNames(names: readonly string[]): string {
  const more = names.length - maxNames;
  return `${names.slice(0, maxNames).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}
