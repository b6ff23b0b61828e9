import assert from "node:assert/strict";
import { growthOf } from "@flotilla/shared/time/testing";
import { test } from "vitest";
import { objectPaths } from "./object-path.ts";

test("the paths of objects take time in proportion to their keys, however deep these are", () => {
  const growth = growthOf({ small: 500, large: 8_000 }, (depth) => {
    const objects = ["b", "c"].map((name) => ({
      ...{ key: `${"a/".repeat(depth)}${name}`, etag: "e", sizeBytes: 1 },
    }));
    assert.equal(objectPaths(objects).size, 2);
  });

  assert.ok(growth < 1.5, `it grows with the power of ${growth}`);
});
