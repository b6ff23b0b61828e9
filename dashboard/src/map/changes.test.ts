import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { changedColumns, fingerprintsOf } from "./changes.ts";

/** `states`: a character for each cluster; `versionOf`: an index in `versions` plus one. */
const row = (states: string, versionOf: readonly number[], versions: readonly string[]) => ({
  states: Uint8Array.from(states, (each) => (each === "." ? 0 : each.charCodeAt(0))),
  versionOf: Uint16Array.from(versionOf),
  versions,
});
const before = [row("rrr", [1, 1, 1], ["1.0.0"]), row("r.r", [1, 0, 1], ["7"])];

describe("a tile", () => {
  const cases: readonly (readonly [string, readonly ReturnType<typeof row>[], number[]])[] = [
    ["has not changed when nothing has", before, []],
    [
      "has changed when a release has another version",
      [row("rrr", [1, 2, 1], ["1.0.0", "1.1.0"]), row("r.r", [1, 0, 1], ["7"])],
      [1],
    ],
    [
      "has changed when a release has another state",
      [row("rrr", [1, 1, 1], ["1.0.0"]), row("r.w", [1, 0, 1], ["7"])],
      [2],
    ],
    [
      "has not changed when versions are only listed in another order",
      [row("rrr", [2, 2, 2], ["1.1.0", "1.0.0"]), row("r.r", [1, 0, 1], ["7"])],
      [],
    ],
    [
      "has not changed when an app was added to other clusters alone",
      [...before, row("..r", [0, 0, 1], ["2.0.0"])],
      [2],
    ],
  ];
  for (const [name, after, changed] of cases)
    test(name, () => {
      assert.deepEqual(
        changedColumns(fingerprintsOf(before, 3), fingerprintsOf(after, 3)),
        changed,
      );
    });

  test("that is new is not a change", () => {
    assert.deepEqual(changedColumns(new Uint32Array(0), fingerprintsOf(before, 3)), []);
  });
});
