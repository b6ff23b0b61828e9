import assert from "node:assert/strict";
import { describe, it } from "vitest";
import { parseIndexDocument } from "./index-document.ts";
import { readChartEntries } from "./index-entry.ts";

function versions(text: string, chart = "x"): readonly string[] {
  const { charts } = parseIndexDocument(new TextEncoder().encode(text));
  return readChartEntries(chart, charts.get(chart)).entries.map(({ version }) => version);
}

describe("an index", () => {
  it("keeps versions as they are written", () => {
    assert.deepEqual(
      versions("apiVersion: v1\nentries: {x: [{name: x, version: 1.10}, {name: x, version: 1e3}]}"),
      ["1.10"],
    );
  });

  it("may be JSON", () => {
    const text = JSON.stringify({
      apiVersion: "v1",
      entries: {
        x: [
          { name: "x", version: "1.0.0" },
          { name: "x", version: 2 },
        ],
      },
    });

    assert.deepEqual(versions(` ${text}`), ["1.0.0"]);
  });

  it("may have aliases, and the same key twice", () => {
    const text =
      "apiVersion: v1\nentries:\n  y:\n  - &one {name: y, version: 1.0.0, version: 2.0.0}\n  x:\n  - *one\n";

    assert.deepEqual(versions(text), ["2.0.0"]);
  });

  for (const empty of ["entries: {}", "entries:", "entries: null", ""]) {
    it(`may have no charts (${empty})`, () => {
      assert.equal(
        parseIndexDocument(new TextEncoder().encode(`apiVersion: v1\n${empty}`)).charts.size,
        0,
      );
    });
  }

  it("may have charts with the names of JavaScript's own properties", () => {
    assert.deepEqual(
      versions(
        '{"apiVersion":"v1","entries":{"__proto__":[{"name":"p","version":"1.0.0"}]}}',
        "__proto__",
      ),
      ["1.0.0"],
    );
    assert.deepEqual(
      versions("apiVersion: v1\nentries: {__proto__: [{name: p, version: 1.0.0}]}", "__proto__"),
      ["1.0.0"],
    );
    assert.deepEqual(versions("apiVersion: v1\nentries: {}", "constructor"), []);
  });

  const rejected: readonly (readonly [name: string, text: string, message: RegExp])[] = [
    ["a web page", "<!DOCTYPE html>\n<html><body>Log in: now</body></html>", /it is a web page/],
    ["nothing", "", /it is empty/],
    ["text", "hello", /it is a piece of text/],
    ["a list", "- 1", /it is a list/],
    ["another document in YAML", "kind: ConfigMap\napiVersion: ''", /no apiVersion/],
    ["entries that are a list", "apiVersion: v1\nentries: [1]", /not a map of charts/],
    ["tabs for spaces", "apiVersion: v1\nentries:\n\tx:\n\t- name: x", /it is not YAML: /],
    ["a quote without its end", 'apiVersion: v1\nentries:\n  x: "abc', /it is not YAML: /],
    ["half of JSON", '{"apiVersion": "v1", "entries": {"x": [', /it is not YAML: /],
    [
      "a truncated line, which is not quoted",
      "apiVersion: v1\nentries:\n  x:\n  - token: hidden\n    vers",
      /^Error: it is not YAML: can not read an implicit mapping pair; a colon is missed in line 5$/,
    ],
  ];
  for (const [name, text, message] of rejected) {
    it(`is not ${name}`, () => assert.throws(() => versions(text), message));
  }
});
