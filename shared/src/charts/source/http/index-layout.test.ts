import assert from "node:assert/strict";
import { describe, test } from "vitest";
import {
  isComplete,
  type Layout,
  type LayoutLine,
  startOfIndex,
  stepLine,
} from "./index-layout.ts";

function line(text: string): LayoutLine {
  const content = text.trimStart();
  const indent = text.startsWith("\t") ? undefined : text.length - content.length;
  const isBlank = content === "" || content.startsWith("#");
  return { indent: isBlank ? -1 : indent, isItem: /^-( |$)/.test(content), content };
}

const hasApiVersion = true;
const before: Layout = { kind: "before", hasApiVersion };
const entries: Layout = { kind: "entries", hasApiVersion };
const chart: Layout = { kind: "chart", name: "web", indent: 2, hasApiVersion };
const after: Layout = { kind: "after", hasApiVersion };
const chartOf = (name: string, indent = 2): Layout => ({
  kind: "chart",
  name,
  indent,
  hasApiVersion,
});

describe("a line of an index", () => {
  for (const [what, layout, text, expected] of [
    ["begins the version", startOfIndex, "apiVersion: v1", before],
    ["begins the entries", before, "entries:", entries],
    ["begins the entries with a comment", before, "entries: # all", entries],
    ["begins the first chart", entries, "  web:", chart],
    ["begins the first chart with any indent", entries, "    web:", chartOf("web", 4)],
    ["begins the next chart", chart, "  api:", chartOf("api")],
    ["begins a chart of the same name", chart, "  web:", chartOf("web")],
    ["begins a chart with a quoted name", chart, "  'a b':", chartOf("a b")],
    ["ends the chart with another key", chart, "generated: now", after],
    ["ends the entries without a chart", entries, "generated: now", after],
  ] as const)
    test(what, () => assert.deepEqual(stepLine(layout, line(text)), expected));

  for (const [what, layout, text] of [
    ["that is empty", chart, ""],
    ["with a comment", chart, "# of web"],
    ["of the start of the document", startOfIndex, "---"],
    ["of an item at the top", after, "- abc"],
    ["below another key", before, "  x: y"],
    ["of a chart, deeper than its name", chart, "    version: 1.0.0"],
    ["of a chart, an item as deep as its name", chart, "  - version: 1.0.0"],
  ] as const)
    test(`${what} changes nothing`, () => assert.equal(stepLine(layout, line(text)), layout));

  for (const [what, layout, text] of [
    ["a tab", chart, "\tversion: 1.0.0"],
    ["a second document", before, "---"],
    ["the end of a document", after, "..."],
    ["entries a second time", after, "entries:"],
    ["entries within entries", chart, "entries:"],
    ["entries with a value", before, "entries: {}"],
    ["an item in the entries", entries, "- name: web"],
    ["an item before the first chart", entries, "  - name: web"],
    ["half an indent", chart, " web:"],
    ["a name with an escape", chart, '  "\\x78":'],
    ["an anchor", chart, "  &a web:"],
  ] as const)
    test(`${what} is not the plain layout`, () =>
      assert.equal(stepLine(layout, line(text)), undefined));
});

test("an index may end once it has entries and a version", () => {
  const layouts = [startOfIndex, before, entries, chart, after];

  assert.deepEqual(layouts.map(isComplete), [false, false, true, true, true]);
  assert.equal(isComplete({ kind: "after", hasApiVersion: false }), false);
});
