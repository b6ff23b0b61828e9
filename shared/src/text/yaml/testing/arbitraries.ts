/** Random YAML for properties and for comparing with Go. */
import * as fc from "fast-check";
import { keyRows, scalarRows } from "./rows.ts";

const scalar = fc.oneof(
  fc.constantFrom(...scalarRows),
  fc.constantFrom("a", "b c", "1", "x-y", "'q'", '"d"', "a,b", "a'b"),
  fc.stringMatching(/^[-+]?[0-9._xobeEa-f]{1,8}$/).filter((text) => !/^[-.]+$/.test(text)),
);
const key = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom("a", "b", "c", "k1", "long-key", "'q'", '"d"', "a b") },
  { weight: 1, arbitrary: fc.constantFrom(...keyRows) },
);

/** One map with one value: what does this scalar mean? */
export const scalarDocument: fc.Arbitrary<string> = scalar.map((text) => `v: ${text}\n`);

function indented(text: string): string {
  return text.replace(/^(?=.)/gm, "  ");
}

const anchored = fc.constantFrom(" *x", " *y", " &z {a: 1, c: 2}", " &z", " # note", "", " &z 'q'");
const block = fc
  .tuple(
    fc.constantFrom("|", ">", "|-", ">-", "|+", ">+", "| # note"),
    fc.constantFrom("x\n", "x\n\ny\n", "x\n\n\n", "\nx: 1\n", "x\n  y\nz\n", ""),
  )
  .map(([style, body]) => ` ${style}\n${indented(indented(body))}`);
const lines = fc.constantFrom(
  ...[
    " one\n    two\n",
    ' "one\n    two\n\n    three"\n',
    " 'one\n    two'\n",
    " {a: 1,\n    b: [1,\n    2]}\n",
  ],
);
const merge = fc
  .constantFrom(" *x", " [*x, {b: 2}]", " {a: 3}", " [{a: 1}, *x]")
  .map((text) => `<<:${text}\n`);

const { map, list } = fc.letrec<{ node: string; map: string; list: string }>((tie) => ({
  node: fc.oneof(
    { depthSize: "small" },
    { weight: 6, arbitrary: scalar.map((text) => ` ${text}\n`) },
    { weight: 1, arbitrary: anchored.map((text) => `${text}\n`) },
    { weight: 1, arbitrary: fc.oneof(block, lines) },
    { weight: 2, arbitrary: tie("map").map((text) => `\n${indented(text)}`) },
    { weight: 2, arbitrary: tie("list").map((text) => `\n${indented(text)}`) },
  ),
  map: fc
    .array(
      fc.oneof(
        {
          weight: 9,
          arbitrary: fc.tuple(key, tie("node")).map(([name, value]) => `${name}:${value}`),
        },
        { weight: 1, arbitrary: merge },
      ),
      { minLength: 1, maxLength: 4 },
    )
    .map((entries) => entries.join("")),
  list: fc
    .array(tie("node"), { minLength: 1, maxLength: 3 })
    .map((items) => items.map((item) => `-${item}`).join("")),
}));

/** A document of maps and lists. */
export const yamlDocument: fc.Arbitrary<string> = fc
  .tuple(map, fc.oneof(map, list))
  .map(
    ([first, second]) =>
      `x: &x {a: 1, b: [2]}\ny: &y [*x, 010]\nfirst:\n${indented(first)}second:\n${indented(second)}`,
  );

// No backslash: JSON.parse of V8 13.6, once it has seen a key that ends in one, misreads other keys.
const inserted = fc.constantFrom(
  ...[
    " ",
    "  ",
    "\n",
    "\t",
    ":",
    ": ",
    "-",
    "- ",
    "#",
    " #",
    "'",
    '"',
    "{",
    "}",
    "[",
    "]",
    ",",
    "&x ",
    "*x",
    "|",
    ">",
    "?",
    "!",
  ],
  ...["%", "@", "---\n", "...\n", "\r", "\r\n", "\u0085", "\ufeff"],
);

/** A document with a random text inserted. */
export const damagedDocument: fc.Arbitrary<string> = fc
  .tuple(yamlDocument, inserted, fc.nat())
  .map(([text, extra, place]) => {
    const at = place % (text.length + 1);
    return text.slice(0, at) + extra + text.slice(at);
  });
