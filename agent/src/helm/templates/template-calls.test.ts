import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { callsInValues, templateCalls } from "./template-calls.ts";

type Files = Readonly<Record<string, string>>;

const library = [
  '{{- define "lib.secret" }}{{ (lookup "v1" "Secret" .ns .name).data }}{{ end }}',
  '{{- define "lib.password" }}{{ if .a }}{{ include "lib.secret" . }}{{ end }}{{ end }}',
  '{{- define "lib.name" }}{{ .Release.Name }}{{ end }}',
  '{{- define "lib.address" }}{{ getHostByName "x" }}{{ end }}',
].join("\n");

const cases: readonly (readonly [what: string, files: Files, calls: unknown])[] = [
  ["call nothing", { "a.yaml": "{{ .Values.lookup }} lookup" }, {}],
  [
    "call both, with the first file",
    { "b.yaml": '{{ lookup "v1" }}', "a.yaml": '{{ getHostByName (lookup "v1") }}' },
    { lookup: "a.yaml", getHostByName: "a.yaml" },
  ],
  [
    "call in a condition",
    { "a.yaml": '{{ if not (lookup "v1") }}{{ end }}' },
    { lookup: "a.yaml" },
  ],
  ["call in notes", { "NOTES.txt": '{{ lookup "v1" }}' }, { lookup: "NOTES.txt" }],
  [
    "do not call in a definition that is not included",
    { "_lib.tpl": library, "a.yaml": '{{ include "lib.name" . }}' },
    {},
  ],
  [
    "call a definition of another file",
    { "charts/lib/_lib.tpl": library, "a.yaml": '{{ template "lib.password" . }}' },
    { lookup: "charts/lib/_lib.tpl" },
  ],
  [
    "may call every definition by a computed name",
    { "_lib.tpl": library, "a.yaml": '{{ include (printf "lib.%s" .kind) . }}' },
    { lookup: "_lib.tpl", getHostByName: "_lib.tpl" },
  ],
  [
    "call a block of a rendered file",
    { "a.yaml": `${library}{{ include "lib.address" . }}` },
    { getHostByName: "a.yaml" },
  ],
  [
    "call after a definition",
    { "a.yaml": '{{ define "a" }}{{ if 1 }}{{ end }}{{ end }}{{ lookup "v1" }}' },
    { lookup: "a.yaml" },
  ],
  [
    "do not call outside of definitions in a file that is not rendered",
    { "_a.tpl": '{{ lookup "v1" }}' },
    {},
  ],
  [
    "call in a block",
    { "a.yaml": '{{ block "b" . }}{{ lookup "v1" }}{{ end }}' },
    { lookup: "a.yaml" },
  ],
  [
    "call in a string that tpl renders",
    { "a.yaml": '{{ tpl "{{ lookup `v1` }}" . }}' },
    { lookup: "a.yaml" },
  ],
  [
    "may include themselves",
    {
      "a.yaml":
        '{{ define "a" }}{{ include "b" . }}{{ end }}{{ define "b" }}{{ include "a" . }}{{ end }}{{ include "a" . }}',
    },
    {},
  ],
];

describe("the templates of a chart", () => {
  for (const [what, files, calls] of cases) {
    test(what, () => {
      const found = templateCalls(Object.entries(files).map(([path, text]) => ({ path, text })));

      assert.deepEqual(found.calls, calls);
    });
  }

  test("report whether they render values", () => {
    const rendersValues = (text: string) => templateCalls([{ path: "a.yaml", text }]).rendersValues;

    assert.equal(rendersValues("{{ tpl .Values.a . }}"), true);
    assert.equal(rendersValues('{{ define "a" }}{{ tpl .Values.a . }}{{ end }}'), false);
    assert.equal(rendersValues("{{ .Values.tpl }}"), false);
  });
});

test("templates in values are checked as well", () => {
  assert.deepEqual(callsInValues({ a: '{{ lookup "v1" }}' }, "the values"), {
    lookup: "the values",
  });
  assert.deepEqual(callsInValues([[{ "{{ getHostByName }}": 1 }]], "the values"), {
    getHostByName: "the values",
  });
  assert.deepEqual(callsInValues({ lookup: "getHostByName" }, "the values"), {});
});
