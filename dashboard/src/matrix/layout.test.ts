import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { cellAt, cellSize, layoutGroups, namedCells, stateOfCell } from "./layout.ts";

const columns = (count: number) => Array.from({ length: count }, (_, index) => index);

describe("the layout", () => {
  test("gives each cluster a cell as long as they fit", () => {
    const [group] = layoutGroups([{ value: "", name: "", columns: columns(10) }], 1_000);
    assert.deepEqual(
      group?.cells.map(({ width }) => width),
      columns(10).map(() => cellSize.max),
    );
  });

  test("has room for the names of clusters as long as each has a wide cell", () => {
    const named = (count: number) =>
      namedCells(layoutGroups([{ value: "", name: "", columns: columns(count) }], 1_000));
    assert.deepEqual(
      named(3).map(({ column, x }) => [column, x]),
      columns(3).map((column) => [column, column * cellSize.max]),
    );
    assert.equal(named(100).length, 0);
    assert.equal(named(5_000).length, 0);
  });

  test("puts several clusters into a cell when there are more than fit, and none is left out", () => {
    const groups = layoutGroups(
      [
        { value: "a", name: "a", columns: columns(4_000) },
        { value: "b", name: "b", columns: columns(1_000).map((column) => column + 4_000) },
      ],
      1_010,
    );
    const cells = groups.flatMap((group) => group.cells);
    assert.ok(cells.every(({ width }) => width >= cellSize.min));
    assert.deepEqual(
      cells.flatMap((cell) => cell.columns),
      columns(5_000),
    );
    const last = groups.at(-1);
    assert.ok(last !== undefined && last.x + last.width <= 1_010.001);
  });

  test("finds the cell at a position, and none between groups", () => {
    const groups = layoutGroups(
      [
        { value: "a", name: "a", columns: [0, 1] },
        { value: "b", name: "b", columns: [2] },
      ],
      500,
    );
    assert.deepEqual(cellAt(groups, 25)?.columns, [1]);
    assert.equal(cellAt(groups, 45), undefined);
    assert.deepEqual(cellAt(groups, 51)?.columns, [2]);
  });
});

describe("the state of a cell", () => {
  const cell = { columns: [0, 1, 2, 3], x: 0, width: 4 };
  test("is the one that needs attention most, with its share", () => {
    const states = ["Ready", "ErrApplied", "Ready", undefined] as const;
    assert.deepEqual(
      stateOfCell(cell, (column) => states[column]),
      {
        worst: "ErrApplied",
        share: 1 / 3,
      },
    );
  });
  test("is none without releases", () => {
    assert.deepEqual(
      stateOfCell(cell, () => undefined),
      { worst: undefined, share: 0 },
    );
  });
});
