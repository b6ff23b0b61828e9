import assert from "node:assert/strict";
import fc from "fast-check";
import { describe, it } from "vitest";
import { hasEscapedKey } from "./escaped-keys.ts";
import { canonicalJson, isRawNumber, parseExact } from "./exact.ts";

/** Each text after the one with which V8 confuses its key. */
const confusedKeys: readonly (readonly [earlier: string, text: string, key: string])[] = [
  [String.raw`{"x\\":1}`, String.raw`{"x\"":2}`, 'x"'],
  [String.raw`{"p":1,"x\\":1}`, String.raw`{"p":1,"x\t":2}`, "x\t"],
  [String.raw`{"h":[],"\\":0}`, String.raw`{"h":1,"\n":2}`, "\n"],
  [String.raw`{"r":1,"^\\\\":1}`, String.raw`{"r":1,"^\\d":2}`, String.raw`^\d`],
];

describe("a key with an escape", () => {
  for (const [earlier, text, key] of confusedKeys) {
    it(`is not confused with an earlier one: ${text} after ${earlier}`, () => {
      parseExact(earlier);
      JSON.parse(earlier);

      const parsed = parseExact(text);

      assert.equal(Object.keys(Object(parsed)).at(-1), key);
    });
  }

  it("is still confused by JSON.parse itself; when this fails, remove this module", () => {
    const wrong = confusedKeys.filter(([earlier, text, key]) => {
      JSON.parse(earlier);
      return Object.keys(Object(JSON.parse(text))).at(-1) !== key;
    });

    assert.ok(wrong.length > 0);
  });

  it("is found at any position, and nothing else is", () => {
    for (const text of [
      String.raw`{"a\n":1}`,
      String.raw`{"a\"" : 1}`,
      String.raw`[{"b":"\\"},{"c":{"\\":[]}}]`,
      '{"a":"\\n","\\u0041"\r\n\t:1}',
    ])
      assert.ok(hasEscapedKey(text), text);
    for (const text of [
      "{}",
      '{"a":1}',
      String.raw`{"a":"\\"}`,
      String.raw`["\":","\\",":"]`,
      String.raw`{"a":"b\"","c":"\":"}`,
      String.raw`{"a":"never ends \"`,
    ])
      assert.ok(!hasEscapedKey(text), text);
  });

  it("keeps numbers exact and prototypes unchanged", () => {
    const parsed = parseExact(
      String.raw`{"\\":12345678901234567890,"__proto__":{"a\n":1},"\u005f_proto__":2}`,
    );

    assert.ok(isRawNumber(Reflect.get(Object(parsed), "\\")));
    assert.equal(Object.getPrototypeOf(parsed), Object.prototype);
    assert.deepEqual(Object.getOwnPropertyDescriptor(parsed, "__proto__")?.value, 2);
  });

  it("that is not JSON is rejected", () => {
    for (const text of [String.raw`{"a\q":1}`, '{"a\\n\n":1}', String.raw`{"\u12":1}`, '{"\\":1}'])
      assert.throws(() => parseExact(text), SyntaxError, text);
  });

  it("is parsed exactly, whatever was parsed before", () => {
    const key = fc.string({ unit: fc.constantFrom("\\", '"', "\n", "\uE000", "a", "\u00e9") });
    fc.assert(
      fc.property(fc.array(fc.dictionary(key, fc.dictionary(key, fc.integer()))), (values) => {
        for (const value of values) {
          const text = canonicalJson(value);

          assert.equal(canonicalJson(parseExact(text)), text);
        }
      }),
    );
  });
});
