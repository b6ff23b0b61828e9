import assert from "node:assert/strict";
import { growthOf } from "@flotilla/shared/time/testing";
import { describe, test } from "vitest";
import { actionsOf } from "./template-actions.ts";

const cases: readonly (readonly [what: string, template: string, actions: unknown])[] = [
  [
    "no text between actions",
    "lookup {{ .Values.a }} lookup",
    [[{ name: ".Values" }, { name: ".a" }]],
  ],
  ["no trim markers", "{{- quote .a -}}", [[{ name: "quote" }, { name: ".a" }]]],
  ["no comments", "{{/* lookup }} */}}{{- /* include */ -}}{{ a }}", [[{ name: "a" }]]],
  ["no unclosed comment", "{{/* lookup }}{{ a }}", []],
  [
    "a string with the identifier before it",
    '{{ include "a.b" . }}',
    [[{ name: "include", text: "a.b" }, { name: "." }]],
  ],
  ["a raw string", "{{ include `a` }}", [[{ name: "include", text: "a" }]]],
  [
    "no identifiers from strings",
    '{{ f "}} \\" lookup" `}} lookup` }}',
    [[{ name: "f", text: '}} \\" lookup' }]],
  ],
  ["variables", "{{ $lookup }}", [[{ name: "$lookup" }]]],
  ["brackets", "{{ (a) }}", [[{ name: "(" }, { name: "a" }, { name: ")" }]]],
  ["an unclosed action", "{{ a", [[{ name: "a" }]]],
  ["nothing after an unclosed quote", "{{ a 'b }} {{ c }}", [[{ name: "a" }]]],
  ["several lines", "{{ a\n  b }}", [[{ name: "a" }, { name: "b" }]]],
];

describe("the actions of a template have", () => {
  for (const [what, template, actions] of cases) {
    test(what, () => {
      assert.deepEqual([...actionsOf(template)], actions);
    });
  }
});

test("an adversarial template is parsed in linear time", () => {
  const growth = growthOf({ small: 2_000, large: 32_000 }, (size) => {
    for (const quote of ['"', "'"]) [...actionsOf(`{{ ${`\\${quote}`.repeat(size)}`)];
  });

  assert.ok(growth < 1.5, `it grows with the power of ${growth}`);
});
