import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { returnPathOf } from "./return-path.ts";

describe("a login leads", () => {
  const rows: readonly (readonly [what: string, given: string | undefined, path: string])[] = [
    ["to the page that it began at", "/apps/HelmOp/shop/web", "/apps/HelmOp/shop/web"],
    ["to its query, too", "/apps?state=failed&q=a%2Fb", "/apps?state=failed&q=a%2Fb"],
    ["to a path in ASCII", "/apps?q=süd", "/apps?q=s%C3%BCd"],
    ["to no fragment, which only the browser knows", "/apps#login=x", "/apps"],
    ["to the overview without a page", undefined, "/"],
    ["to the overview from an empty one", "", "/"],
    ["to no other site", "https://evil.example.com/", "/"],
    ["to no other site by two slashes", "//evil.example.com/", "/"],
    ["to no other site by a backslash", "/\\evil.example.com/", "/"],
    ["to no other site by two backslashes", "\\\\evil.example.com/", "/"],
    ["to no other site by a tab that browsers remove", "/\t/evil.example.com/", "/"],
    ["to no other site by a line that browsers remove", "/\n/evil.example.com/", "/"],
    ["to no other site by a path that is shortened", "/..//evil.example.com/", "/"],
    ["to no other site by dots that are encoded", "/%2e%2e//evil.example.com/", "/"],
    ["to a page that only looks like a user at a host", "/@evil.example.com", "/@evil.example.com"],
    ["to no script", "javascript:alert(1)", "/"],
    ["to no path without a slash", "apps", "/"],
    ["to no address of the API, such as that of a login", "/api/v1/login/oidc", "/"],
    ["to no address of the API by a path that is shortened", "/apps/../api", "/"],
    ["to no path that a cookie cannot have", `/${"x".repeat(1_000)}`, "/"],
  ];
  for (const [what, given, path] of rows) test(what, () => assert.equal(returnPathOf(given), path));
});
