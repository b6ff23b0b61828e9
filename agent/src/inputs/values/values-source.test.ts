import assert from "node:assert/strict";
import type { ValuesSource } from "@flotilla/shared/content";
import type { Values } from "@flotilla/shared/values";
import { parseHelmYaml } from "@flotilla/shared/yaml";
import { describe, test } from "vitest";
import { parseValuesSource, type ReadYaml, type SourceObject } from "./values-source.ts";

const configMap: ValuesSource = { kind: "ConfigMap", name: "defaults", key: "values.yaml" };
const secret: ValuesSource = { ...configMap, kind: "Secret" };
const where = "ConfigMap shop/defaults";
const readYaml: ReadYaml = (text, name) => Promise.resolve(parseHelmYaml(text, { name }));
const base64 = (text: string) => Buffer.from(text).toString("base64");

describe("values of a ConfigMap or Secret", () => {
  const cases: readonly (readonly [string, ValuesSource, SourceObject, Values])[] = [
    [
      "are parsed from a key",
      configMap,
      { data: { "values.yaml": "a: {b: 1}\n" } },
      { a: { b: 1 } },
    ],
    [
      "are parsed as Helm parses them",
      configMap,
      { data: { "values.yaml": "on: 0777" } },
      { true: 511 },
    ],
    ["are decoded from a Secret", secret, { data: { "values.yaml": base64("a: ü") } }, { a: "ü" }],
    ["may be binary", configMap, { binaryData: { "values.yaml": base64("a: 1") } }, { a: 1 }],
    ["may be empty", configMap, { data: { "values.yaml": "" } }, {}],
    ["may be only a comment", configMap, { data: { "values.yaml": "# none\n" } }, {}],
  ];
  for (const [what, source, object, values] of cases) {
    test(what, async () => {
      assert.deepEqual(await parseValuesSource(source, object, { where, readYaml }), values);
    });
  }

  const invalid: readonly (readonly [string, SourceObject, string, RegExp])[] = [
    [
      "a missing key",
      { data: { other: "a: 1" } },
      "VALUES_SOURCE_MISSING",
      /^key values\.yaml not found in ConfigMap shop\/defaults, which valuesFrom references; the agent continues as soon as it exists$/,
    ],
    ["a key of Object.prototype", {}, "VALUES_SOURCE_MISSING", /^key toString not found/],
    [
      "text that is not YAML, without showing it",
      { data: { "values.yaml": "password: 'hunter2" } },
      "VALUES_SOURCE_INVALID",
      /^valuesFrom: read key values\.yaml of ConfigMap shop\/defaults, line 1, column \d+: (?!.*hunter2)/,
    ],
    [
      "a list",
      { data: { "values.yaml": "[1, 2]" } },
      "VALUES_SOURCE_INVALID",
      /has a list, expected a map$/,
    ],
    [
      "a single value",
      { data: { "values.yaml": "hunter2" } },
      "VALUES_SOURCE_INVALID",
      /has a scalar, expected a map$/,
    ],
  ];
  for (const [what, object, code, message] of invalid) {
    test(`rejects ${what}`, async () => {
      const source = what.startsWith("a key of Object")
        ? { ...configMap, key: "toString" }
        : configMap;

      await assert.rejects(parseValuesSource(source, object, { where, readYaml }), {
        code,
        message,
      });
    });
  }
});
