import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { type AccessFields, secretNames, sourceAccess } from "./access.ts";
import { SourceError } from "./source-error.ts";

const url = "https://charts.example.com";
const location = { kind: "http", repository: url, chart: "web" } as const;
const base64 = (text: string) => Buffer.from(text).toString("base64");
const planted = "planted-password";
const secrets: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  login: { username: base64("me"), password: base64(planted) },
  half: { password: base64(planted) },
  proxy: { address: base64("http://proxy.example.com:3128") },
};

function access(fields: Omit<AccessFields, "url">) {
  return sourceAccess("HelmRepository", { url, ...fields }, location, (name) => {
    const data = secrets[name];
    return data && { data };
  });
}

test("the Secrets of a source are named once each", () => {
  const [a, b] = [{ name: "a" }, { name: "b" }];
  assert.deepEqual(secretNames({ url, secretRef: a, certSecretRef: b, proxySecretRef: a }), [
    "a",
    "b",
  ]);
  assert.deepEqual(secretNames({ url }), []);
});

describe("the access to a source", () => {
  test("has its credentials, for its own address", () => {
    const { origin, ...found } = access({ secretRef: { name: "login" } });
    assert.equal(origin, url);
    assert.deepEqual([found.username, found.password], ["me", planted]);
  });

  test("is anonymous without Secrets", () => {
    const { username, password } = access({});
    assert.deepEqual([username, password], [undefined, undefined]);
  });

  const failures: readonly (readonly [what: string, Omit<AccessFields, "url">, RegExp])[] = [
    [
      "of secretRef does not exist",
      { secretRef: { name: "none" } },
      /^there is no Secret none in the namespace of the HelmRepository$/,
    ],
    [
      "of certSecretRef does not exist",
      { certSecretRef: { name: "certs" } },
      /^there is no Secret certs in the namespace/,
    ],
    [
      "has a password without a username",
      { secretRef: { name: "half" } },
      /password is set in the secret, but username isn't/,
    ],
  ];
  test.each(failures)("fails when the Secret %s, and is retried", (_, fields, message) => {
    assert.throws(
      () => access(fields),
      (thrown: unknown) => {
        assert.ok(thrown instanceof SourceError);
        assert.deepEqual([thrown.reason, thrown.stalls], ["AuthenticationFailed", false]);
        assert.match(thrown.message, message);
        assert.ok(!thrown.message.includes(planted));
        return true;
      },
    );
  });
});
