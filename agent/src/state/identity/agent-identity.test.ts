import assert from "node:assert/strict";
import { describe, test } from "vitest";
import {
  type AgentIdentity,
  certificateTimes,
  fromSecret,
  toSecretData,
} from "./agent-identity.ts";
import { parseBootstrap } from "./bootstrap.ts";

const identity: AgentIdentity = {
  keyPem: "key",
  chainPem: "chain",
  authoritiesPem: "authorities",
  hubAddress: "hub:1",
  hubId: "hub",
  clientId: "client",
  bootstrapDigest: "digest",
  cluster: { namespace: "fleet-default", name: "one", uid: "u" },
};

function secret(texts: Readonly<Record<string, string>>) {
  const data = Object.entries(texts).map(([key, text]) => [
    key,
    Buffer.from(text).toString("base64"),
  ]);
  return { metadata: { name: "secret" }, data: Object.fromEntries(data) as Record<string, string> };
}

describe("the agent's identity in its Secret", () => {
  test("is parsed back unchanged", () => {
    const nextKey = { keyPem: "next", bootstrapDigest: "another" };

    for (const stored of [
      { keyPem: "key" },
      { keyPem: "key", enrolled: identity },
      { keyPem: "key", enrolled: identity, nextKey },
    ])
      assert.deepEqual(fromSecret({ metadata: { name: "s" }, data: toSecretData(stored) }), stored);
  });

  test("is only a key if a field is missing", () => {
    const data = { ...toSecretData({ keyPem: "key", enrolled: identity }), clusterUID: "" };

    assert.deepEqual(fromSecret({ metadata: { name: "s" }, data }), { keyPem: "key" });
    assert.equal(fromSecret({ metadata: { name: "s" } }), undefined);
  });

  const validity = { notBefore: 1_000, notAfter: 4_000 };
  const times: readonly (readonly [string, "now" | "before", number, object])[] = [
    ["if it was issued earlier", "before", 9_000, { renewAt: 3_000, expiresAt: 4_000 }],
    ["if it is new", "now", 1_200, { renewAt: 3_000, expiresAt: 4_000 }],
    [
      "if the agent's clock is ahead of the hub's",
      "now",
      9_000,
      { renewAt: 11_000, expiresAt: 12_000 },
    ],
    ["if the agent's clock is behind the hub's", "now", 0, { renewAt: 2_000, expiresAt: 3_000 }],
  ];
  for (const [what, issued, now, expected] of times) {
    test(`is renewed after two thirds of its lifetime ${what}`, () => {
      assert.deepEqual(certificateTimes(validity, issued, now), expected);
    });
  }
});

describe("a bootstrap Secret", () => {
  const cases: readonly (readonly [string, Readonly<Record<string, string>>, RegExp])[] = [
    ["no address", {}, /address is "", expected host:port/],
    ["an address with a scheme", { address: "https://hub" }, /expected host:port/],
    ["no authority", { address: "hub:1" }, /ca.crt is not a PEM certificate/],
    [
      "an invalid authority",
      { address: "hub:1", "ca.crt": "x" },
      /ca.crt is not a PEM certificate/,
    ],
  ];
  for (const [what, texts, expected] of cases) {
    test(`is rejected with ${what}`, () => {
      assert.throws(() => parseBootstrap(secret(texts)), expected);
    });
  }
});
