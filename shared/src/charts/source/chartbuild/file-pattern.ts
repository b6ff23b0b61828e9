/** Patterns of file names as Go's `filepath.Match` has them: `*`, `?`, `[a-z]`, `[^a-z]` and `\`; none of them matches a slash. Pure. */

type Element =
  | { readonly kind: "any" }
  | { readonly kind: "one"; matches(character: string): boolean };

/** Whether a name matches; undefined for a pattern that Go rejects. */
export function parseFilePattern(pattern: string): ((name: string) => boolean) | undefined {
  const characters = [...pattern];
  const elements: Element[] = [];
  for (let at = 0; at < characters.length; at += 1) {
    const character = characters[at];
    if (character === "*") elements.push({ kind: "any" });
    else if (character === "?") elements.push({ kind: "one", matches: (each) => each !== "/" });
    else if (character === "[") {
      const set = readSet(characters, at + 1);
      if (set === undefined) return undefined;
      elements.push({ kind: "one", matches: set.matches });
      at = set.end;
    } else {
      if (character === "\\") at += 1;
      const literal = characters[at];
      if (literal === undefined) return undefined;
      elements.push({ kind: "one", matches: (each) => each === literal });
    }
  }
  return (name) => matches(elements, [...name]);
}

/** Characters and ranges up to the closing bracket, at `end`; undefined if there is none, or no character before it. */
function readSet(characters: readonly string[], start: number) {
  let at = start;
  const isNegated = characters[at] === "^";
  if (isNegated) at += 1;
  const ranges: (readonly [number, number])[] = [];
  while (characters[at] !== "]" || ranges.length === 0) {
    const low = readCharacter(characters, at);
    if (low === undefined) return undefined;
    at = low.next;
    if (characters[at] !== "-") {
      ranges.push([low.code, low.code]);
      continue;
    }
    const high = readCharacter(characters, at + 1);
    if (high === undefined) return undefined;
    ranges.push([low.code, high.code]);
    at = high.next;
  }
  return {
    end: at,
    matches(character: string): boolean {
      const code = character.codePointAt(0) ?? 0;
      return ranges.some(([low, high]) => low <= code && code <= high) !== isNegated;
    },
  };
}

function readCharacter(characters: readonly string[], at: number) {
  const isEscaped = characters[at] === "\\";
  const character = characters[isEscaped ? at + 1 : at];
  const next = at + (isEscaped ? 2 : 1);
  if (character === undefined || (!isEscaped && (character === "-" || character === "]")))
    return undefined;
  // A set that is not closed.
  if (next >= characters.length) return undefined;
  return { code: character.codePointAt(0) ?? 0, next };
}

/** Goes back to the last `*` only, which is enough: its time is at most the product of both lengths. */
function matches(elements: readonly Element[], name: readonly string[]): boolean {
  let element = 0;
  let at = 0;
  let star: { readonly element: number; at: number } | undefined;
  while (at < name.length) {
    const current = elements[element];
    const character = name[at] ?? "";
    if (current?.kind === "any") {
      star = { element, at };
      element += 1;
    } else if (current?.kind === "one" && current.matches(character)) {
      element += 1;
      at += 1;
    } else if (star !== undefined && name[star.at] !== "/") {
      star.at += 1;
      at = star.at;
      element = star.element + 1;
    } else return false;
  }
  return elements.slice(element).every(({ kind }) => kind === "any");
}
