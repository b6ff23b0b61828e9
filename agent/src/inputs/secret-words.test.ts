import assert from "node:assert/strict";
import { rawNumber } from "@flotilla/shared/json/exact.ts";
import { test } from "vitest";
import { secretWords, withoutWords } from "./secret-words.ts";

const pem = "-----BEGIN KEY-----\nMIIBVgIBADANBgkq\n-----END KEY-----\n";
const words = secretWords([
  { db: { password: "hunter2", port: 5432, pin: 31337001 }, on: true, none: null },
  { users: [{ token: 'a"quoted\\token' }], pem, big: rawNumber("12345678901234567890") },
]);

const cases: readonly (readonly [what: string, text: string, shown: string])[] = [
  ["a text", 'Invalid value: "hunter2": too short', 'Invalid value: "***": too short'],
  ["a text wherever it stands", "hunter2 and xhunter2x", "*** and x***x"],
  ["a text in quotes", String.raw`value "a\"quoted\\token" is wrong`, 'value "***" is wrong'],
  ["a text in base64", "data: aHVudGVyMg== is", "data: *** is"],
  ["a long number", "pin 31337001", "pin ***"],
  ["a number that JavaScript would spoil", "got 12345678901234567890", "got ***"],
  ["a line of a text", 'line 2: "MIIBVgIBADANBgkq"', 'line 2: "***"'],
];
for (const [what, text, shown] of cases) {
  test(`a sentence does not show ${what} from a Secret`, () => {
    assert.equal(withoutWords(text, words), shown);
  });
}

test("a sentence stays as it is where nothing of a Secret is in it", () => {
  const text = "Service web: port 5432 is true, null or taken";
  assert.equal(withoutWords(text, words), text);
});
