import assert from "node:assert/strict";
import { test } from "vitest";
import { formatTable } from "./format-table.ts";

test("columns are as wide as their widest cell, and lines end without spaces", () => {
  assert.equal(
    formatTable(
      ["NAME", "READY"],
      [
        ["a-long-name", ""],
        ["b", "1/1"],
      ],
    ),
    "NAME          READY\na-long-name\nb             1/1\n",
  );
});

test("a table without rows is empty", () => {
  assert.equal(formatTable(["NAME"], []), "");
});
