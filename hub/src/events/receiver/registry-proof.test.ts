import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { test } from "vitest";
import { type Credentials, isAuthentic } from "./registry-proof.ts";

const key = "k3y: with a colon";
const body = Buffer.from('{"repository":"charts/web"}');
const signed = (with_: string, of: Uint8Array = body) =>
  `sha256=${createHmac("sha256", with_).update(of).digest("hex")}`;
const basic = (user: string, password: string) => `Basic ${btoa(`${user}:${password}`)}`;

const cases: readonly (readonly [what: string, proof: Credentials, isRight: boolean])[] = [
  ["Bearer and the key", { authorization: `Bearer ${key}` }, true],
  ["bearer and the key", { authorization: `bearer   ${key} ` }, true],
  ["the key alone", { authorization: key }, true],
  ["Basic with the key as password", { authorization: basic("harbor", key) }, true],
  ["a signature", { signature: signed(key) }, true],
  ["a signature in capitals", { signature: signed(key).toUpperCase() }, true],
  ["nothing", {}, false],
  ["empty headers", { authorization: "", signature: "" }, false],
  ["another key", { authorization: "Bearer other" }, false],
  ["a part of the key", { authorization: `Bearer ${key.slice(0, -1)}` }, false],
  ["Basic with the key as user", { authorization: basic(key, "x") }, false],
  ["Basic that is not base64", { authorization: "Basic %%%" }, false],
  ["a signature with another key", { signature: signed("other") }, false],
  ["a signature of another body", { signature: signed(key, Buffer.from("{}")) }, false],
  ["a signature without its algorithm", { signature: signed(key).slice(7) }, false],
];
for (const [what, proof, isRight] of cases) {
  test(`${what} is ${isRight ? "accepted" : "rejected"}`, () => {
    assert.equal(isAuthentic(key, proof, body), isRight);
  });
}

test("an empty key rejects every request", () => {
  assert.equal(isAuthentic("", { authorization: "" }, body), false);
  assert.equal(isAuthentic("", { authorization: "Bearer " }, body), false);
  assert.equal(isAuthentic("", { signature: signed("") }, body), false);
});
