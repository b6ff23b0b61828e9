import assert from "node:assert/strict";
import { test } from "vitest";
import { versionName, versionNote } from "./version-words.ts";

const cases = [
  ["a version", { version: "1.2.0", notReady: 0, offline: 1 }, ["1.2.0", ""]],
  [
    "a version that is not up",
    { version: "1.2.0", notReady: 2, offline: 0 },
    ["1.2.0", "2 not ready"],
  ],
  ["nothing yet", { version: "", notReady: 3, offline: 0 }, ["not installed yet", ""]],
  ["what nobody knows", { version: "", notReady: 0, offline: 3 }, ["unknown", "3 offline"]],
  [
    "both of them",
    { version: "", notReady: 2, offline: 1 },
    ["not installed yet, or unknown", "1 offline"],
  ],
] as const;
test.each(cases)("a count of versions says %s", (_, counted, words) => {
  const count = { ...counted, count: 3 };
  assert.deepEqual([versionName(count), versionNote(count)], words);
});
