import assert from "node:assert/strict";
import { test } from "vitest";
import { parseExact } from "../json/index.ts";
import { formatYaml } from "./format.ts";

test("has sorted keys, and numbers with all their digits", () => {
  const value = parseExact('{"b":[9007199254740993,1.5],"a":{"text":"1"}}');

  assert.equal(formatYaml(value), 'a:\n  text: "1"\nb:\n  - 9007199254740993\n  - 1.5\n');
});
