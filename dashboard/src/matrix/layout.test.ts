import assert from "node:assert/strict";
import type { FleetCluster } from "@flotilla/shared/dashboard";
import { describe, test } from "vitest";
import { groupClusters, groupingLabels, noLabel } from "./groups.ts";
import { cellAt, cellSize, layoutGroups, stateOfCell } from "./layout.ts";

const cluster = (name: string, labels: Readonly<Record<string, string>>): FleetCluster => ({
  ...{ namespace: "ns", name, state: "Ready", connected: true, labels, ready: 1, desired: 1 },
});
const clusters = [
  cluster("c", { env: "prod", id: "3" }),
  cluster("a", { env: "prod", id: "1" }),
  cluster("b", { env: "test", id: "2" }),
  cluster("d", { id: "4" }),
];
const fleet = {
  columns: clusters.map(({ name }) => `ns/${name}`),
  clusters: new Map(clusters.map((each) => [`ns/${each.name}`, each])),
};
const columns = (count: number) => Array.from({ length: count }, (_, index) => index);

describe("the groups of a label", () => {
  test("have their clusters by name, and those without the label come last", () => {
    assert.deepEqual(groupClusters(fleet, "env"), [
      { value: "prod", columns: [1, 0] },
      { value: "test", columns: [2] },
      { value: "", columns: [3] },
    ]);
    assert.deepEqual(groupClusters(fleet, noLabel), [{ value: "", columns: [1, 2, 0, 3] }]);
  });

  test("are offered for labels that several clusters share", () => {
    assert.deepEqual(groupingLabels(clusters), ["env"]);
  });
});

describe("the layout", () => {
  test("gives each cluster a cell as long as they fit", () => {
    const [group] = layoutGroups([{ value: "", columns: columns(10) }], 1_000);
    assert.deepEqual(
      group?.cells.map(({ width }) => width),
      columns(10).map(() => cellSize.max),
    );
  });

  test("puts several clusters into a cell when there are more than fit, and none is left out", () => {
    const groups = layoutGroups(
      [
        { value: "a", columns: columns(4_000) },
        { value: "b", columns: columns(1_000).map((column) => column + 4_000) },
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
        { value: "a", columns: [0, 1] },
        { value: "b", columns: [2] },
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
