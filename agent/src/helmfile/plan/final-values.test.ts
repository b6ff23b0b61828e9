import assert from "node:assert/strict";
import { parseHelmYaml } from "@flotilla/shared/yaml";
import { describe, test } from "vitest";
import type { RecordedValues } from "../recording/recording.ts";
import { finalValues } from "./final-values.ts";

const read = (text: string, name: string) => Promise.resolve(parseHelmYaml(text, { name }));

const file = (text: string): RecordedValues => ({
  flag: "values",
  text: "a.yaml",
  files: new Map([["a.yaml", Buffer.from(text)]]),
});

const flag = (
  name: Exclude<RecordedValues["flag"], "values">,
  text: string,
  files: Readonly<Record<string, string>> = {},
): RecordedValues => ({
  flag: name,
  text,
  files: new Map(Object.entries(files).map(([path, content]) => [path, Buffer.from(content)])),
});

const rows: readonly (readonly [
  what: string,
  sources: readonly RecordedValues[],
  expected: unknown,
])[] = [
  ["none", [], {}],
  ["an empty file", [file("")], {}],
  [
    "files in their order, maps merged",
    [file("a: {b: 1, c: 2}"), file("a: {c: 3}")],
    { a: { b: 1, c: 3 } },
  ],
  ["a null, which removes the default of the chart", [file("a: null")], { a: null }],
  ["--set over files, wherever it stands", [flag("set", "a=2"), file("a: 1")], { a: 2 }],
  ["--set-string over --set", [flag("set-string", "a=3"), flag("set", "a=2")], { a: "3" }],
  ["--set-file", [flag("set-file", "a.b=x.txt", { "x.txt": "text\n" })], { a: { b: "text\n" } }],
  [
    "--set-literal over all",
    [flag("set-literal", "a=1,b=2"), flag("set-string", "a=x")],
    { a: "1,b=2" },
  ],
  ["numbers exactly", [file("a: 12345678901234567890")], undefined],
];

describe("the values of a release are those of", () => {
  for (const [what, sources, expected] of rows)
    test(what, async () => {
      const values = await finalValues(sources, read, "apps/web");
      if (expected !== undefined) assert.deepEqual(values, expected);
      else assert.match(JSON.stringify(values), /12345678901234567890/);
    });

  test("nothing, where a file has no map: the message has no value", async () => {
    await assert.rejects(finalValues([file("- secret")], read, "apps/web"), {
      message: "values file 1 of release apps/web: expected a map",
    });
  });

  test("nothing, where a flag is wrong: the message has no value", async () => {
    await assert.rejects(
      finalValues([flag("set", "a[x]=secret")], read, "apps/web"),
      (thrown: Error) => {
        assert.match(thrown.message, /^--set of release apps\/web: /);
        assert.doesNotMatch(thrown.message, /secret/);
        return true;
      },
    );
  });
});
