import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { offsetIn, withOffset } from "./kept-offset.ts";

describe("how far a region was scrolled", () => {
  test("is known of each region by its name, beside what others have in the state", () => {
    const state = withOffset(withOffset({ of: "others" }, "Apps", 300), "Clusters", 40);

    assert.deepEqual([offsetIn(state, "Apps"), offsetIn(state, "Clusters")], [300, 40]);
    assert.equal(state["of"], "others");
  });

  test("is 0 where it is not known", () => {
    for (const state of [null, undefined, "text", {}, { "scrolled Apps": "far" }])
      assert.equal(offsetIn(state, "Apps"), 0);
  });
});
