import assert from "node:assert/strict";
import { test } from "vitest";
import { withEachMessageOnce } from "./condition-messages.ts";

const long = "install of release shop/web failed: the hook migrate did not succeed";
const messages = (own: readonly string[], above = "") =>
  withEachMessageOnce(
    own.map((message, n) => ({ type: `T${n}`, message })),
    above,
  ).map(({ message }) => message);

test("a long message is shown once, at the head of the page or at its first condition", () => {
  assert.deepEqual(messages([long, long, "other"]), [long, "the same as T0", "other"]);
  assert.deepEqual(messages([long, long], long), ["as above", "as above"]);
});

test("a short message is repeated", () => {
  assert.deepEqual(messages(["web: 0 of 2 ready", "web: 0 of 2 ready"]), [
    "web: 0 of 2 ready",
    "web: 0 of 2 ready",
  ]);
});

test("conditions without a message stay as they are", () => {
  assert.deepEqual(withEachMessageOnce([{ type: "Ready" }, { type: "Stalled" }], ""), [
    { type: "Ready" },
    { type: "Stalled" },
  ]);
});
