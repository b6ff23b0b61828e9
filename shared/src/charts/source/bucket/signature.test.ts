import assert from "node:assert/strict";
import { describe, it } from "vitest";
import { encodeKey, queryText, signRequest } from "./signature.ts";

// The published examples of S3's documentation.
const keys = {
  accessKey: "AKIAIOSFODNN7EXAMPLE",
  secretKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
};
const nowMs = Date.UTC(2013, 4, 24);
const host = "https://examplebucket.s3.amazonaws.com";

describe("the signature", () => {
  const cases: readonly (readonly [
    path: string,
    headers: Readonly<Record<string, string>>,
    signature: string,
  ])[] = [
    [
      "/test.txt",
      { range: "bytes=0-9" },
      "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41",
    ],
    [
      "/?max-keys=2&prefix=J",
      {},
      "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7",
    ],
  ];
  for (const [path, headers, signature] of cases) {
    it(`of ${path} is that of the specification`, () => {
      const url = new URL(host + path);
      const signed = signRequest({ url, region: "us-east-1", nowMs }, keys, headers);

      assert.equal(signed.authorization.split("Signature=")[1], signature);
      assert.equal(signed.headers["x-amz-date"], "20130524T000000Z");
    });
  }
});

describe("the encoding of a request", () => {
  it("escapes everything but unreserved characters and the slashes of a key", () => {
    assert.equal(encodeKey("a b/ü+%/(x)*!'~"), "a%20b/%C3%BC%2B%25/%28x%29%2A%21%27~");
    assert.equal(queryText({ prefix: "a/b", "list-type": "2" }), "list-type=2&prefix=a%2Fb");
  });
});
