import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { parseModules, submoduleAccess, submoduleUrl } from "./submodules.ts";

const parent = "https://git.example.com/team/app.git";

test("the addresses of submodules are those of .gitmodules", () => {
  const output = "submodule.a.b.path\nvendor/a/\0submodule.a.b.url\n../a.git\0submodule.c.url\nx\0";

  assert.deepEqual([...parseModules(output)], [["vendor/a", "../a.git"]]);
});

describe("the address of a submodule", () => {
  const cases: readonly (readonly [string, string])[] = [
    ["https://other.example.com/x", "https://other.example.com/x"],
    ["../lib.git", "https://git.example.com/team/lib.git"],
    ["../../lib.git", "https://git.example.com/lib.git"],
    ["git@git.example.com:team/lib.git", "ssh://git@git.example.com/team/lib.git"],
    ["ssh://git@git.example.com/lib.git", "ssh://git@git.example.com/lib.git"],
  ];
  for (const [url, expected] of cases)
    test(`${url} is ${expected}`, () => {
      assert.equal(submoduleUrl(parent, url, "vendor/lib"), expected);
    });

  for (const url of [
    "file:///etc",
    "/etc",
    "ext::sh -c id",
    "git://x/y",
    "https://a:b@x/y",
    "https://x/y?z",
  ])
    test(`${url} is refused`, () => {
      assert.throws(() => submoduleUrl(parent, url, "vendor/lib"), { code: "GIT_CONTENT_INVALID" });
    });
});

describe("the credentials of a repository", () => {
  const access = { origin: "https://git.example.com", username: "u", password: "p", caPem: "ca" };

  test("are sent for submodules at its own host", () => {
    assert.equal(submoduleAccess(parent, access, "https://git.example.com/x", "x"), access);
  });

  test("are not sent to other hosts", () => {
    assert.deepEqual(submoduleAccess(parent, access, "https://other.example.com/x", "x"), {
      origin: "https://other.example.com",
      caPem: "ca",
    });
    assert.throws(() => submoduleAccess(parent, access, "ssh://git@other.example.com/x", "x"), {
      code: "GIT_CONTENT_INVALID",
    });
  });
});
