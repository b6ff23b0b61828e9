import assert from "node:assert/strict";
import { test } from "vitest";
import { createInlineWindows, type InlineWindow } from "./inline-windows.ts";

const nights: InlineWindow = { cron: "0 0 22 * * ?", duration: "4h" };
const wrong: InlineWindow = { cron: "0 0 25 * * ?", duration: "4h" };

test("one window has a state whatever it denies, and none where it is invalid", () => {
  const inline = createInlineWindows();
  const at = Date.parse("2026-03-01T22:30:00Z");

  const open = { isOpen: true, changesAtMs: Date.parse("2026-03-02T02:00:00Z") };
  assert.deepEqual(inline.windowAt(nights, at), open);
  assert.deepEqual(inline.windowAt({ ...nights, deny: true }, at), open);
  assert.equal(inline.windowAt(wrong, at), undefined);
  assert.equal(inline.problemOf(wrong), "the hour 25 is not between 0 and 23");
  assert.equal(inline.problemOf(nights), undefined);
});
