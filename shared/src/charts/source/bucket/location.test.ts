import assert from "node:assert/strict";
import { describe, it } from "vitest";
import { bucketInHost } from "./location.ts";

describe("a host of Amazon", () => {
  const named: readonly (readonly [host: string, bucketName: string, endpoint: string])[] = [
    ["web.s3.amazonaws.com", "web", "s3.amazonaws.com"],
    ["web.s3.eu-west-1.amazonaws.com", "web", "s3.eu-west-1.amazonaws.com"],
    ["web.s3-eu-west-1.amazonaws.com", "web", "s3-eu-west-1.amazonaws.com"],
    ["my.web.s3.eu-west-1.amazonaws.com", "my.web", "s3.eu-west-1.amazonaws.com"],
    ["web.s3.cn-north-1.amazonaws.com.cn", "web", "s3.cn-north-1.amazonaws.com.cn"],
    ["web.s3.dualstack.eu-west-1.amazonaws.com", "web", "s3.dualstack.eu-west-1.amazonaws.com"],
  ];
  for (const [host, bucketName, endpoint] of named) {
    it(`has the bucket ${bucketName} in ${host}`, () => {
      assert.deepEqual(bucketInHost(host), { endpoint, bucketName });
    });
  }

  for (const host of [
    "s3.amazonaws.com",
    "s3.eu-west-1.amazonaws.com",
    "s3.dualstack.eu-west-1.amazonaws.com",
    "web.s3.example.com",
    "web.s3.amazonaws.com.example.com",
    "amazonaws.com",
    "127.0.0.1:9000",
  ]) {
    it(`has no bucket in ${host}`, () => assert.equal(bucketInHost(host), undefined));
  }
});
