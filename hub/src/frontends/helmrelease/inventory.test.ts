import assert from "node:assert/strict";
import type { BundleDeploymentStatus } from "@flotilla/shared/api";
import { describe, test } from "vitest";
import { aDeployment } from "../../testing/index.ts";
import { inventoryOf } from "./inventory.ts";

type Resources = NonNullable<BundleDeploymentStatus["resources"]>;

const config = { apiVersion: "v1", kind: "ConfigMap", namespace: "apps", name: "web" };
const counts = {
  ready: 0,
  notReady: 0,
  missing: 0,
  unknown: 0,
  modified: 0,
  orphaned: 0,
  waitApplied: 0,
};

const rows: readonly (readonly [
  what: string,
  resources: Resources | undefined,
  desiredReady: number,
  expected: readonly (readonly [id: string, v: string])[] | undefined,
])[] = [
  ["an object of the core group", [config], 1, [["apps_web__ConfigMap", "v1"]]],
  [
    "objects of other groups, sorted",
    [
      { apiVersion: "networking.k8s.io/v1", kind: "Ingress", namespace: "apps", name: "web" },
      {
        apiVersion: "apps/v1",
        kind: "Deployment",
        namespace: "apps",
        name: "web",
        state: "failed",
      },
    ],
    2,
    [
      ["apps_web_apps_Deployment", "v1"],
      ["apps_web_networking.k8s.io_Ingress", "v1"],
    ],
  ],
  [
    "an object without a namespace, and a colon in a name",
    [{ apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRole", name: "system:web" }],
    1,
    [["_system__web_rbac.authorization.k8s.io_ClusterRole", "v1"]],
  ],
  ["nothing of a list that is cut", [config], 2, undefined],
  ["nothing while no objects are listed", undefined, 0, undefined],
];

describe("the inventory of a HelmRelease has", () => {
  test.each(rows)("%s", (_, resources, desiredReady, expected) => {
    const status = {
      ...(resources !== undefined && { resources }),
      resourceCounts: { ...counts, desiredReady },
    };
    assert.deepEqual(
      inventoryOf(aDeployment("paris", { status })),
      expected && { entries: expected.map(([id, v]) => ({ id, v })) },
    );
  });
});
