import assert from "node:assert/strict";
import fc from "fast-check";
import { describe, it } from "vitest";
import { canonicalJson, isRawNumber, parseExact, rawNumber } from "./exact.ts";

describe("parseExact", () => {
  for (const text of [
    "9007199254740993",
    "-9007199254740993",
    "18446744073709551616",
    '{"a":9223372036854775807}',
    '{"a": [1,12345678901234567890,{"b":\t-99999999999999999999}]}',
    '{"__proto__":12345678901234567890}',
  ]) {
    it(`keeps all digits of ${text}`, () => {
      const parsed = parseExact(text);

      assert.equal(JSON.stringify(parsed), text.replaceAll(/\s/g, ""));
      assert.equal(canonicalJson(parsed), text.replaceAll(/\s/g, ""));
    });
  }

  it("returns a JavaScript number for every safe integer", () => {
    assert.deepEqual(
      parseExact("[9007199254740991,-9007199254740991,0,1.5,1e3]"),
      [9007199254740991, -9007199254740991, 0, 1.5, 1000],
    );
  });

  it("keeps strings that look like long numbers", () => {
    const text = '{"a":"x:12345678901234567890","b":"[ 12345678901234567890"}';

    assert.deepEqual(parseExact(text), JSON.parse(text));
  });

  it("rejects what is not JSON", () => {
    assert.throws(() => parseExact('{"a":12345678901234567890,}'), SyntaxError);
    assert.throws(() => parseExact(""), SyntaxError);
  });

  it("equals JSON.parse for other input", () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        assert.equal(JSON.stringify(parseExact(text)), JSON.stringify(JSON.parse(text)));
      }),
    );
  });

  it("keeps every integer, at any position", () => {
    const document = fc.letrec((tie) => ({
      value: fc.oneof({ depthSize: "small" }, fc.bigInt().map(String), tie("array"), tie("object")),
      array: fc.array(tie("value"), { maxLength: 4 }).map((items) => `[${items.join(" ,")}]`),
      object: fc.dictionary(fc.string(), tie("value"), { maxKeys: 4 }).map(
        (entries) =>
          `{${Object.entries(entries)
            .map(([key, value]) => `${JSON.stringify(key)} : ${String(value)}`)
            .join(",")}}`,
      ),
    })).value;

    fc.assert(
      fc.property(document, (text) => {
        const digits = (json: string): readonly string[] => json.match(/-?\d+/g) ?? [];

        const again = JSON.stringify(parseExact(String(text)));
        // JavaScript moves integer keys to the front, so their order is not compared.
        assert.deepEqual([...digits(again)].sort(), [...digits(String(text))].sort());
      }),
    );
  });
});

describe("canonicalJson", () => {
  it("sorts keys at every depth and drops undefined", () => {
    assert.equal(
      canonicalJson({ b: [{ d: 1, c: undefined }], a: undefined, A: null }),
      '{"A":null,"b":[{"d":1}]}',
    );
  });

  it("writes raw numbers and bigints with all their digits", () => {
    assert.equal(
      canonicalJson({ raw: rawNumber("12345678901234567890"), big: 2n ** 64n }),
      '{"big":18446744073709551616,"raw":12345678901234567890}',
    );
    assert.equal(isRawNumber(rawNumber("1")), true);
    assert.equal(isRawNumber({ rawJSON: "1" }), false);
  });

  it("rejects values that JSON does not have", () => {
    assert.throws(() => canonicalJson(Number.NaN), /write NaN as JSON/);
    assert.throws(() => canonicalJson(undefined), /write a undefined as JSON/);
  });

  it("equals JSON.stringify for other values", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        assert.deepEqual(JSON.parse(canonicalJson(value)), JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  it("does not depend on the order of keys", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
        const reversed = Object.fromEntries(Object.entries(value).reverse());

        assert.equal(canonicalJson(reversed), canonicalJson(value));
      }),
    );
  });

  it("is unchanged by parsing it", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = canonicalJson(value);

        assert.equal(canonicalJson(parseExact(text)), text);
      }),
    );
  });
});
