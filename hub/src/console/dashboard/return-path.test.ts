import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { returnPathOf } from "./return-path.ts";

describe("a login", () => {
  const rows: readonly (readonly [what: string, given: string | undefined, path: string])[] = [
    ["redirects to the page that it began at", "/apps/HelmOp/shop/web", "/apps/HelmOp/shop/web"],
    ["keeps the query", "/apps?state=failed&q=a%2Fb", "/apps?state=failed&q=a%2Fb"],
    ["encodes the path in ASCII", "/apps?q=süd", "/apps?q=s%C3%BCd"],
    ["drops the fragment", "/apps#login=x", "/apps"],
    ["redirects to the overview without a page", undefined, "/"],
    ["redirects to the overview from an empty page", "", "/"],
    ["never redirects to another site", "https://evil.example.com/", "/"],
    ["never redirects to another site by two slashes", "//evil.example.com/", "/"],
    ["never redirects to another site by a backslash", "/\\evil.example.com/", "/"],
    ["never redirects to another site by two backslashes", "\\\\evil.example.com/", "/"],
    ["never redirects to another site by a tab that browsers remove", "/\t/evil.example.com/", "/"],
    [
      "never redirects to another site by a line that browsers remove",
      "/\n/evil.example.com/",
      "/",
    ],
    ["never redirects to another site by a path that is shortened", "/..//evil.example.com/", "/"],
    ["never redirects to another site by dots that are encoded", "/%2e%2e//evil.example.com/", "/"],
    [
      "redirects to a page whose path looks like a user at a host",
      "/@evil.example.com",
      "/@evil.example.com",
    ],
    ["never redirects to a script", "javascript:alert(1)", "/"],
    ["never redirects to a path without a slash", "apps", "/"],
    [
      "never redirects to an address of the API, such as that of a login",
      "/api/v1/login/oidc",
      "/",
    ],
    ["never redirects to an address of the API by a path that is shortened", "/apps/../api", "/"],
    ["never redirects to a path that is too long for a cookie", `/${"x".repeat(1_000)}`, "/"],
  ];
  for (const [what, given, path] of rows) test(what, () => assert.equal(returnPathOf(given), path));
});
