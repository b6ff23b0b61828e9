import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { cleanPath, linkLeaves, parseTree, selectEntries } from "./tree.ts";

const id = "a".repeat(40);
const entries = parseTree(
  Buffer.from(
    [
      `100644 blob ${id}\tREADME.md`,
      `100755 blob ${id}\tcharts/a/run.sh`,
      `100644 blob ${id}\tcharts/ab/Chart.yaml`,
      `120000 blob ${id}\tcharts/a/link`,
      `160000 commit ${id}\tvendor/lib`,
      "",
    ].join("\0"),
  ),
);

test("a tree of a commit has files, links and submodules", () => {
  assert.deepEqual(
    entries.map((entry) => [entry.kind, entry.path]),
    [
      ["file", "README.md"],
      ["file", "charts/a/run.sh"],
      ["file", "charts/ab/Chart.yaml"],
      ["link", "charts/a/link"],
      ["submodule", "vendor/lib"],
    ],
  );
});

describe("a sparse checkout", () => {
  test("has the files of its directories only", () => {
    assert.deepEqual(
      selectEntries(entries, ["./charts/a/"], id).map(({ path }) => path),
      ["charts/a/run.sh", "charts/a/link"],
    );
  });

  test("needs directories that are there", () => {
    assert.throws(() => selectEntries(entries, ["chart"], id), {
      code: "GIT_PATH_NOT_FOUND",
      message: `commit ${id} has no directory "chart" of spec.sparseCheckout`,
    });
  });
});

describe("a path that leaves the tree is refused", () => {
  for (const path of ["../x", "a/../../x", "a/.git/config", "a/.GIT/config"])
    test(path, () => {
      const tree = parseTree(Buffer.from(`100644 blob ${id}\t${path}\0`));
      assert.throws(() => selectEntries(tree, undefined, id), { code: "GIT_CONTENT_INVALID" });
    });

  test("of a user", () => {
    assert.equal(cleanPath("./charts//app/"), "charts/app");
    assert.throws(() => cleanPath("charts/../../x"), { code: "GIT_CONTENT_INVALID" });
  });
});

test("a link leaves the tree by an absolute path or by too many steps up", () => {
  const cases: readonly (readonly [string, string, boolean])[] = [
    ["a/b/link", "../c", false],
    ["a/b/link", "../../c", false],
    ["a/b/link", "../../../c", true],
    ["a/b/link", "x/../../../../c", true],
    ["link", "/etc/passwd", true],
  ];
  for (const [path, target, leaves] of cases)
    assert.equal(linkLeaves(path, target), leaves, target);
});

describe("a path that is too long is refused, and named", () => {
  test("of a user", () => {
    assert.throws(() => cleanPath("a/".repeat(513)), {
      code: "GIT_CONTENT_INVALID",
      message: /^the path "a\/a\/.*…" has 1026 characters, more than the limit of 1024/,
    });
  });

  test("of a commit", () => {
    const path = `${"a/".repeat(2_048)}b`;
    assert.throws(() => selectEntries([{ kind: "link", path, id }], [], id), {
      code: "GIT_CONTENT_INVALID",
      message: /^the commit has the path "a\/a\/.*…" of 4097 characters/,
    });
  });
});
