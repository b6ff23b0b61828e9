import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { canonicalJson, rawNumber } from "../../text/json/index.ts";
import type { Values } from "./merge-values.ts";
import { type LineValues, pathsInLine, setValue, setValues } from "./set-value.ts";

function result(values: Values, path: string, text: string, literal = false): Values | string {
  const set = setValue(values, path, text, { literal });
  return set.kind === "set" ? set.values : set.problem;
}

function problem(path: string, text: string): string {
  const set = setValue({}, path, text);
  return set.kind === "set" ? "" : set.problem;
}

describe("a value at a path", () => {
  const cases: readonly (readonly [what: string, path: string, text: string, values: Values])[] = [
    ["is set in a map", "a.b", "x", { a: { b: "x" } }],
    ["is set in a name with a dot", "a\\.b", "x", { "a.b": "x" }],
    ["is set in a list", "a[1]", "x", { a: [null, "x"] }],
    ["is set in a map in a list", "a[0].b", "x", { a: [{ b: "x" }] }],
    ["is set in a list in a list", "a[0][1]", "x", { a: [[null, "x"]] }],
    ["is a list in braces", "a", "{x,1,true}", { a: ["x", 1, true] }],
    ["is an integer", "a", "-12", { a: -12 }],
    [
      "is an integer with all digits",
      "a",
      "9223372036854775807",
      {
        a: rawNumber("9223372036854775807"),
      },
    ],
    [
      "is a string if it has more than 64 bits",
      "a",
      "9223372036854775808",
      {
        a: "9223372036854775808",
      },
    ],
    ["is a string if it begins with 0", "a", "012", { a: "012" }],
    ["is a string if it has a fraction", "a", "1.5", { a: "1.5" }],
    ["is a boolean", "a", "TRUE", { a: true }],
    ["is null", "a", "null", { a: null }],
    ["is empty", "a", "", { a: "" }],
    ["is a string in single quotes", "a", "'12'", { a: "12" }],
    ["is a string in double quotes", "a", '"true"', { a: "true" }],
    ["keeps a quote at one end", "a", "'12", { a: "'12" }],
    ["keeps an escaped comma", "a", "x\\,y", { a: "x,y" }],
    ["ends at a comma, where another path begins", "a", "x,b=y", { a: "x", b: "y" }],
    ["loses a name that nothing follows in a list, as in Helm", "a[0].b", "", { a: [] }],
    ["is set under any name", "__proto__.a", "1", JSON.parse('{"__proto__":{"a":1}}') as Values],
  ];
  for (const [what, path, text, values] of cases) {
    test(what, () => {
      assert.equal(canonicalJson(result({}, path, text)), canonicalJson(values));
    });
  }

  test("keeps the other values", () => {
    const values = { a: { b: 1, c: [1, { d: 2 }] }, id: rawNumber("12345678901234567890") };

    assert.equal(
      canonicalJson(result(values, "a.c[1].e", "x")),
      '{"a":{"b":1,"c":[1,{"d":2,"e":"x"}]},"id":12345678901234567890}',
    );
    assert.deepEqual(values.a, { b: 1, c: [1, { d: 2 }] });
  });

  test("is the text as it is with literal", () => {
    const text = "'{a,b}\\,c=1'\n";

    assert.deepEqual(result({}, "a.b", text, true), { a: { b: text } });
  });
});

describe("a path or value that Helm rejects", () => {
  const deep = Array.from({ length: 32 }, () => "a").join(".");
  const cases: readonly (readonly [what: string, path: string, text: string, problem: string])[] = [
    ["an index that is too large", "a[65537]", "x", "its path: an index is greater than 65536"],
    ["a negative index", "a[-1]", "x", "its path: an index is negative"],
    ["an index that is not a number", "a[b]", "x", "its path: an index is not a number"],
    ["an index without an end", "a[1", "x", "its path: an index does not end with ]"],
    [
      "something behind an index",
      "a[1]b",
      "x",
      "its path: an index is not followed by a name, an index or a value",
    ],
    ["too many names", deep, "x", "its path: it has more than 30 names below each other"],
    ["a name in a scalar", "s.a", "x", "its path: it has a name in a value that is not a map"],
    ["an index in a map", "m[0]", "x", "its path: it has an index in a value that is not a list"],
    [
      "a comma in the value",
      "a",
      "hunter2,hunter3",
      "its value, where a comma begins a path: a name has no value",
    ],
    ["a list without an end", "a", "{hunter2", "its value: a list does not end with }"],
  ];
  for (const [what, path, text, problem] of cases) {
    test(what, () => {
      assert.equal(result({ s: 1, m: { a: 1 } }, path, text), problem);
    });
  }

  test("a text that makes lists of millions of items", () => {
    const text = Array.from({ length: 100 }, (_, index) => `n${index}[65000]=1`).join(",");

    assert.match(problem("a", `1,${text}`), /lists with more than 1000000 items$/);
  });

  test("a text that makes very many lists in each other", () => {
    const text = `1,b${"[0]".repeat(100_000)}=1`;

    assert.match(problem("a", text), /more than 100 lists in each other$/);
  });
});

describe("lines of --set", () => {
  test("are applied one after the other, to what there is", () => {
    const base = { ports: [{ port: 80 }, { port: 90 }], tag: "1" };

    const set = setValues(base, ["ports[1].port=91,tag=2", "tag=3", "old=null"]);

    assert.deepEqual(set.kind === "set" && set.values, {
      ports: [{ port: 80 }, { port: 91 }],
      tag: 3,
      old: null,
    });
  });

  test("keep quotes, which a shell removes", () => {
    assert.deepEqual(setValues({}, ['a="x"']), { kind: "set", values: { a: '"x"' } });
  });

  test("are named by their number when they cannot be read, without their text", () => {
    const set = setValues({}, ["a=1", "password"]);

    assert.deepEqual(set, { kind: "invalid", problem: "number 2, its path: a name has no value" });
  });

  test("add a million items at most together", () => {
    const lines = Array.from({ length: 20 }, (_, index) => `list${index}[65536]=x`);

    assert.equal(setValues({}, lines).kind, "invalid");
  });
});

describe("lines of other flags of Helm", () => {
  const rows: readonly (readonly [kind: LineValues, line: string, expected: unknown])[] = [
    ["typed", "a=1,b=true,c=null", { a: 1, b: true, c: null }],
    ["string", "a=1,b=true,c=null", { a: "1", b: "true", c: "null" }],
    ["string", "a={1,2}", { a: ["1", "2"] }],
    ["literal", "a.b=1,c={x}", { a: { b: "1,c={x}" } }],
    [
      { contentOf: (path) => `<${path}>` },
      "a=x.txt,b.c=y.txt",
      { a: "<x.txt>", b: { c: "<y.txt>" } },
    ],
  ];
  for (const [kind, line, expected] of rows)
    test(`are read: ${typeof kind === "object" ? "file" : kind} ${line}`, () => {
      assert.deepEqual(setValues({}, [line], kind), { kind: "set", values: expected });
    });

  test("name the files of --set-file", () => {
    assert.deepEqual(pathsInLine("a=x.txt,b[1].c=dir/y.txt"), ["x.txt", "dir/y.txt"]);
    assert.deepEqual(pathsInLine("a[x]=y"), []);
  });
});
