import assert from "node:assert/strict";
import { growthOf } from "@flotilla/shared/time/testing";
import { describe, test } from "vitest";
import { lexTemplate } from "./lex-template.ts";

/** Literals as strings, actions as lists of their tokens. */
function lexed(template: string): unknown {
  return lexTemplate(template).map((piece) =>
    piece.kind === "literal" ? piece.text : piece.tokens.map(({ source }) => source),
  );
}

const cases: readonly (readonly [what: string, template: string, pieces: unknown])[] = [
  ["no pieces for an empty text", "", []],
  ["only text", "a {{ b }} } $", ["a {{ b }} } $"]],
  ["field chains in parts", "a${.b.c}d", ["a", [".b", ".c"], "d"]],
  ["strings with braces", '${"}" `}` \'}\' "\\"}"}}', [['"}"', "`}`", "'}'", '"\\"}"'], "}"]],
  ["numbers", "${-3 +4 .5 1e+2 0x1f}", [["-3", "+4", ".5", "1e+2", "0x1f"]]],
  ["variables and signs", "${$x := ($.a|f $)}", [["$x", ":=", "(", "$", ".a", "|", "f", "$", ")"]]],
  ["a range over keys and values", "${range $i,$e:=.l}", [["range", "$i", ",", "$e", ":=", ".l"]]],
  ["no comments", "a${/* } ${ */}b${- /* c */ -} d", ["a", "b", "d"]],
  ["trimmed text", "a \n${- . -}\t b", ["a", ["."], "b"]],
  ["no trimming for a negative number", "a ${-3} b", ["a ", ["-3"], " b"]],
  ["trimming that leaves nothing", " ${- . -} ${- . -} ", [["."], ["."]]],
  ["several lines", "${\n .a\n}", [[".a"]]],
  ["names with non-ASCII letters", "${ .größe }", [[".größe"]]],
];

describe("the lexer splits a template into", () => {
  for (const [what, template, pieces] of cases) {
    test(what, () => {
      assert.deepEqual(lexed(template), pieces);
    });
  }

  test("white space before a token is recorded", () => {
    const [action] = lexTemplate("${ .a.b .c }");

    assert.deepEqual(
      action?.kind === "action" && action.tokens.map(({ hasSpaceBefore }) => hasSpaceBefore),
      [true, false, true],
    );
  });
});

const broken: readonly (readonly [template: string, why: RegExp])[] = [
  ["${ .a", /it has an unclosed \$\{/],
  ['${ "a }', /it has an unterminated string that begins with "/],
  ["${ `a }", /it has an unterminated string that begins with `/],
  ['${ "a\nb" }', /it has an unterminated string that begins with "/],
  ["${/* a }", /it has an unclosed comment/],
  ["${/* a */ .b }", /it has a comment that does not end its \$\{ \}/],
  ["${ a ! b }", /it has an unexpected character "!" in a \$\{ \}/],
];

describe("the lexer rejects a template:", () => {
  for (const [template, why] of broken) {
    test(JSON.stringify(template), () => {
      assert.throws(() => lexTemplate(template), { name: "TemplateError", message: why });
    });
  }
});

test("the lexer takes linear time for an adversarial template", () => {
  const growth = growthOf({ small: 2_000, large: 32_000 }, (size) => {
    const spaces = " ".repeat(size);
    const [piece] = lexTemplate(`${spaces}a${spaces}\${- 1 }`);
    assert.deepEqual(piece, { kind: "literal", text: `${spaces}a` });
  });

  assert.ok(growth < 1.5, `it grows with the power of ${growth}`);
});
