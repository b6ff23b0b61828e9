import assert from "node:assert/strict";
import { describe, it } from "vitest";
import { describeUrl, isLoopback, isSameParty, joinAddress, mayHoldSecret } from "./address.ts";

describe("an address in a message", () => {
  it("has no user, password or query", () => {
    const shown = describeUrl("https://me:pw@host:8443/a/index.yaml?token=abc");

    assert.equal(shown, "https://host:8443/a/index.yaml?…");
  });

  it("is replaced when it is invalid", () => {
    assert.equal(describeUrl("https://me:pw@"), "an invalid address");
  });
});

describe("an address", () => {
  const cases: readonly (readonly [address: string, mayHold: boolean])[] = [
    ["https://host:8443/a/web-1.0.0.tgz", false],
    ["oci://host/a/web", false],
    ["", false],
    ["https://me@host/web-1.0.0.tgz", true],
    ["https://:pw@host/web-1.0.0.tgz", true],
    ["https://host/web-1.0.0.tgz?token=abc", true],
  ];
  for (const [address, mayHold] of cases) {
    it(`${mayHold ? "may" : "cannot"} contain a secret: ${JSON.stringify(address)}`, () => {
      assert.equal(mayHoldSecret(address), mayHold);
    });
  }
});

describe("a chart's address in an index", () => {
  const cases: readonly (readonly [
    name: string,
    base: string,
    reference: string,
    joined: string | undefined,
  ])[] = [
    ["absolute is unchanged", "https://r/a", "https://other/x.tgz?y=1", "https://other/x.tgz?y=1"],
    ["relative is below the repository", "https://r/a", "x-1.0.0.tgz", "https://r/a/x-1.0.0.tgz"],
    ["is the same with a final slash", "https://r/a/", "charts/x.tgz", "https://r/a/charts/x.tgz"],
    ["starting with a slash is below the host", "https://r/a/", "/b/x.tgz", "https://r/b/x.tgz"],
    ["with .. is below the parent path", "https://r/a/b", "../x.tgz", "https://r/a/x.tgz"],
    ["of a registry is unchanged", "https://r/a", "oci://reg/p/x:1.0.0", "oci://reg/p/x:1.0.0"],
    ["keeps the repository's query", "https://r/a?token=t", "x.tgz", "https://r/a/x.tgz?token=t"],
    ["keeps a plus", "https://r/a", "x-1.0.0+b.tgz", "https://r/a/x-1.0.0+b.tgz"],
    ["is undefined when it is invalid", "https://r/a", "https://", undefined],
  ];
  for (const [name, base, reference, joined] of cases) {
    it(name, () => assert.equal(joinAddress(base, reference), joined));
  }
});

describe("credentials", () => {
  const cases: readonly (readonly [from: string, to: string, may: boolean])[] = [
    ["https://r/a", "https://r/b", true],
    ["https://r/a", "https://r:8443/a", false],
    ["https://r/a", "https://s/a", false],
    ["https://r/a", "http://r/a", false],
    ["http://r/a", "https://r/a", true],
    ["http://r:8080/a", "https://r/a", false],
    ["https://r/a", "https://sub.r/a", false],
  ];
  for (const [from, to, may] of cases) {
    it(`for ${from} ${may ? "may" : "may not"} be sent to ${to}`, () => {
      assert.equal(isSameParty(new URL(from), new URL(to)), may);
    });
  }
});

describe("a loopback address", () => {
  for (const host of ["localhost", "localhost:5000", "127.0.0.1:5000", "127.9.9.9", "[::1]:5000"]) {
    it(`is ${host}`, () => assert.equal(isLoopback(host), true));
  }
  for (const host of [
    "localhost.example.org",
    "127.0.0.1.example.org",
    "10.0.0.1",
    "example.org:5000",
  ]) {
    it(`is not ${host}`, () => assert.equal(isLoopback(host), false));
  }
});
