import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { parseProposal } from "./parse-proposal.ts";

describe("the body of a request for a plan", () => {
  test("has a version, values, lines of --set, or all of them", () => {
    assert.deepEqual(parseProposal('{"version": "~1.2"}'), { version: "~1.2" });
    assert.deepEqual(parseProposal('{"values": {"a": null}}'), { values: { a: null } });
    assert.deepEqual(parseProposal('{"set": ["a=1"]}'), { set: ["a=1"] });
  });

  test("keeps all digits of a number", () => {
    const { values } = parseProposal('{"values": {"id": 12345678901234567890}}');

    assert.equal(JSON.stringify(values), '{"id":12345678901234567890}');
  });

  const nested = (levels: number) => `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`;
  const rejected: readonly (readonly [what: string, text: string, message: RegExp])[] = [
    ["that is no JSON", "version: 1", /^the body cannot be read: it is not JSON$/],
    ["with too many values", `[${"1,".repeat(200_001)}1]`, /more than 200000 values/],
    ["that is a list", "[]", /is not a JSON object/],
    ["without anything", "{}", /has neither version nor values nor set/],
    ["with other fields", '{"version": "1", "chart": "web"}', /has other fields/],
    ["with an empty version", '{"version": ""}', /version is not a text/],
    ["with a number as version", '{"version": 1.2}', /version is not a text/],
    ["with a long version", `{"version": "${"1".repeat(257)}"}`, /more than 256 characters/],
    ["with a list of values", '{"values": [1]}', /values is not an object/],
    ["with a line that is no text", '{"set": [1]}', /set is not a list of texts/],
    ["with values below each other", `{"values": ${nested(201)}}`, /more than 200 levels/],
    ["that ends a naive reader", `{"values": ${nested(100_000)}}`, /more than 200 levels/],
  ];
  for (const [what, text, message] of rejected)
    test(`${what} is rejected`, () =>
      assert.throws(() => parseProposal(text), { code: "REQUEST_INVALID", message }));
});
