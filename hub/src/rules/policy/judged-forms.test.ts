import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { judgedForms } from "./judged-forms.ts";

describe("an address or a path is judged", () => {
  const rows: readonly (readonly [text: string, forms: readonly string[]])[] = [
    ["https://charts.example.com", ["https://charts.example.com"]],
    ["https://charts.example.com/", ["https://charts.example.com/"]],
    ["https://charts.example.com/stable", ["https://charts.example.com/stable"]],
    ["oci://r.example/charts/web", ["oci://r.example/charts/web"]],
    ["ssh://git@git.example.com/a.git", ["ssh://git@git.example.com/a.git"]],
    ["https://h.example/v1..2/a", ["https://h.example/v1..2/a"]],
    ["./charts/web", ["./charts/web"]],
    ["web", ["web"]],
    ["", [""]],
    ["HTTPS://H.example:443/a", ["HTTPS://H.example:443/a", "https://h.example/a"]],
    [
      "https://evil.example?.charts.example.com/",
      ["https://evil.example?.charts.example.com/", "https://evil.example/?.charts.example.com/"],
    ],
    [
      "https://evil.example\\.charts.example.com/a",
      ["https://evil.example\\.charts.example.com/a", "https://evil.example/.charts.example.com/a"],
    ],
    ["https://h.example/a b", ["https://h.example/a b", "https://h.example/a%20b"]],
  ];
  test.each(rows)("%s as it is written and as it is requested", (text, forms) => {
    assert.deepEqual(judgedForms(text), forms);
  });

  const climbing = [
    "https://github.com/good/../evil",
    "https://github.com/good/..",
    "https://github.com/good/%2e%2E/evil",
    "https://github.com/good/.%2e/evil",
    "https://github.com/good/.\t./evil",
    "https://github.com/good\\..\\evil",
    "https://github.com/good/x%2f..%2f..%2fevil",
    "https://github.com/good/%252e%252e/evil",
    "https://github.com/good/..?a",
    "charts/good/../evil",
    "../evil",
  ];
  test.each(climbing)("%s not at all", (text) => {
    assert.equal(judgedForms(text), undefined);
  });
});
