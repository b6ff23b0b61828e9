import assert from "node:assert/strict";
import type { Cluster } from "@flotilla/shared/api";
import { describe, test } from "vitest";
import { aCluster, aDeployment } from "../../testing/index.ts";
import { cellOf, namespaceOfChangedCells } from "./cell-of.ts";

const online = clusterIn("a", { epoch: 1, connected: true });
const offline = clusterIn("a", { epoch: 1 });
const labelled: Cluster = { ...online, metadata: { ...online.metadata, labels: { a: "b" } } };

function clusterIn(
  namespace: string | undefined,
  agent: NonNullable<NonNullable<Cluster["status"]>["agent"]>,
): Cluster {
  return aCluster("paris", { status: { ...(namespace !== undefined && { namespace }), agent } });
}

describe("the cell of a release", () => {
  const { deploymentID } = aDeployment("paris").spec;
  const notReady = aDeployment("paris", {
    status: { appliedDeploymentID: deploymentID, version: "1.0.0" },
  });

  test("has its state and its version", () => {
    assert.deepEqual(cellOf(notReady, online), { state: "NotReady", version: "1.0.0" });
    assert.equal(cellOf(aDeployment("paris"), online)?.version, "");
  });

  test("is Offline with its cluster", () => {
    assert.equal(cellOf(notReady, offline)?.state, "Offline");
  });

  test("is none without its cluster", () => {
    assert.equal(cellOf(notReady, undefined), undefined);
  });
});

describe("the releases of a cluster have other cells", () => {
  const rows: readonly (readonly [
    when: string,
    before: Cluster | undefined,
    after: Cluster | undefined,
    expected: string | undefined,
  ])[] = [
    ["when it arrives, maybe after them", undefined, online, "a"],
    ["when it is deleted, maybe before them", online, undefined, "a"],
    ["when it goes offline", online, offline, "a"],
    ["when it is connected", offline, online, "a"],
    ["when it gets its namespace", clusterIn(undefined, { epoch: 1 }), offline, "a"],
    ["when it gets another namespace, those of that", clusterIn("b", { epoch: 1 }), offline, "a"],
    ["not when something else of it changes", online, labelled, undefined],
    ["not while it has no namespace", undefined, clusterIn(undefined, { epoch: 1 }), undefined],
  ];
  for (const [when, before, after, expected] of rows)
    test(when, () => assert.equal(namespaceOfChangedCells(before, after), expected));
});
