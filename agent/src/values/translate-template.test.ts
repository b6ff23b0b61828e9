import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { missingKeyIn, translateTemplate } from "./translate-template.ts";

describe("a template for Helm", () => {
  test("has what stands outside of actions as texts of Go's", () => {
    assert.equal(translateTemplate('{{ .x }}"\\\n\ud800', 0), '{{ "{{ .x }}\\"\\\\\\n\ufffd" }}');
  });

  test("has actions with the delimiters of Helm, and nothing of comments", () => {
    assert.equal(
      translateTemplate("${ if true }a${/* } */}${ end }", 0),
      '{{ if true }}{{ "a" }}{{ end }}',
    );
  });

  test("looks for every key of a chain before it asks for it", () => {
    const translated = translateTemplate("${ $x.a.b }", 7);

    assert.match(translated, /hasKey \$x "a".*hasKey \$x\.a "b".* \$x\.a\.b\)/);
    assert.match(translated, /\(fail "flotilla:missing-key:7:\$x\.a"\)/);
    assert.match(translated, /\(fail "flotilla:missing-key:7:\$x\.a\.b"\)/);
  });

  test("looks for no key where a method is called", () => {
    assert.equal(translateTemplate('${ $t.Format "2006" }', 0), '{{ $t.Format "2006" }}');
    assert.equal(translateTemplate('${ "2006" | $t.Format }', 0), '{{ "2006" | $t.Format }}');
  });

  const refused: readonly (readonly [template: string, why: RegExp])[] = [
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
    ["a${ end }", /\$\{ end \} without what it ends.* does not span several/],
    ["${ ( }", /a \( in it has no \)/],
    ["${ ) }", /a \) in it has no \(/],
  ];
  for (const [template, why] of refused) {
    test(`cannot be made of ${template}`, () => {
      assert.throws(() => translateTemplate(template, 0), {
        name: "TemplateProblem",
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
    test(`can be made of ${template}`, () => {
      assert.doesNotThrow(() => translateTemplate(template, 0));
    });
  }

  test("does not grow without bounds", () => {
    const nested = `\${ ${"(".repeat(20)}dict${").a".repeat(20)} }`;

    assert.throws(() => translateTemplate(nested, 0), { message: /nested too deeply/ });
  });
});

test("a missing key is known by the whole of what Helm says, and not by what a template holds", () => {
  const said = (line: string) => missingKeyIn(`walk.go:1: found\n${line}\n\nUse --debug flag\n`);

  assert.deepEqual(
    said(
      "Error: execution error at (values/templates/values.yaml:3:34): flotilla:missing-key:2:.a.b",
    ),
    { number: 2, chain: ".a.b" },
  );
  assert.equal(
    said(
      'Error: template: x: error calling tpl: cannot parse template "flotilla:missing-key:2:.a"',
    ),
    undefined,
  );
});
