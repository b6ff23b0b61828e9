import assert from "node:assert/strict";
import { rawNumber } from "@flotilla/shared/json";
import { test } from "vitest";
import { redact, secretStrings } from "./redact-secrets.ts";

const pem = "-----BEGIN KEY-----\nMIIBVgIBADANBgkq\n-----END KEY-----\n";
const words = secretStrings([
  { db: { password: "hunter2", port: 5432, pin: 31337001 }, on: true, none: null },
  { users: [{ token: 'a"quoted\\token' }], pem, big: rawNumber("12345678901234567890") },
]);

const cases: readonly (readonly [what: string, text: string, expected: string])[] = [
  ["a text", 'Invalid value: "hunter2": too short', 'Invalid value: "***": too short'],
  ["a string anywhere", "hunter2 and xhunter2x", "*** and x***x"],
  ["a quoted string", String.raw`value "a\"quoted\\token" is wrong`, 'value "***" is wrong'],
  ["a string in base64", "data: aHVudGVyMg== is", "data: *** is"],
  ["a long number", "pin 31337001", "pin ***"],
  ["a number beyond JavaScript's precision", "got 12345678901234567890", "got ***"],
  ["a line of a string", 'line 2: "MIIBVgIBADANBgkq"', 'line 2: "***"'],
];
for (const [what, text, expected] of cases) {
  test(`a message does not contain ${what} of a Secret`, () => {
    assert.equal(redact(text, words), expected);
  });
}

test("a message without values of a Secret is not changed", () => {
  const text = "Service web: port 5432 is true, null or taken";
  assert.equal(redact(text, words), text);
});
