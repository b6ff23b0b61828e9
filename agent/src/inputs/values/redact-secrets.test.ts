import assert from "node:assert/strict";
import { rawNumber } from "@flotilla/shared/json";
import { test } from "vitest";
import { redact, secretTexts } from "./redact-secrets.ts";

const pem = "-----BEGIN KEY-----\nMIIBVgIBADANBgkq\n-----END KEY-----\n";
const registry = { auth: Buffer.from("robot:s3cr3t-key").toString("base64") };
const secrets = secretTexts([
  { db: { password: "hunter2", port: 5432, pin: 31337001 }, on: true, none: null },
  { users: [{ token: 'a"quoted\\token' }], pem, big: rawNumber("12345678901234567890") },
  { login: { username: "ann", password: "p/w d" }, flag: "true", count: "1", env: "prod" },
  { dockerconfigjson: JSON.stringify({ auths: { "registry.example.org": registry } }) },
]);

const base64 = (text: string) => Buffer.from(text).toString("base64");

const cases: readonly (readonly [what: string, text: string, expected: string])[] = [
  ["a text", 'Invalid value: "hunter2": too short', 'Invalid value: "***": too short'],
  ["a string anywhere", "hunter2 and xhunter2x", "*** and x***x"],
  ["a quoted string", String.raw`value "a\"quoted\\token" is wrong`, 'value "***" is wrong'],
  ["a string in base64", "data: aHVudGVyMg== is", "data: *** is"],
  ["a string in base64 without padding", "data: aHVudGVyMg is", "data: *** is"],
  ["a long number", "pin 31337001", "pin ***"],
  ["a number beyond JavaScript's precision", "got 12345678901234567890", "got ***"],
  ["a line of a string", 'line 2: "MIIBVgIBADANBgkq"', 'line 2: "***"'],
  [
    "user and password of a request",
    `Authorization: Basic ${base64("ann:p/w d")}`,
    "Authorization: Basic ***",
  ],
  [
    "a password of an address",
    "GET https://ann:p%2Fw%20d@x.example",
    "GET https://ann:***@x.example",
  ],
  ["a password of a query", "GET /?p=p%2Fw+d", "GET /?p=***"],
  ["the auth of a registry", `auth ${registry.auth}`, "auth ***"],
  ["the password in the auth of a registry", "denied: s3cr3t-key", "denied: ***"],
  ["a short string between quotes", `Invalid value: "p/w d"`, `Invalid value: "***"`],
  ["a short string as a word", "no user ann: denied", "no user ***: denied"],
  ["a short string at an end", "the user is ann.", "the user is ***."],
  ["a word of YAML between quotes", 'Invalid value: "true"', 'Invalid value: "***"'],
  ["a digit between quotes", 'Invalid value: "1"', 'Invalid value: "***"'],
];
for (const [what, text, expected] of cases) {
  test(`a message does not contain ${what} of a Secret`, () => {
    assert.equal(redact(text, secrets), expected);
  });
}

for (const text of [
  "Service web: port 5432 is true, null or taken",
  "1 of 1 clusters failed after 1m1s",
  "release prod/web in prod-eu, see prod.example.org and products",
  "annotation of an Annex",
])
  test(`a message without values of a Secret is not changed: ${text}`, () => {
    assert.equal(redact(text, secrets), text);
  });

test("short values are no patterns", () => {
  const odd = secretTexts([{ a: "a.c", b: "(x)", c: "]-[" }]);
  assert.equal(redact('abc a.c "(x)" \'x\' "]-["', odd), 'abc *** "***" \'x\' "***"');
});

test("without Secrets nothing is changed", () => {
  assert.equal(redact('"" is "x"', secretTexts([])), '"" is "x"');
});

test("a Secret of a tenant that is made to be expensive costs no more than its size", () => {
  const users = Array.from({ length: 20_000 }, (_, at) => [`u${at}_id`, `value-${at}`]);
  const short = Array.from({ length: 200_000 }, (_, at) => at.toString(36).padStart(4, "x"));
  const nested = `${'{"a":'.repeat(100_000)}"deeply hidden"${"}".repeat(100_000)}`;
  const made = secretTexts([{ users: Object.fromEntries(users), short, nested }]);

  // All pairs of a user and another text would be 400,000,000.
  assert.ok(made.anywhere.length < 1_200_000, String(made.anywhere.length));
  assert.equal(redact('value-7, "xxx1" and deeply hidden', made), '***, "***" and ***');
});
