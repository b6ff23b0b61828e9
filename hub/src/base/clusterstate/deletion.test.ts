import assert from "node:assert/strict";
import type { Cluster } from "@flotilla/shared/api";
import { clusterFinalizer, clusterManagementLabel } from "@flotilla/shared/api/names";
import { describe, test } from "vitest";
import { aCluster } from "../../testing/index.ts";
import { mayWithdraw } from "./deletion.ts";

const deletionTimestamp = "2026-01-01T00:00:00Z";
const others = ["example.com/other"];
const ours = [...others, clusterFinalizer];

function paris(metadata: Partial<Cluster["metadata"]>, spec: Cluster["spec"] = {}): Cluster {
  return aCluster("paris", { metadata: { uid: "u", ...metadata }, spec });
}

describe("a deployment that is being deleted is uninstalled", () => {
  const cases: readonly (readonly [what: string, cluster: Cluster | undefined, is: boolean])[] = [
    ["of a Cluster that exists", paris({}), true],
    ["not of a Cluster that does not exist", undefined, false],
    [
      "not of a Cluster that another system manages",
      paris({ labels: { [clusterManagementLabel]: "CLI" } }),
      false,
    ],
    ["not of an earlier Cluster of that name", paris({ uid: "other" }), false],
    [
      "not of a Cluster that is being deleted and has only another finalizer",
      paris({ deletionTimestamp, finalizers: others }),
      false,
    ],
    [
      "of a Cluster with deletion policy Uninstall that is deleted",
      paris({ deletionTimestamp, finalizers: ours }, { deletionPolicy: "Uninstall" }),
      true,
    ],
    [
      "not of one whose deletion policy was changed to Retain",
      paris({ deletionTimestamp, finalizers: ours }, { deletionPolicy: "Retain" }),
      false,
    ],
    [
      "not of one with deletion policy Uninstall that no longer has our finalizer",
      paris({ deletionTimestamp, finalizers: others }, { deletionPolicy: "Uninstall" }),
      false,
    ],
  ];
  for (const [what, cluster, is] of cases)
    test(what, () => assert.equal(mayWithdraw(cluster, "u"), is));
});
