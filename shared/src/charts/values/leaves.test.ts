import assert from "node:assert/strict";
import fc from "fast-check";
import { describe, test } from "vitest";
import { leavesOf } from "./leaves.ts";
import { setValue } from "./set-value.ts";

describe("the single values in values", () => {
  test("are those that are no maps, lists as a whole, and empty maps", () => {
    assert.deepEqual(
      leavesOf({ image: { tag: "1" }, list: [{ a: 1 }], none: {}, no: null }).map(
        ({ path, value }) => [path, value],
      ),
      [
        ["image.tag", "1"],
        ["list", [{ a: 1 }]],
        ["none", {}],
        ["no", null],
      ],
    );
  });

  test("have the paths of helm --set", () => {
    const keys = fc.array(fc.stringMatching(/^[a-z.,=[\]\\/~]{1,6}$/), {
      minLength: 1,
      maxLength: 4,
    });
    fc.assert(
      fc.property(keys, (path) => {
        const values = path.reduceRight<unknown>((inner, key) => ({ [key]: inner }), "x");
        const [leaf] = leavesOf(values as Record<string, unknown>);
        assert.deepEqual(setValue({}, leaf?.path ?? "", "x"), { kind: "set", values });
      }),
    );
  });
});
