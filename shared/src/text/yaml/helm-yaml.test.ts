import assert from "node:assert/strict";
import * as fc from "fast-check";
import { test } from "vitest";
import { AppError } from "../../runtime/errors/index.ts";
import { isRawNumber } from "../json/index.ts";
import { parseHelmYaml, toHelmJson } from "./helm-yaml.ts";
import { damagedDocument, lenientRows, rejectedRows, yamlDocument } from "./testing/index.ts";

const name = "values.yaml";

function read(text: string): unknown {
  return parseHelmYaml(text, { name });
}

function rejection(text: string): string {
  try {
    read(text);
  } catch (thrown) {
    assert.ok(thrown instanceof AppError, String(thrown));
    assert.equal(thrown.code, "YAML_INVALID");
    return thrown.message;
  }
  return assert.fail(`read: ${text}`);
}

test("scalars are resolved as in Helm", () => {
  const text =
    "on: yes\no: 0777\nq: 0o17\nb: 0b11\nc: 1_000\nd: 2024-05-01\ns: 12:30:45\nx: 1e400\nn: ~\nl: 08";

  assert.deepEqual(read(text), {
    true: true,
    o: 511,
    q: 15,
    b: 3,
    c: 1000,
    d: "2024-05-01",
    s: "12:30:45",
    x: "1e400",
    false: null,
    l: 8,
  });
});

test("an unsafe integer keeps its digits, in the value and in the JSON", () => {
  const value = read("a: 12345678901234567890\nb: -9007199254740993\nc: 9007199254740991");

  assert.ok(value !== null && typeof value === "object" && "a" in value && "c" in value);
  assert.ok(isRawNumber(value.a));
  assert.equal(value.c, 9007199254740991);
  assert.equal(
    toHelmJson(value),
    '{"a":12345678901234567890,"b":-9007199254740993,"c":9007199254740991}',
  );
});

test("a negative zero keeps its sign when Helm reads it back", () => {
  assert.equal(toHelmJson(read("a: -0.0\nb: -0")), '{"a":-0.0,"b":0}');
});

test("the last of two equal keys is used, including merges", () => {
  assert.deepEqual(read("base: &b {a: 1, c: 3}\nv:\n  a: 2\n  <<: *b\n  c: 4\n  c: 5"), {
    base: { a: 1, c: 3 },
    v: { a: 1, c: 5 },
  });
});

test("only the first document is parsed", () => {
  assert.deepEqual(read("a: 1\n---\nb: ["), { a: 1 });
});

test("a document of comments is null", () => {
  for (const text of ["", "\n", "# nothing\n", "---\n"]) assert.equal(read(text), null);
});

test("a key that is special in JavaScript is an ordinary key", () => {
  const value = read("__proto__: {polluted: yes}\n");

  assert.equal(toHelmJson(value), '{"__proto__":{"polluted":true}}');
  assert.equal(Object.getPrototypeOf(value), Object.prototype);
});

const rejections: readonly (readonly [text: string, message: string])[] = [
  ["a: 1\nb: c: d\n", "line 2, column 4: nested mappings are not allowed in compact mappings"],
  ["a:\r\n\tb: 1\n", "line 2, column 1: tabs are not allowed as indentation"],
  ["a: .inf\n", "line 1, column 4: JSON has no such number"],
  ["a: !!int five\n", "line 1, column 10: it is not a valid !!int"],
  ["a: x\n<<: [1]\n", "line 2, column 6: only a map, or a list of maps, can be merged"],
  ["~: 1\n", "line 1, column 1: a key must be a text, a number below 2^63, or a boolean"],
  ["a: &a [*a]\n", "line 1, column 8: the anchor of this alias contains the alias"],
  ["a: 1\nb: \0\n", "line 2, column 4: YAML cannot have a control character unescaped"],
  [
    "%YAML 1.2\n---\na: 1\n",
    "line 1, column 1: it has %YAML 1.2 but Helm reads 1.1 only; remove that line",
  ],
];
for (const [text, message] of rejections) {
  test(`${JSON.stringify(text)} is rejected with its place: ${message}`, () => {
    assert.equal(rejection(text), `read values.yaml, ${message}`);
  });
}

test("no error quotes the text", () => {
  const secret = "hunter2";
  const texts = [
    `p: *${secret}`,
    `p: |${secret}\n`,
    `p: [x]${secret}`,
    `a: 1\n}${secret}`,
    `a: 1\n@${secret}`,
    `p: '${secret}`,
    `p: "\\${secret}"`,
    `%${secret}\n`,
    `p: !${secret}!x y`,
    `p: &${secret} [*${secret}]`,
    `p: !!int ${secret}`,
    `p: !!binary ${secret}`,
    `? {${secret}: 1}\n: 2`,
    `a: b: ${secret}`,
  ];

  for (const text of texts) assert.ok(!rejection(text).includes(secret), rejection(text));
});

test("texts with one clear meaning are accepted when Go rejects them", () => {
  assert.deepEqual(
    lenientRows.map((text) => read(`v: ${text}\n`)),
    [{ v: "a/b" }, { v: "😀" }],
  );
});

for (const text of rejectedRows) {
  test(`${JSON.stringify(text)} is rejected, because Helm would read it differently`, () => {
    assert.match(rejection(`v: ${text}\n`), /^read values\.yaml, line \d+, column \d+: \S/);
  });
}

test("deep nesting and endless aliases are rejected", () => {
  const levels = Array.from(
    { length: 9 },
    (_, at) => `a${at + 1}: &a${at + 1} [${Array(9).fill(`*a${at}`).join(", ")}]`,
  );

  assert.match(
    rejection(`a0: &a0 [1, 1]\n${levels.join("\n")}\n`),
    /too much of it is from aliases/,
  );
  for (const depth of [501, 100_000])
    assert.match(rejection("[".repeat(depth) + "]".repeat(depth)), /nested (too deeply|deeper)/);
});

test("any text is parsed, or rejected with YAML_INVALID", () => {
  const anyText = fc.oneof(damagedDocument, fc.string({ unit: "binary" }), fc.string());

  fc.assert(
    fc.property(anyText, (text) => {
      try {
        toHelmJson(read(text));
      } catch (thrown) {
        assert.ok(thrown instanceof AppError && thrown.code === "YAML_INVALID", String(thrown));
      }
    }),
    { numRuns: 2000 },
  );
});

test("the JSON of a document means the same as the document", () => {
  fc.assert(
    fc.property(yamlDocument, (text) => {
      const json = toHelmJson(read(text));
      assert.equal(toHelmJson(read(json)), json);
    }),
    { numRuns: 500 },
  );
});

test("any string survives as a value and as a key", () => {
  const anyString = fc.string({ unit: "binary", maxLength: 30 });

  fc.assert(
    fc.property(anyString, anyString, (key, text) => {
      assert.deepEqual(read(toHelmJson({ [key]: text })), Object.fromEntries([[key, text]]));
    }),
    { numRuns: 2000 },
  );
});

test("a lone surrogate becomes U+FFFD, as Go writes it, and an escaped backslash stays one", () => {
  assert.equal(toHelmJson({ a: "x\ud800y", b: "\\ud800" }), '{"a":"x\\ufffdy","b":"\\\\ud800"}');
  assert.equal(toHelmJson("\u2028\x85\x7f\ufeff"), '"\\u2028\\u0085\\u007f\\ufeff"');
});
