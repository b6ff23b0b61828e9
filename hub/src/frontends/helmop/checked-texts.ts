/**
 * Validation of the texts of one object, of its spec and all its targets, of which there may be any number: targets often repeat
 * them, so each counts once. A reconcile does nothing else in this time.
 */

export interface CheckedTexts {
  /** What `check` says about the text; undefined also when it, or one before it, is beyond the budget: agents validate all texts. */
  problemOf(text: string, check: Check): string | undefined;
}

/** The same function for the same kind of text, since what it says is remembered. */
export type Check = (text: string) => string | undefined;

/** Characters of the patches of an object, and of its expressions. Hostile ones take about 50 ms, and 15 ms. */
export const checkedCharacters = 16 * 1024;

export function createCheckedTexts(characters = checkedCharacters): CheckedTexts {
  const known = new Map<Check, Map<string, string | undefined>>();
  let left = characters;
  return {
    problemOf(text, check) {
      const ofKind = known.get(check) ?? new Map<string, string | undefined>();
      known.set(check, ofKind);
      if (ofKind.has(text)) return ofKind.get(text);
      left -= text.length;
      if (left < 0) return undefined;
      const problem = check(text);
      ofKind.set(text, problem);
      return problem;
    },
  };
}
