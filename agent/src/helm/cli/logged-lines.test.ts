import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { loggedText } from "./logged-lines.ts";

describe("what Helm has logged", () => {
  const rows: readonly (readonly [what: string, lines: readonly string[], expected: string])[] = [
    ["is empty without warnings", ['level=INFO msg="not shown"', "Error: no"], ""],
    [
      "is its last three warnings and errors, without levels and times",
      [
        'level=WARN msg="first"',
        'time=2026-01-01T00:00:00Z level=WARN msg="hook web/migrate failed"',
        'level=ERROR msg="third"',
        'level=WARN msg="fourth"',
      ],
      "hook web/migrate failed; third; fourth",
    ],
    [
      "has the other fields of a line after its message",
      ['level=ERROR msg="cannot update" error="field \\"x\\" is immutable" name=web kind=Service'],
      'cannot update: field "x" is immutable (name web, kind Service)',
    ],
    ["has a line once", ["level=WARN msg=again", "level=WARN msg=again"], "again"],
    ["does not repeat the error", ['level=ERROR msg="it broke"'], ""],
    [
      "does not repeat the error with other words before it, and the name of the release",
      ['level=WARN msg="upgrade failed" name=web error="it broke"'],
      "",
    ],
    ["keeps a line of another form", ["level=WARN something else"], "something else"],
    ["keeps a text that is not JSON", ['level=WARN msg="a \\x00 byte"'], "a \\x00 byte"],
  ];
  for (const [what, lines, expected] of rows)
    test(what, () => assert.equal(loggedText(lines.join("\n"), "it broke"), expected));
});
