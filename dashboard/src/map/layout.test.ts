import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { columnAt, layoutMap, pitches, tilesOf } from "./layout.ts";

const columns = (count: number, first = 0) =>
  Array.from({ length: count }, (_, index) => first + index);
const group = (value: string, count: number, first = 0) => ({
  value,
  name: value,
  columns: columns(count, first),
});

describe("the map of clusters", () => {
  test("has large tiles and no heads for a few clusters without groups", () => {
    const layout = layoutMap([group("", 3)], 1_000, 300);

    assert.equal(layout.pitch, pitches.max);
    assert.equal(layout.headHeight, 0);
    assert.deepEqual(
      [...tilesOf(layout)].map(({ x, y }) => [x, y]),
      [
        [0, 0],
        [pitches.max, 0],
        [2 * pitches.max, 0],
      ],
    );
  });

  test("fits 5,000 clusters in ten groups into its height", () => {
    const groups = columns(10).map((index) => group(`region-${index}`, 500, index * 500));
    const layout = layoutMap(groups, 1_200, 360);

    assert.ok(layout.height <= 360, `it is ${layout.height} px high`);
    const tiles = [...tilesOf(layout)];
    assert.equal(new Set(tiles.map(({ column }) => column)).size, 5_000);
    for (const { x, y } of tiles) {
      assert.ok(x >= 0 && x + layout.pitch <= 1_200);
      assert.ok(y >= 0 && y + layout.pitch <= layout.height);
    }
    const places = new Set(tiles.map(({ x, y }) => `${x} ${y}`));
    assert.equal(places.size, 5_000, "no tile covers another one");
  });

  test("grows beyond its height when the smallest tiles do not fit", () => {
    const layout = layoutMap([group("", 5_000)], 300, 100);

    assert.equal(layout.pitch, pitches.min);
    assert.ok(layout.height > 100);
  });

  test("finds the cluster at a position, and none beside the tiles", () => {
    const layout = layoutMap([group("a", 7), group("b", 3, 7)], 600, 300);
    const half = layout.pitch / 2;

    for (const { column, x, y } of tilesOf(layout))
      assert.equal(columnAt(layout, x + half, y + half), column);
    assert.equal(columnAt(layout, 599, 299), undefined);
    assert.equal(columnAt(layout, 5, 5), undefined, "on the head of a group");
  });

  test("is as narrow as a phone without tiles outside of it", () => {
    const groups = columns(30).map((index) => group(`site-${index}`, 3, index * 3));
    const layout = layoutMap(groups, 320, 300);

    for (const { x } of tilesOf(layout)) assert.ok(x + layout.pitch <= 320);
  });
});
