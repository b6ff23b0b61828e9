import assert from "node:assert/strict";
import { cpuMs } from "@flotilla/shared/time/testing/cpu-time.ts";
import { describe, test } from "vitest";
import { lexTemplate } from "./lex-template.ts";

/** Literals as texts, actions as lists of what is in them. */
function taken(template: string): unknown {
  return lexTemplate(template).map((piece) =>
    piece.kind === "literal" ? piece.text : piece.tokens.map(({ source }) => source),
  );
}

const cases: readonly (readonly [what: string, template: string, pieces: unknown])[] = [
  ["nothing at all", "", []],
  ["text alone", "a {{ b }} } $", ["a {{ b }} } $"]],
  ["chains in their parts", "a${.b.c}d", ["a", [".b", ".c"], "d"]],
  [
    "texts with brackets in them",
    '${"}" `}` \'}\' "\\"}"}}',
    [['"}"', "`}`", "'}'", '"\\"}"'], "}"],
  ],
  ["numbers", "${-3 +4 .5 1e+2 0x1f}", [["-3", "+4", ".5", "1e+2", "0x1f"]]],
  ["variables and signs", "${$x := ($.a|f $)}", [["$x", ":=", "(", "$", ".a", "|", "f", "$", ")"]]],
  ["a pair", "${range $i,$e:=.l}", [["range", "$i", ",", "$e", ":=", ".l"]]],
  ["no comments", "a${/* } ${ */}b${- /* c */ -} d", ["a", "b", "d"]],
  ["trimmed text", "a \n${- . -}\t b", ["a", ["."], "b"]],
  ["no trimming for a negative number", "a ${-3} b", ["a ", ["-3"], " b"]],
  ["trimming that leaves nothing", " ${- . -} ${- . -} ", [["."], ["."]]],
  ["several lines", "${\n .a\n}", [[".a"]]],
  ["names of all languages", "${ .größe }", [[".größe"]]],
];

describe("a template is taken apart into", () => {
  for (const [what, template, pieces] of cases) {
    test(what, () => {
      assert.deepEqual(taken(template), pieces);
    });
  }

  test("what is apart and what is not", () => {
    const [action] = lexTemplate("${ .a.b .c }");

    assert.deepEqual(action?.kind === "action" && action.tokens.map(({ isApart }) => isApart), [
      true,
      false,
      true,
    ]);
  });
});

const broken: readonly (readonly [template: string, why: RegExp])[] = [
  ["${ .a", /a \$\{ in it has no \}/],
  ['${ "a }', /a text in it that begins with " has no end/],
  ["${ `a }", /a text in it that begins with ` has no end/],
  ['${ "a\nb" }', /a text in it that begins with " has no end/],
  ["${/* a }", /a comment in it has no end/],
  ["${/* a */ .b }", /a comment in it is not all that stands in its \$\{ \}/],
  ["${ a ! b }", /"!" has no meaning in a \$\{ \}/],
];

describe("a template cannot be taken apart:", () => {
  for (const [template, why] of broken) {
    test(JSON.stringify(template), () => {
      assert.throws(() => lexTemplate(template), { name: "TemplateProblem", message: why });
    });
  }
});

test("a template made to take long is taken apart in a moment", () => {
  const spaces = " ".repeat(100_000);

  const used = cpuMs(() => {
    const [piece] = lexTemplate(`${spaces}a${spaces}\${- 1 }`);
    assert.deepEqual(piece, { kind: "literal", text: `${spaces}a` });
  });

  assert.ok(used < 2_000, `${used} ms: it takes several seconds else`);
});
