import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { missingKeyIn, translateTemplate } from "./translate-template.ts";

describe("a template for Helm", () => {
  test("has the text between actions as Go string literals", () => {
    assert.equal(translateTemplate('{{ .x }}"\\\n\ud800', 0), '{{ "{{ .x }}\\"\\\\\\n\ufffd" }}');
  });

  test("has actions with Helm's delimiters, and no comments", () => {
    assert.equal(
      translateTemplate("${ if true }a${/* } */}${ end }", 0),
      '{{ if true }}{{ "a" }}{{ end }}',
    );
  });

  test("checks every key of a field chain", () => {
    const translated = translateTemplate("${ $x.a.b }", 7);

    assert.match(translated, /hasKey \$x "a".*hasKey \$x\.a "b".* \$x\.a\.b\)/);
    assert.match(translated, /\(fail "flotilla:missing-key:7:\$x\.a"\)/);
    assert.match(translated, /\(fail "flotilla:missing-key:7:\$x\.a\.b"\)/);
  });

  test("does not check keys if a method is called", () => {
    assert.equal(translateTemplate('${ $t.Format "2006" }', 0), '{{ $t.Format "2006" }}');
    assert.equal(translateTemplate('${ "2006" | $t.Format }', 0), '{{ "2006" | $t.Format }}');
  });

  const invalid: readonly (readonly [template: string, why: RegExp])[] = [
    ['${ env "HOME" }', /it calls env,/],
    ['${ expandenv "$HOME" }', /it calls expandenv,/],
    ['${ include "a" . }', /it calls include,/],
    ['${ tpl "a" . }', /it calls tpl,/],
    ['${ getHostByName "a" }', /it calls getHostByName,/],
    ['${ if (lookup "v1" "Secret" "a" "b") }${ end }', /it calls lookup,/],
    ['${ "a" | upper | tpl }', /it calls tpl,/],
    ["${ (env).a }", /it calls env,/],
    ['${ template "other" . }', /it uses a template "other" that it does not define/],
    ["${ if .a }", /without \$\{ end \}.* does not span several/],
    ["a${ end }", /\$\{ end \} without a block.* does not span several/],
    ["${ ( }", /it has an unclosed \(/],
    ["${ ) }", /it has a \) without \(/],
  ];
  for (const [template, why] of invalid) {
    test(`rejects ${template}`, () => {
      assert.throws(() => translateTemplate(template, 0), {
        name: "TemplateError",
        message: why,
      });
    });
  }

  const allowed = [
    '${ print "tpl" `lookup` }',
    "${/* env */}",
    "env ${ .env } lookup",
    "${ $tpl := 1 }${ $tpl }",
    '${ define "a" }${ end }${ template "a" . }${ template `a` . }',
    '${ block "a" . }${ end }',
    "${ if .a }${ else if .b }${ else }${ end }",
  ];
  for (const template of allowed) {
    test(`accepts ${template}`, () => {
      assert.doesNotThrow(() => translateTemplate(template, 0));
    });
  }

  test("is rejected if it is nested too deeply", () => {
    const nested = `\${ ${"(".repeat(20)}dict${").a".repeat(20)} }`;

    assert.throws(() => translateTemplate(nested, 0), { message: /nested too deeply/ });
  });
});

test("a missing key is recognised in Helm's error, not in the text of a template", () => {
  const parseMissingKey = (line: string) =>
    missingKeyIn(`walk.go:1: found\n${line}\n\nUse --debug flag\n`);

  assert.deepEqual(
    parseMissingKey(
      "Error: execution error at (values/templates/values.yaml:3:34): flotilla:missing-key:2:.a.b",
    ),
    { number: 2, chain: ".a.b" },
  );
  assert.equal(
    parseMissingKey(
      'Error: template: x: error calling tpl: cannot parse template "flotilla:missing-key:2:.a"',
    ),
    undefined,
  );
});
