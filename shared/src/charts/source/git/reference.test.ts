import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { type GitReference, listedRefs, parseRemoteRefs, selectReference } from "./reference.ts";

const id = (digit: string): string => digit.repeat(40);

const refs = parseRemoteRefs(
  [
    `${id("a")}\tHEAD`,
    `${id("a")}\trefs/heads/main`,
    `${id("b")}\trefs/heads/master`,
    `${id("c")}\trefs/heads/feature/x`,
    `${id("d")}\trefs/pull/1/head`,
    `${id("1")}\trefs/tags/v1.0.0`,
    `${id("e")}\trefs/tags/v1.2.0`,
    `${id("2")}\trefs/tags/v1.2.0^{}`,
    `${id("3")}\trefs/tags/2.0.0-rc.1`,
    `${id("4")}\trefs/tags/v9`,
    "",
  ].join("\n"),
);

describe("a reference of a Git repository is resolved to", () => {
  const cases: readonly (readonly [name: string, ref: GitReference, revision: string])[] = [
    ["branch master by default", {}, `master@sha1:${id("b")}`],
    ["a branch", { branch: "main" }, `main@sha1:${id("a")}`],
    ["a branch with a slash", { branch: "feature/x" }, `feature/x@sha1:${id("c")}`],
    ["a tag", { tag: "v1.0.0", branch: "main" }, `v1.0.0@sha1:${id("1")}`],
    ["the commit of an annotated tag", { tag: "v1.2.0" }, `v1.2.0@sha1:${id("2")}`],
    ["the highest version", { semver: ">=1.0.0", tag: "v9" }, `v1.2.0@sha1:${id("2")}`],
    ["a pre-release that is asked for", { semver: ">=1.0.0-0" }, `2.0.0-rc.1@sha1:${id("3")}`],
    ["a full name", { name: "refs/pull/1/head", semver: "*" }, `refs/pull/1/head@sha1:${id("d")}`],
    ["the full name of a branch", { name: "refs/heads/main" }, `refs/heads/main@sha1:${id("a")}`],
    ["a commit", { commit: id("f"), name: "refs/heads/main" }, `sha1:${id("f")}`],
    ["a commit with its branch", { commit: id("f"), branch: "main" }, `main@sha1:${id("f")}`],
  ];
  for (const [name, ref, revision] of cases)
    test(name, () => {
      assert.equal(selectReference(refs, ref, "https://git.example.com/x").revision, revision);
    });

  test.each<readonly [GitReference, string | undefined]>([
    [{}, "refs/heads/master"],
    [{ branch: "feature/x" }, "refs/heads/feature/x"],
    [{ tag: "v1.2.0" }, "refs/tags/v1.2.0"],
    [{ semver: ">=1.0.0" }, "refs/tags/v1.2.0"],
    [{ name: "refs/pull/1/head" }, "refs/pull/1/head"],
    [{ name: "HEAD" }, "HEAD"],
    [{ commit: id("f"), branch: "main" }, undefined],
    [{ name: id("9") }, undefined],
  ])("%j under the full name %s", (ref, name) => {
    const listed = [...refs, { name: id("9"), commit: id("a") }];
    assert.equal(selectReference(listed, ref, "x").ref, name);
  });

  test("keeps the object of an annotated tag for its signature", () => {
    assert.deepEqual(selectReference(refs, { tag: "v1.2.0" }, "x").tag, {
      name: "v1.2.0",
      object: id("e"),
    });
  });
});

describe("a reference that is not there is an error:", () => {
  const cases: readonly (readonly [GitReference, string])[] = [
    [{ branch: "gone" }, 'https://x has no branch "gone"'],
    [{ tag: "v3" }, 'https://x has no tag "v3"'],
    [{ name: "refs/pull/2/head" }, 'https://x has no reference "refs/pull/2/head"'],
    [
      { semver: ">=5" },
      'https://x has no tag that satisfies ">=5"; its highest are 2.0.0-rc.1, v1.2.0, v1.0.0',
    ],
    [
      { commit: "abc" },
      'spec.ref.commit "abc" is not the full id of a commit: 40 digits of 0-9 and a-f',
    ],
  ];
  for (const [ref, message] of cases)
    test(message, () => {
      assert.throws(() => selectReference(refs, ref, "https://x"), { message });
    });
});

test("only the names that a reference needs are listed", () => {
  assert.deepEqual(
    [{}, { tag: "x" }, { semver: "*" }, { name: "refs/pull/1/head" }, { commit: "c" }].map(
      listedRefs,
    ),
    ["heads", "tags", "tags", "all", undefined],
  );
});
