/** Random versions and constraints, valid and nearly valid ones, for properties and for comparing with Go. */
import * as fc from "fast-check";

/** The first most of the time, the second one time in twenty. */
function usually<T>(usual: fc.Arbitrary<T>, seldom: fc.Arbitrary<T>): fc.Arbitrary<T> {
  return fc.oneof({ weight: 19, arbitrary: usual }, { weight: 1, arbitrary: seldom });
}

const number = usually(
  fc.nat(3).map(String),
  fc.constantFrom(
    "10",
    "007",
    "00",
    "9007199254740993",
    "18446744073709551615",
    "18446744073709551616",
  ),
);
const identifier = usually(
  fc.constantFrom("0", "1", "2", "10", "a", "rc", "beta", "-", "x-1", "A", "1a"),
  fc.constantFrom("01", "18446744073709551616"),
);
const identifiers = fc
  .array(identifier, { minLength: 1, maxLength: 3 })
  .map((parts) => parts.join("."));
const suffix = fc
  .tuple(
    fc.oneof(fc.constant(null), fc.constant(null), identifiers),
    usually(fc.constant(null), identifiers),
  )
  .map(
    ([prerelease, build]) =>
      `${prerelease === null ? "" : `-${prerelease}`}${build === null ? "" : `+${build}`}`,
  );
const prefix = usually(fc.constant(""), fc.constant("v"));

/** A version as users write it: usually three numbers, seldom fewer, seldom with an invalid number or identifier. */
export const versionText: fc.Arbitrary<string> = fc
  .tuple(
    prefix,
    usually(
      fc.array(number, { minLength: 3, maxLength: 3 }),
      fc.array(number, { minLength: 1, maxLength: 4 }),
    ),
    suffix,
  )
  .map(([v, parts, rest]) => `${v}${parts.join(".")}${rest}`);

/** A version by the standard. */
export const strictVersionText: fc.Arbitrary<string> = fc
  .tuple(
    fc.nat(3),
    fc.nat(3),
    fc.nat(3),
    fc.constantFrom("", "", "", "-rc.1", "-rc.2", "-alpha", "+a", "+b", "-rc.1+a"),
  )
  .map(([major, minor, patch, rest]) => `${major}.${minor}.${patch}${rest}`);

const wildcard = usually(fc.constantFrom("x", "X", "*"), fc.constantFrom("xx", "1|2", "|"));
const part = fc.oneof(number, number, number, number, wildcard);
const partial = fc
  .tuple(prefix, fc.array(part, { minLength: 1, maxLength: 3 }), suffix)
  .map(([v, parts, rest]) => `${v}${parts.join(".")}${rest}`);
const operator = fc.constantFrom(
  "",
  "",
  "=",
  "!=",
  ">",
  "<",
  ">=",
  "<=",
  "=>",
  "=<",
  "~",
  "~>",
  "^",
);
const gap = fc.constantFrom("", "", "", " ", "\t");
const term = usually(
  fc.tuple(operator, gap, partial).map((pieces) => pieces.join("")),
  fc.tuple(partial, partial).map(([from, to]) => `${from} - ${to}`),
);
const and = fc.constantFrom(" ", " ", ",", ", ", " , ", "  ");

function joined(
  pieces: fc.Arbitrary<string>,
  separator: fc.Arbitrary<string>,
  maxLength: number,
): fc.Arbitrary<string> {
  const more = fc.array(fc.tuple(separator, pieces), { maxLength: maxLength - 1 });
  return fc.tuple(pieces, more).map(([first, rest]) => first + rest.flat().join(""));
}

/** Terms of one AND group. */
export const groupText: fc.Arbitrary<string> = joined(term, and, 3);

const or = fc.constantFrom("||", " || ", "|| ");
const randomCharacter = fc.constantFrom(
  " ",
  ",",
  "|",
  "||",
  ".",
  "-",
  " - ",
  "+",
  "=",
  "!",
  ">",
  "<",
  "v",
  "V",
  "x",
  "é",
  "\v",
  "\u00a0",
  "\n",
);

const alternatives = joined(groupText, or, 3);

/** A constraint as users write it, one in four with a random character in it. */
export const constraintText: fc.Arbitrary<string> = fc.oneof(
  alternatives,
  alternatives,
  alternatives,
  fc.tuple(alternatives, randomCharacter, fc.nat()).map(([text, stray, place]) => {
    const at = place % (text.length + 1);
    return text.slice(0, at) + stray + text.slice(at);
  }),
);
