/** A pattern for one name of a path: `*`, `?`, `[a-z]`, `[!a]`, `[[:digit:]]` and `\` before any of them. Pure. */
import { partsThatMatch } from "./wildcards.ts";

/** `*`, one character, or a set of characters; `?` is the negation of the empty set. */
export type GlobPart =
  | { readonly kind: "any" }
  | { readonly kind: "one"; readonly character: string }
  | {
      readonly kind: "set";
      readonly isNegated: boolean;
      readonly ranges: readonly (readonly [from: number, to: number])[];
    };

/** Undefined for a pattern that matches nothing: an open `[`, or a backslash at the end. */
export function parseGlob(text: string): readonly GlobPart[] | undefined {
  const characters = [...text];
  const parts: GlobPart[] = [];
  for (let at = 0; at < characters.length; at++) {
    const character = characters[at] ?? "";
    if (character === "*") {
      if (parts.at(-1)?.kind !== "any") parts.push({ kind: "any" });
    } else if (character === "?") parts.push({ kind: "set", isNegated: true, ranges: [] });
    else if (character === "[") {
      const set = parseSet(characters, at);
      if (set === undefined) return undefined;
      parts.push(set.part);
      at = set.end;
    } else if (character === "\\") {
      const escaped = characters[++at];
      if (escaped === undefined) return undefined;
      parts.push({ kind: "one", character: escaped });
    } else parts.push({ kind: "one", character });
  }
  return parts;
}

/** Whether a name of a path matches as a whole. */
export function matchesName(parts: readonly GlobPart[], name: string): boolean {
  const next = partsThatMatch(parts, [...name], {
    isWildcard: ({ kind }) => kind === "any",
    matches: matchesCharacter,
  });
  return next !== undefined && parts.slice(next).every(({ kind }) => kind === "any");
}

function matchesCharacter(part: GlobPart, character: string): boolean {
  if (part.kind === "one") return part.character === character;
  if (part.kind === "any") return false;
  const code = character.codePointAt(0) ?? 0;
  return part.ranges.some(([from, to]) => from <= code && code <= to) !== part.isNegated;
}

type Ranges = readonly (readonly [from: number, to: number])[];

const classes: Readonly<Record<string, readonly string[]>> = {
  alpha: ["AZ", "az"],
  digit: ["09"],
  alnum: ["AZ", "az", "09"],
  upper: ["AZ"],
  lower: ["az"],
  xdigit: ["AF", "af", "09"],
  blank: ["  ", "\t\t"],
  space: ["  ", "\t\r"],
  punct: ["!/", ":@", "[`", "{~"],
  print: [" ~"],
  graph: ["!~"],
  cntrl: ["\u0000\u001f", "\u007f\u007f"],
};

/** The set that starts with `[` at `start`, and where its `]` is. */
function parseSet(
  characters: readonly string[],
  start: number,
): { readonly part: GlobPart; readonly end: number } | undefined {
  const isNegated = characters[start + 1] === "!" || characters[start + 1] === "^";
  const first = start + (isNegated ? 2 : 1);
  const ranges: (readonly [number, number])[] = [];
  for (let at = first; at < characters.length; at++) {
    const character = characters[at] ?? "";
    // A `]` in the first place is a member of the set.
    if (character === "]" && at > first)
      return { part: { kind: "set", isNegated, ranges }, end: at };
    if (character === "[" && characters[at + 1] === ":") {
      const named = parseClass(characters, at);
      if (named === undefined) return undefined;
      ranges.push(...named.ranges);
      at = named.end;
      continue;
    }
    const from = memberAt(characters, at);
    if (from === undefined) return undefined;
    at = from.end;
    const isRange = characters[at + 1] === "-" && ![undefined, "]"].includes(characters[at + 2]);
    const to = isRange ? memberAt(characters, at + 2) : from;
    if (to === undefined) return undefined;
    at = to.end;
    ranges.push([from.code, to.code]);
  }
  return undefined;
}

/** One member of a set, which a backslash may precede. */
function memberAt(
  characters: readonly string[],
  at: number,
): { readonly code: number; readonly end: number } | undefined {
  const end = characters[at] === "\\" ? at + 1 : at;
  const code = characters[end]?.codePointAt(0);
  return code === undefined ? undefined : { code, end };
}

/** `[:alpha:]` at `start`. */
function parseClass(
  characters: readonly string[],
  start: number,
): { readonly ranges: Ranges; readonly end: number } | undefined {
  const close = characters.indexOf("]", start + 2);
  if (close === -1 || characters[close - 1] !== ":" || close - 1 < start + 2) return undefined;
  const named = classes[characters.slice(start + 2, close - 1).join("")];
  if (named === undefined) return undefined;
  const ranges = named.map(
    (range) => [range.codePointAt(0) ?? 0, range.codePointAt(1) ?? 0] as const,
  );
  return { ranges, end: close };
}
