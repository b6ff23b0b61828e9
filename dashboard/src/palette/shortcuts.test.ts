import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { entryAfter, type Press, type Shortcut, shortcutFor } from "./shortcuts.ts";

describe("a key", () => {
  const plain: Press = { key: "x", hasCommand: false, isTyping: false, before: "" };
  const rows: readonly (readonly [string, Partial<Press>, Shortcut | undefined])[] = [
    ["opens the palette with Ctrl or ⌘", { key: "k", hasCommand: true }, { kind: "palette" }],
    [
      "opens the palette also from a field",
      { key: "K", hasCommand: true, isTyping: true },
      { kind: "palette" },
    ],
    ["goes to a page after g", { key: "c", before: "g" }, { kind: "go", href: "/clusters" }],
    ["goes nowhere without g", { key: "c" }, undefined],
    ["is that of the field that has the focus", { key: "/", isTyping: true }, undefined],
    ["goes to the filter", { key: "/" }, { kind: "filter" }],
    ["goes to the next entry", { key: "j" }, { kind: "move", by: 1 }],
    ["goes to the previous entry", { key: "k" }, { kind: "move", by: -1 }],
    ["is not a move in a field", { key: "j", isTyping: true }, undefined],
    ["shows the help", { key: "?" }, { kind: "help" }],
    ["does not replace a shortcut of the browser", { key: "s", hasCommand: true }, undefined],
  ];
  for (const [name, press, shortcut] of rows)
    test(name, () => {
      assert.deepEqual(shortcutFor({ ...plain, ...press }), shortcut);
    });
});

describe("the next entry", () => {
  const entries = ["/a", "/b", "/c"];
  const rows = [
    ["is the first one on a new page", { focused: -1, last: "", by: 1 }, 0],
    ["is the first one where the last is gone", { focused: -1, last: "/x", by: 1 }, 0],
    ["is beside the one with the focus", { focused: 1, last: "/a", by: 1 }, 2],
    ["is before the one with the focus", { focused: 1, last: "", by: -1 }, 0],
    ["is beside the one that was opened, after Back", { focused: -1, last: "/b", by: 1 }, 2],
    ["is before the one that was opened, after Back", { focused: -1, last: "/b", by: -1 }, 0],
    ["is none after the last one", { focused: 2, last: "", by: 1 }, undefined],
    ["is none before the first one", { focused: 0, last: "", by: -1 }, undefined],
  ] as const;
  test.each(rows)("%s", (_, from, index) => {
    assert.equal(entryAfter(entries, from), index);
  });
});
