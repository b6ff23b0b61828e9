import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { type Press, type Shortcut, shortcutFor } from "./shortcuts.ts";

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
    ["is no move in a field", { key: "j", isTyping: true }, undefined],
    ["shows the help", { key: "?" }, { kind: "help" }],
    ["does not replace a shortcut of the browser", { key: "s", hasCommand: true }, undefined],
  ];
  for (const [name, press, shortcut] of rows)
    test(name, () => {
      assert.deepEqual(shortcutFor({ ...plain, ...press }), shortcut);
    });
});
