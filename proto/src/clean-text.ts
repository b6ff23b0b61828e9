/**
 * Text of the other side on its way to logs, statuses and terminals: nothing in it moves a cursor, turns the reading
 * direction or ends a line where none was meant, and it has a known length. Pure.
 */

// C0 and C1 without tab and newline, and what changes the direction of text behind it.
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
const unprintable = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/;
const allUnprintable = new RegExp(unprintable, "g");
const replacement = "\ufffd";

/** Whether it is what a name, a UID or a digest may be made of. */
export function isPrintable(value: string): boolean {
  return !unprintable.test(value) && !/[\t\n]/.test(value) && value.isWellFormed();
}

/** As it can be shown, at most so many characters of it. */
export function cleanText(value: string, mostChars: number): string {
  // Cut first: half of a pair of surrogates may be what is left at the end.
  return value.slice(0, mostChars).toWellFormed().replace(allUnprintable, replacement);
}
