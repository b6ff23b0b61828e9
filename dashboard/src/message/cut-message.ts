/** The part of a long message that is shown before somebody asks for all of it. Pure. */

/** About three lines of a card. */
const shownChars = 360;
const shownLines = 4;
/** Less than this is not worth a button. */
const minHiddenChars = 80;

export interface CutMessage {
  readonly shown: string;
  /** How many characters are left out; 0: none. */
  readonly hidden: number;
}

/** Ends between words where there are any near the end. */
export function cutMessage(text: string): CutMessage {
  const lines = text.split("\n");
  const ofLines = lines.slice(0, shownLines).join("\n");
  const isTooLong = lines.length > shownLines || text.length > shownChars + minHiddenChars;
  if (!isTooLong) return { shown: text, hidden: 0 };
  const start = ofLines.slice(0, shownChars).replace(/[\uD800-\uDBFF]$/, "");
  const atWord = start.lastIndexOf(" ");
  const isCutInWord = start.length < ofLines.length && atWord > shownChars - minHiddenChars;
  const shown = isCutInWord ? start.slice(0, atWord) : start;
  return { shown, hidden: text.length - shown.length };
}
