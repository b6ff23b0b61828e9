import assert from "node:assert/strict";
import { test } from "vitest";
import { objectsOf } from "./plan-words.ts";

test("a text is folded by object, and no line of a diff begins one", () => {
  const text = "# ConfigMap shop/a: update\n # a comment\n+# another\n# Job shop/b: delete\n";

  assert.deepEqual(objectsOf(text), [
    { title: "ConfigMap shop/a: update", lines: " # a comment\n+# another" },
    { title: "Job shop/b: delete", lines: "" },
  ]);
});

test("a text without a title is shown as it is, and no text has no objects", () => {
  assert.deepEqual(objectsOf("-a\n+b\n"), [{ title: "Changes", lines: "-a\n+b" }]);
  assert.deepEqual(objectsOf(""), []);
});
