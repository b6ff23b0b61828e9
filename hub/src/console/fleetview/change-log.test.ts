import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { ChangeLog } from "./change-log.ts";

describe("the changes since a position", () => {
  test("have each entity once, in the order of the last changes", () => {
    const log = new ChangeLog();
    for (const entity of ["a", "b", "a", "c"]) log.changed(entity);

    assert.equal(log.position, 4);
    assert.deepEqual(log.since(0), ["b", "a", "c"]);
    assert.deepEqual(log.since(1), ["b", "a", "c"]);
    assert.deepEqual(log.since(3), ["c"]);
    assert.deepEqual(log.since(4), []);
  });

  test("are unknown for a position that is too old, or of the future", () => {
    const log = new ChangeLog(4);
    for (const entity of ["a", "b", "c", "d", "e"]) log.changed(entity);

    assert.equal(log.since(0), undefined);
    assert.equal(log.since(1), undefined);
    assert.deepEqual(log.since(2), ["c", "d", "e"]);
    assert.equal(log.since(6), undefined);
  });

  test("still have an entity that has changed again after the log was shortened", () => {
    const log = new ChangeLog(4);
    for (const entity of ["a", "b", "c", "d", "a", "e"]) log.changed(entity);

    assert.deepEqual(log.since(2), ["c", "d", "a", "e"]);
  });
});
