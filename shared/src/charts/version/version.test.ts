import assert from "node:assert/strict";
import { test } from "vitest";
import { compareVersions, parseStrictVersion, parseVersion } from "./version.ts";

function order(a: string, b: string): number {
  const [left, right] = [parseVersion(a), parseVersion(b)];
  assert.ok(left !== undefined && right !== undefined);
  return compareVersions(left, right);
}

test("a version is parsed leniently and keeps its text", () => {
  assert.deepEqual(parseVersion("v01.2-rc.1+b.7"), {
    text: "v01.2-rc.1+b.7",
    major: 1n,
    minor: 2n,
    patch: 0n,
    prerelease: "rc.1",
    build: "b.7",
  });
});

test("numbers above 2^53 are exact, and those above 2^64-1 are rejected", () => {
  assert.equal(order("9007199254740993.0.0", "9007199254740992.0.0"), 1);
  assert.equal(parseVersion("1.2.18446744073709551615")?.patch, 18446744073709551615n);
  assert.equal(parseVersion("1.2.18446744073709551616"), undefined);
});

test("pre-releases are below their release and are ordered identifier by identifier", () => {
  const ascending = [
    "1.0.0-alpha",
    "1.0.0-alpha.1",
    "1.0.0-alpha.beta",
    "1.0.0-beta",
    "1.0.0-beta.2",
    "1.0.0-beta.11",
    "1.0.0-rc.1",
    "1.0.0",
  ];

  assert.deepEqual(ascending.toReversed().sort(order), ascending);
});

test("build metadata does not affect the order", () => {
  assert.equal(order("1.0.0+a", "1.0.0+b"), 0);
});

test("the strict parser accepts three numbers only", () => {
  for (const text of ["1.2.3", "0.0.0", "1.2.3-rc.1+b", "1.2.3+b"])
    assert.ok(parseStrictVersion(text), text);
  for (const text of [
    "",
    "1.2",
    "v1.2.3",
    "01.2.3",
    "1.2.3-01",
    "1.2.3-",
    "1.2.3.4",
    " 1.2.3",
    "1.2.3\n",
    "=1.2.3",
  ]) {
    assert.equal(parseStrictVersion(text), undefined, text);
  }
});
